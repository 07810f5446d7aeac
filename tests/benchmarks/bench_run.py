"""What the harness costs: a whole run against the building and searching in it, and two workers against one."""

import shutil
from functools import partial

import numpy as np
import pytest
from benchmarks.road import road_name

from aacbench.cli.running import _sources, method_in_worker
from aacbench.graphs.load import load
from aacbench.memory.deploy import deploy
from aacbench.method import BuildContext
from aacbench.plugins.manager import load_plugins
from aacbench.plugins.settings import resolve
from aacbench.protocols.choices import override
from aacbench.protocols.reader import read_protocol
from aacbench.queries.splits import sample_splits
from aacbench.run.driver import Setup, run_study
from aacbench.run.pools import StoredPools
from aacbench.run.rows import read_queries
from aacbench.run.store import read_cell
from aacbench.search import network, search


@pytest.fixture
def fresh(tmp_path):
    """A folder that is empty each time it is asked for."""

    def make(name):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
        return tmp_path / name

    return make


def _study(methods):
    return override(read_protocol("valsplit"), graphs=road_name(), methods=methods)


def _run(study, root, workers):
    """Expansions of every cell, in the order of the plan."""
    setup = Setup(
        root=root,
        sources=_sources(load_plugins(), study),
        resolve=resolve,
        method_of=partial(method_in_worker, ()),
        workers=workers,
    )
    cells = run_study(study, setup)
    return cells, [read_queries(read_cell(root, name).files["queries.csv"])["expanded"] for _, name in cells]


def _by_hand(study, plans, folder):
    """The same heuristics built and searched in a plain loop, with nothing checked and nothing kept but the pools."""
    net = network(load(study.graphs[0]))
    queries = study.queries
    splits = sample_splits(net.graph, queries.validation, queries.test, queries.train, seed=queries.seed)
    found = []
    for plan in plans:
        context = BuildContext(
            network=net,
            params=plan.params,
            seed=plan.seed,
            train=splits.train,
            validation=splits.validation,
            pools=StoredPools(net, folder),
        )
        layout = deploy(method_in_worker((), plan.method).build(context), net).searched
        parts = (getattr(splits, name) for name in plan.splits)
        found.append(
            np.concatenate([search(net, layout, part.sources, part.targets, plan.policy).expanded for part in parts])
        )
    return found


def test_overhead_of_a_run(compare, fresh):
    study = _study("alt")
    plans = [cell for cell, _ in _run(study, fresh("plan"), 1)[0]]
    (_, ours), theirs = compare(
        "valsplit, alt: aacbench run, one worker / build and search alone",
        lambda: _run(study, fresh("run"), 1),
        lambda: _by_hand(study, plans, fresh("hand")),
        per=(len(plans), "cell"),
        rounds=2,
        at_most=1.10,
    )
    assert all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))


def test_two_workers_against_one(compare, fresh):
    study = _study("random-subset")
    (_, ours), (_, theirs) = compare(
        "valsplit, random-subset: two workers / one",
        lambda: _run(study, fresh("two"), 2),
        lambda: _run(study, fresh("one"), 1),
        per=(16, "cell"),
        rounds=2,
        at_most=0.56,
    )
    assert all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))
