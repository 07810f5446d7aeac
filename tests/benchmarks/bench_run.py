"""What the harness costs: a cell and a run against the building and searching in them, and two workers against one."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aacbench.bundle.deploy import deploy
from aacbench.library.running import config_of
from aacbench.plugins.manager import load_plugins
from aacbench.protocols.choices import override
from aacbench.protocols.reader import read_protocol
from aacbench.run.driver import prepare, run_study
from aacbench.run.loaded_graph import build_context, forget, loaded_graph
from aacbench.run.measure import run_cell
from aacbench.run.records import BASELINE
from aacbench.run.rows import read_queries
from aacbench.run.run_config import named
from aacbench.run.shared import Pools
from aacbench.run.store import read_cell
from aacbench.search import search

PLUGIN = Path(__file__).parent / "plugin_alt.py"


@pytest.fixture
def fresh(tmp_path):
    """A folder that is empty each time it is asked for."""

    def make(name):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
        return tmp_path / name

    return make


@pytest.fixture
def valsplit(road):
    """The study of some methods, or of all."""

    def of(methods=None):
        return override(read_protocol("valsplit"), graphs=road.name, methods=methods)

    return of


def _run(study, root, workers, *plugins):
    """Expansions of every cell, in the order of the plan."""
    cells = run_study(study, config_of(root, load_plugins(plugins), workers=workers))
    return cells, [read_queries(read_cell(root, name).files["queries.csv"])["expanded"] for _, name in cells]


class _ByHand:
    """The same heuristics built and searched, with nothing checked and nothing kept but the pools."""

    def __init__(self, study, folder):
        self._here, self._folder = loaded_graph(study.graphs[0], study.queries), folder
        self._plugins = load_plugins()

    def expanded(self, plan):
        here, method = self._here, self._plugins.method(plan.method).method
        pools = Pools(here.net, self._folder)
        heuristic = method.build(build_context(here, method, plan.params, plan.seed, pools))
        layout = deploy(heuristic, here.net).searched
        parts = (here.part(name) for name in plan.splits)
        answers = [search(here.net, layout, part.sources, part.targets, plan.policy).expanded for part in parts]
        return np.concatenate(answers)


def test_a_cell_against_its_build_and_search(compare_each, valsplit, tmp_path):
    """Both sides of each cell one after the other: over a whole run the speed of a shared machine drifts too much."""
    study = replace(valsplit(), seeds=(42, 123))
    config = config_of(tmp_path / "run", load_plugins())
    planned, graphs = prepare(study, config)
    # Dijkstra's answers and the pools are computed once for all cells, by both sides, in the round that warms up.
    cells = named(study, config, graphs, (cell for cell in planned.cells if cell.method != BASELINE))
    by_hand = _ByHand(study, tmp_path / "hand")

    def ours(cell):
        plan, name = cell
        digests = {"graph": graphs[plan.graph].graph_digest, **graphs[plan.graph].query_digests}
        job = config.job(name, plan, study.queries, study.search, digests)
        shutil.rmtree(job.bundles, ignore_errors=True)  # so that the bundle is written in each round
        return read_queries(run_cell(job).files["queries.csv"])["expanded"]

    compare_each(
        "valsplit, all its methods: a cell built and measured / built and searched alone",
        cells,
        ours,
        lambda cell: by_hand.expanded(cell[0]),
        at_most=1.10,
    )


def test_overhead_of_a_run_of_few_cells(compare, valsplit, fresh):
    study = valsplit("alt")
    plans = []

    def run():
        cells, rows = _run(study, fresh("run"), 1)
        plans[:] = [cell for cell, _ in cells]
        return rows

    def alone():
        forget()  # a run's workers load the graph, too
        by_hand = _ByHand(study, fresh("hand"))
        return [by_hand.expanded(plan) for plan in plans]

    ours, theirs = compare(
        "valsplit, alt: aacbench run, one worker / build and search alone", run, alone, per=(1, "run"), rounds=3
    )
    assert all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))


def test_two_workers_against_one(compare, valsplit, fresh):
    study = valsplit("random-subset")
    (_, ours), (_, theirs) = compare(
        "valsplit, random-subset: two workers / one",
        lambda: _run(study, fresh("two"), 2),
        lambda: _run(study, fresh("one"), 1),
        per=(16, "cell"),
        rounds=2,
        at_most=0.56,
    )
    assert all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))


def test_a_plugin_against_the_same_method_built_in(compare, valsplit, fresh):
    (_, ours), (_, theirs) = compare(
        "valsplit, random-subset: as a plugin / built in, one worker",
        lambda: _run(valsplit("plugin-random-subset"), fresh("plugin"), 1, PLUGIN),
        lambda: _run(valsplit("random-subset"), fresh("own"), 1),
        per=(16, "cell"),
        rounds=3,
        at_most=1.15,
    )
    assert all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))
