"""The compressor on maps: cells chosen once on predicted training maps, and labelled on every test map."""

from functools import cache

import numpy as np
import pytest

from aacbench.contract.budget import Budget
from aacbench.contract.method import Unsupported
from aacbench.labels.blocks import block_labels, farthest_cells
from aacbench.maps.atlas import atlas
from aacbench.maps.load import load_maps
from aacbench.plugins.in_workers import MethodOf
from aacbench.plugins.settings import resolve
from aacbench.run.map_build import PAIRS, build_on_maps
from aacbench.run.predicted import Predictions
from aacbench.run.predictions import map_info
from aacbench.run.records import QueryPlan
from aacbench.search.networks import network

COUNTS = {"train": 20, "validation": 10, "calibration": 2, "test": 6}


@cache
def found():
    maps = load_maps("terrain-6", COUNTS)
    costs = {split: 1024 * part.costs for split, part in maps.splits.items()}
    return Predictions(costs, {"test": maps.splits["test"].costs}, 0.1)


def built(name, budget=16, seed=1, predictions=None, mode="uniform", **settings):
    method = MethodOf()(name)
    params = method.fit(Budget(budget), map_info("m", 6), resolve(method, {"epochs": 20, **settings}))
    if isinstance(params, Unsupported):
        return params
    used = predictions or found()
    net = network(atlas(used.costs["test"]))
    return build_on_maps(used, net, method, params, seed, QueryPlan(random=3, mode=mode))


def cells_of(heuristic):
    """The cells that were labelled: those at distance 0 on the first map."""
    return [int(np.flatnonzero(column == 0)[0]) for column in heuristic.arrays["rows"][:36].T]


@pytest.mark.parametrize("name", ["aac", "aac-tuned"])
def test_the_rows_are_the_labels_of_the_same_cells_on_every_map(name):
    heuristic = built(name)
    cells = cells_of(heuristic)
    assert len(cells) == 4
    rows = block_labels(network(atlas(found().costs["test"])), 36, np.array(cells))
    assert np.array_equal(heuristic.arrays["rows"], rows)
    assert np.array_equal(rows, built(name).arrays["rows"])  # the same seed, the same cells


def test_the_tuned_one_repeats_no_cell_and_is_no_worse_than_the_farthest_cells():
    for seed in range(3):
        heuristic = built("aac-tuned", budget=24, seed=seed)
        assert len(set(cells_of(heuristic))) == 6
        assert heuristic.facts["expanded"] <= heuristic.facts["expanded_by_fps"]


def test_training_prefers_the_hotspots_of_the_queries():
    """Where most queries end in a few cells, the same on every map, the best landmarks are not the corners."""
    uniform, hot = built("aac-tuned", budget=8), built("aac-tuned", budget=8, mode="hotspot")
    assert cells_of(uniform) != cells_of(hot)
    assert hot.facts["expanded"] < hot.facts["expanded_by_fps"]


def test_the_published_one_may_repeat_a_cell_and_uses_its_pool():
    heuristic = built("aac", K0=5, init="identity", epochs=0)
    assert cells_of(heuristic) == farthest_cells(6, 5)[:4].tolist()
    assert heuristic.facts["rows_moved"] == 0


def test_the_best_of_several_checkpoints_is_chosen_on_validation_maps():
    heuristic = built("aac", epochs=30, lr=0.5, checkpoints="1+10+30")
    assert heuristic.facts["epoch"] in (1, 10, 30)


def test_pairs_are_drawn_on_one_map(monkeypatch):
    from aacbench.plugins.methods.aac import training

    seen = []
    plain = training.batch_differences

    def watched(pool, sources, targets, matrices):
        seen.append((sources, targets))
        return plain(pool, sources, targets, matrices)

    monkeypatch.setattr(training, "batch_differences", watched)
    built("aac", epochs=3)
    assert len(seen) == 3
    for sources, targets in seen:
        assert (sources // 36 == targets // 36).all()
        assert len(set((sources // 36).tolist())) > 5


def test_the_whole_pool_needs_no_training():
    heuristic = built("aac-tuned", budget=20, K0=5)
    assert cells_of(heuristic) == farthest_cells(6, 5).tolist()


def test_what_cannot_be_chosen_is_unsupported():
    assert "8 labels cannot be chosen from 5 cells" in built("aac", budget=32, K0=5).reason
    assert "40 labels cannot be chosen from 36 cells" in built("aac-tuned", budget=160).reason
    assert "37 labels cannot be chosen from 36" in built("aac-tuned", budget=160, m=37).reason
    assert "On maps the pool is one of fps" in built("aac", pool="degree").reason
    none = Predictions({**found().costs, "train": np.empty((0, 6, 6), int)}, found().truth, 0.1)
    for name in ("aac", "aac-tuned"):
        assert "predicts no training maps" in built(name, predictions=none).reason


def test_queries_to_learn_from_are_none_of_the_test_queries(monkeypatch):
    from dataclasses import replace

    seen = []
    method = replace(MethodOf()("cells"), build_maps=lambda context: seen.append(context) or Unsupported("looked"))
    net = network(atlas(found().costs["test"]))
    build_on_maps(found(), net, method, {}, 0, QueryPlan(random=3))
    (context,) = seen
    assert len(context.train_queries) == 20 * PAIRS
    assert len(context.validation_queries) == 10 * PAIRS

    def pairs(queries):
        return list(zip((queries.sources % 36).tolist(), (queries.targets % 36).tolist(), strict=True))

    from aacbench.queries.in_maps import random_queries

    tests = random_queries(net.graph, 3)
    stream = random_queries(context.train.network.graph, 3 + 3 * PAIRS)
    drawn = pairs(tests) + pairs(context.train_queries) + pairs(context.validation_queries)
    assert drawn[: len(stream)] == pairs(stream)[: len(drawn)]  # one draw, and nothing of it used twice


@pytest.mark.parametrize("name", ["aac", "aac-tuned"])
@pytest.mark.parametrize("labels", ["for16", "u16"])
def test_labels_in_a_narrow_store_are_unsupported(name, labels):
    assert built(name, labels=labels) == Unsupported(f"Labels on maps are stored exactly; leave out labels={labels}")
