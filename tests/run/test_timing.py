"""Timing goes in turns, leaves counts alone, and refuses to time what is not what was counted."""

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
import small_studies as studies
from cli.command import JUDGED, run_study

from aacbench.bundle import store
from aacbench.bundle.deploy import deploy
from aacbench.contract.method import LabelHeuristic
from aacbench.errors import DataError
from aacbench.plugins.in_workers import MethodOf
from aacbench.processes.pool import Limits
from aacbench.run.rebuild import restored, stored_job
from aacbench.run.rows import read_queries, read_timings, write_queries
from aacbench.run.store import commit, read_cell, scan
from aacbench.run.timing import BLOCK, CONTROL, TIMINGS, interleave, time_study

QUERIES = 2 * BLOCK + 3


class Clockless:
    """A runner that takes no time at all."""

    def __init__(self):
        self.rows = []

    def search_each(self, block, record):
        for query in range(block.start, block.stop):
            record(query, 1)


def executed(seed, repetitions=3):
    """(runner, repetition, query) in the order of execution."""
    runners = [Clockless() for _ in range(3)]
    interleave(runners, QUERIES, repetitions, seed)
    rows = [(order, name, rep, query) for name, runner in enumerate(runners) for query, rep, order, _ in runner.rows]
    rows.sort()
    assert [row[0] for row in rows] == list(range(3 * repetitions * QUERIES))
    return [row[1:] for row in rows]


def test_every_runner_searches_every_query_once_a_repetition():
    assert sorted(executed(1)) == [
        (name, rep, query) for name in range(3) for rep in range(3) for query in range(QUERIES)
    ]


def test_all_runners_finish_a_block_before_the_next_begins():
    places = [(rep, query // BLOCK) for _, rep, query in executed(1)]
    assert places == sorted(places)


def test_turns_are_shuffled_by_the_seed():
    turns = [name for name, _, query in executed(1) if query % BLOCK == 0]
    orders = {tuple(turns[i : i + 3]) for i in range(0, len(turns), 3)}
    assert len(orders) > 1
    assert executed(1) == executed(1) != executed(2)


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    root = tmp_path_factory.mktemp("timing") / "study"
    assert run_study(root, "alt,random-subset,plain") == 0
    return root


@pytest.fixture
def study(counted, tmp_path):
    """A copy of a counted study, its cells by name, and a way to time them."""
    root = tmp_path / "study"
    shutil.copytree(counted, root)
    told = []
    names = [name for name, _ in scan(root)]
    config = studies.config(root, plugins=(JUDGED,), notify=lambda event, facts: told.append((event, facts)))

    def timed(repetitions, again=False, **changes):
        return time_study(replace(config, **changes), names, repetitions=repetitions, again=again)

    return SimpleNamespace(root=root, names=names, timed=timed, told=told, config=config)


def cell_of(study, method, seed=1):
    cells = (read_cell(study.root, name) for name in study.names)
    return next(cell for cell in cells if cell.key["method"] == method and cell.key["seed"] == seed)


def test_only_times_are_added(study):
    before = {name: read_cell(study.root, name) for name in study.names}
    done = study.timed(repetitions=2)
    assert len(done) == 4  # dijkstra, alt, and random-subset with two seeds
    for name in study.names:
        after = read_cell(study.root, name)
        assert after.files["queries.csv"] == before[name].files["queries.csv"]
        assert {**after.record, "files": 0} == {**before[name].record, "files": 0}
        assert (TIMINGS in after.files) == (name in done)


def test_the_control_is_of_the_first_method_that_is_not_dijkstra(study):
    study.timed(repetitions=2)
    held = [name for name in study.names if CONTROL in read_cell(study.root, name).files]
    methods = {name: read_cell(study.root, name).key["method"] for name in study.names}
    assert held == [name for name in study.names if methods[name] in ("alt", "random-subset")][:1]


def test_the_scalar_tier_is_not_timed_and_this_is_said(study):
    study.timed(repetitions=1)
    ((_, facts),) = [entry for entry in study.told if entry[0] == "untimed"]
    assert facts["cell"] == cell_of(study, "plain").cell_id
    assert "scalar tier" in facts["reason"]


def test_what_is_timed_is_left_unless_more_or_all_again_is_wanted(study):
    assert study.timed(repetitions=2)
    assert study.timed(repetitions=2) == []
    assert study.timed(repetitions=1) == []
    assert len(study.timed(repetitions=3)) == 4
    assert len(study.timed(repetitions=3, again=True)) == 4
    rows = read_timings(cell_of(study, "alt").files[TIMINGS])
    assert len(rows["query"]) == 3 * 5


def test_a_method_that_expands_something_else_now_is_not_timed(study):
    cell = cell_of(study, "alt")
    columns = dict(read_queries(cell.files["queries.csv"]))
    columns["expanded"] = columns["expanded"] + 1
    commit(study.root, cell.cell_id, cell.record, {"queries.csv": write_queries(columns)}, replace=True)
    assert cell.cell_id not in study.timed(repetitions=1)
    assert any("expands other vertices" in facts["reason"] for event, facts in study.told if event == "untimed")


def hang(context):
    time.sleep(600)


def leave(context):
    os._exit(6)


def change(context):
    rows = np.zeros((context.graph.vertices, 1), dtype=np.int32)
    return LabelHeuristic({"rows": rows}, "differential")


@dataclass(frozen=True)
class WithBuild:
    """Finds methods in workers, but gives one of them another build."""

    method_of: MethodOf
    name: str
    build: Callable

    def __call__(self, asked):
        method = self.method_of(asked)
        return replace(method, build=self.build) if asked == self.name else method


def pruned(study):
    shutil.rmtree(study.root / "artifacts" / "bundles")


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (hang, "It took longer than 5 seconds"),
        (leave, "The worker process died (exit code 6)"),
        (change, "the array 'rows' is different"),
    ],
)
def test_what_cannot_be_built_again_is_not_timed_and_the_others_are(study, build, reason):
    pruned(study)
    method_of = WithBuild(study.config.method_of, "alt", build)
    done = study.timed(method_of=method_of, limits=Limits(seconds=5), repetitions=1)
    alt = cell_of(study, "alt").cell_id
    reasons = {facts["cell"]: facts["reason"] for event, facts in study.told if event == "untimed"}
    assert reasons[alt] == f"Its bundle is gone and cannot be built again: {reason}"
    assert len(done) == 3
    assert alt not in done
    assert sum(CONTROL in cell_of(study, "random-subset", seed).files for seed in (1, 2)) == 1


def test_a_bundle_is_used_where_it_is_there_and_built_again_where_it_is_not(study):
    cell = cell_of(study, "random-subset", 2)
    before = restored(study.config, cell)
    pruned(study)
    again = restored(study.config, cell)
    assert (again.digest, again.content) == (before.digest, before.content)
    deployed = deploy(store.load(again), stored_job(study.config, cell).loaded().net)
    rows = read_queries(cell.files["queries.csv"])
    h = [deployed.many([s], t)[0] for s, t in zip(rows["source"], rows["target"], strict=True)]
    assert np.array_equal(h, rows["h_source"])


@pytest.mark.parametrize("change", ["graph_digest", "query_digests"])
def test_another_graph_or_other_queries_are_refused(study, change):
    cell = cell_of(study, "alt")
    key = {**cell.key, change: {"test": "other"} if change == "query_digests" else "other"}
    with pytest.raises(DataError, match="not those that this run was planned on"):
        stored_job(study.config, replace(cell, record={**cell.record, "key": key})).loaded()
