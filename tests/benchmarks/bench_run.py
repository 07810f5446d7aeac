"""What the harness costs: a whole run against the building and searching in it, and two workers against one."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from benchmarks.road import road_name

from aacbench.bundle.deploy import deploy
from aacbench.cli.running import config_of
from aacbench.plugins.manager import load_plugins
from aacbench.protocols.choices import override
from aacbench.protocols.reader import read_protocol
from aacbench.run.driver import run_study
from aacbench.run.loaded_graph import build_context, forget, loaded_graph
from aacbench.run.rows import read_queries
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


def _study(methods=None):
    return override(read_protocol("valsplit"), graphs=road_name(), methods=methods)


def _run(study, root, workers, *plugins):
    """Expansions of every cell, in the order of the plan."""
    cells = run_study(study, config_of(root, load_plugins(plugins), workers=workers))
    return cells, [read_queries(read_cell(root, name).files["queries.csv"])["expanded"] for _, name in cells]


def _by_hand(study, plans, folder):
    """The same heuristics built and searched in a plain loop, with nothing checked and nothing kept but the pools."""
    forget()  # a run's workers load the graph, too
    here, plugins = loaded_graph(study.graphs[0], study.queries), load_plugins()
    found = []
    for plan in plans:
        method = plugins.method(plan.method).method
        heuristic = method.build(build_context(here, method, plan.params, plan.seed, Pools(here.net, folder)))
        layout = deploy(heuristic, here.net).searched
        parts = (here.part(name) for name in plan.splits)
        answers = [search(here.net, layout, part.sources, part.targets, plan.policy).expanded for part in parts]
        found.append(np.concatenate(answers))
    return found


@pytest.mark.parametrize(("methods", "rounds", "wanted"), [(None, 1, 1.10), ("alt", 3, None)], ids=["whole", "alt"])
def test_overhead_of_a_run(compare, fresh, methods, rounds, wanted):
    study = _study(methods)
    plans = []

    def run():
        cells, rows = _run(study, fresh("run"), 1)
        plans[:] = [cell for cell, _ in cells]
        return rows

    ours, theirs = compare(
        f"valsplit, {methods or 'all its methods'}: aacbench run, one worker / build and search alone",
        run,
        lambda: _by_hand(study, plans, fresh("hand")),
        per=(1, "run"),
        rounds=rounds,
        at_most=wanted,
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


def test_a_plugin_against_the_same_method_built_in(compare, fresh):
    (_, ours), (_, theirs) = compare(
        "valsplit, random-subset: as a plugin / built in, one worker",
        lambda: _run(_study("plugin-random-subset"), fresh("plugin"), 1, PLUGIN),
        lambda: _run(_study("random-subset"), fresh("own"), 1),
        per=(16, "cell"),
        rounds=3,
        at_most=1.15,
    )
    assert all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))
