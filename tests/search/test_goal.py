"""The goal search: nearest vertices first, both directions, counted, cached, and equal in plain Python."""

import itertools
import json
import subprocess
import sys
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import goal_kernel
import numpy as np
import pytest
from bundled import is_the_same_from_its_bundle
from hypothesis import given
from hypothesis import strategies as st
from support import EVERY_POLICY, all_pairs, example_count, graphs_to_compile_for, random_bound, true_distances

from aacbench.bundle.deploy import MEMO_LIMIT, deploy
from aacbench.bundle.inventory import inventory
from aacbench.contract.method import GoalSearch, LabelHeuristic
from aacbench.errors import UsageError
from aacbench.graphs import from_arcs
from aacbench.graphs.load import load
from aacbench.search import network, search
from aacbench.search.author import author_layout
from aacbench.search.bounds import bounds
from aacbench.search.networks import borrow, give_back
from aacbench.search.python_tier import GoalBound

GOAL = GoalSearch(goal_kernel.start, goal_kernel.visit, 3 + 2 * 4)
Labels = namedtuple("Labels", ["table", "look"])


def labels_for(graph, seed, look=None):
    rng = np.random.default_rng(seed)
    return Labels(random_bound(graph, seed), rng.integers(1, 5, graph.vertices) if look is None else look)


def both_tiers(graph, labels, kernel=goal_kernel.bound, goal=GOAL):
    net = network(graph)
    return net, author_layout(net, labels._asdict(), kernel, goal), GoalBound(graph, labels, kernel, goal)


@given(
    graphs_to_compile_for(),
    st.sampled_from(EVERY_POLICY),
    st.integers(0, 2**32),
    st.sampled_from(["both", "to", "from"]),
)
@example_count(200)
def test_tiers_count_the_same(graph, policy, seed, distances):
    labels = labels_for(graph, seed)
    net, layout, plain = both_tiers(graph, labels, goal=replace(GOAL, distances=distances))
    sources, targets = all_pairs(graph)
    compiled = search(net, layout, sources, targets, policy).columns()
    slow = search(net, plain, sources, targets, policy).columns()
    for name, column in compiled.items():
        assert column.tolist() == slow[name].tolist(), name


@given(graphs_to_compile_for(), st.integers(0, 2**32))
@example_count(100)
def test_what_is_seen_is_nearest_and_exact_and_counted(graph, seed):
    """Against scipy's distances: how many vertices are settled, and the resulting bound."""
    labels = labels_for(graph, seed)
    net, layout, _ = both_tiers(graph, labels)
    exact = true_distances(graph)
    _, counting, _ = both_tiers(graph, labels, goal_kernel.count)
    for t in range(graph.vertices):
        near, look = np.sort(exact[:, t][exact[:, t] >= 0]), labels.look[t]
        h = bounds(net, layout, np.arange(graph.vertices), t)
        sharp = np.flatnonzero(h != labels.table[:, t])
        assert h[sharp] == pytest.approx(exact[sharp, t])
        assert (exact[sharp, t] <= near[: min(look, len(near))].max()).all()
        away = 0 if graph.symmetric else min(look, int((exact[t] >= 0).sum()))
        towards = min(look, len(near))
        assert bounds(net, counting, np.arange(1), t)[0] == towards + 1000 * away


@given(graphs_to_compile_for(), st.integers(0, 2**32))
@example_count(60)
def test_settled_vertices_are_expansions_below_the_optimum(graph, seed):
    labels = labels_for(graph, seed, look=np.full(graph.vertices, 4))._replace(
        table=np.zeros((graph.vertices, graph.vertices), dtype=graph.weights.dtype)
    )
    net, layout, _ = both_tiers(graph, labels, goal_kernel.bound)
    sources, targets = all_pairs(graph)
    there = sources != targets
    found = search(net, layout, sources, targets)
    exact = true_distances(graph)
    settled = np.minimum(4, (exact >= 0).sum(axis=0))
    if not graph.symmetric:
        settled = settled + np.minimum(4, (exact >= 0).sum(axis=1))
    assert (found.expanded[there] > settled[targets[there]]).all()
    assert (found.below_optimum[there] >= settled[targets[there]]).all()
    assert found.cost == pytest.approx(exact[sources, targets])
    assert (found.expanded[~there] == 0).all()


def test_nothing_survives_a_query():
    """Queries one at a time and in one batch, in any order, are the same."""
    graph = load("road-500")
    labels = Labels(np.zeros((500, 500), dtype=np.int64), np.arange(500) % 5 + 1)
    net, layout, _ = both_tiers(graph, labels)
    targets = np.random.default_rng(1).integers(0, 500, 40)
    sources = targets[::-1].copy()
    batch = search(net, layout, sources, targets).expanded
    alone = [search(net, layout, [s], [t]).expanded[0] for s, t in zip(sources, targets, strict=True)]
    assert batch.tolist() == alone
    assert search(net, layout, sources, targets, threads=2).expanded.tolist() == alone


def test_work_does_not_grow_with_the_graph():
    """Only the records of vertices near the goal are touched."""
    net = network(load("grid-64"))
    labels = Labels(np.zeros((64 * 64, 1), dtype=np.int64), np.full(64 * 64, 4))
    layout = author_layout(net, labels._asdict(), goal_kernel.count, GOAL)
    work = borrow(net)
    work.state["stamp"] = 0
    work.heap["vertex"] = 2**32 - 1
    give_back(net, work)
    bounds(net, layout, np.zeros(1, dtype=np.int64), 2000)
    assert net.idle[-1] is work
    assert 4 <= (work.state["stamp"] != 0).sum() <= 4 * 5
    assert (work.heap["vertex"] != 2**32 - 1).sum() <= 4 * 4


def test_a_goal_may_be_looked_at_without_a_search():
    graph = from_arcs(3, [0, 1], [1, 2], [4, 4])
    labels = Labels(np.zeros((3, 3), dtype=np.int64), np.array([0, 1, 3]))
    net, layout, plain = both_tiers(graph, labels, goal_kernel.stored, GoalSearch(goal_kernel.label_at_goal, memo=1))
    found = search(net, plain, [0, 0], [2, 1])
    assert (found.h_source.tolist(), found.expanded.tolist()) == ([3, 1], [3, 2])
    assert [bounds(net, layout, [0], t).tolist() for t in (2, 1)] == [[3], [1]]


SCRIPT = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import goal_kernel
from aacbench.graphs import from_arcs
from aacbench.contract.method import GoalSearch
from aacbench.search import astar, network, search
from aacbench.search.author import author_layout
net = network(from_arcs(3, [0, 1], [1, 2], [1, 1]))
arrays = {"table": np.zeros((3, 3), dtype=np.int64), "look": np.ones(3, dtype=np.int64)}
goal = GoalSearch(goal_kernel.start, goal_kernel.visit, int(sys.argv[2]))
answers = search(net, author_layout(net, arrays, goal_kernel.bound, goal), [0], [2])
stats = astar.search_all.stats
print(json.dumps([int(answers.cost[0]), sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]))
"""


def test_another_process_finds_the_machine_code():
    net = network(from_arcs(3, [0, 1], [1, 2], [1, 1]))
    arrays = {"table": np.zeros((3, 3), dtype=np.int64), "look": np.ones(3, dtype=np.int64)}
    search(net, author_layout(net, arrays, goal_kernel.bound, GOAL), [0], [2])
    command = [sys.executable, "-c", SCRIPT, str(Path(goal_kernel.__file__).parent), "7"]  # another memo
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [2, 1, 0]


def test_functions_in_other_roles_are_other_layouts():
    net = network(from_arcs(2, [0], [1], [1]))
    arrays = {"table": np.zeros((2, 2), dtype=np.int64), "look": np.ones(2, dtype=np.int64)}
    goals = [GOAL, replace(GOAL, visit=None), replace(GOAL, start=goal_kernel.label_at_goal)]
    kernels = (goal_kernel.bound, goal_kernel.count)
    made = [type(author_layout(net, arrays, *each).labels) for each in itertools.product(kernels, goals)]
    assert len(set(made)) == 6


def heuristic(graph, **changes):
    labels = labels_for(graph, 3)
    return LabelHeuristic(labels._asdict(), goal_kernel.bound, goal=replace(GOAL, **changes))


@pytest.mark.parametrize(("name", "changes"), [("road-120", {}), ("grid-8", {}), ("grid-8", {"visit": None})])
def test_it_comes_back_from_its_bundle(tmp_path, name, changes):
    graph = load(name)
    assert is_the_same_from_its_bundle(tmp_path, heuristic(graph, **changes), network(graph))


def test_scratch_is_shown_and_not_charged():
    graph = load("p7")
    counted = inventory(heuristic(graph), graph.vertices)
    assert counted.record()["scratch"] == 8 * GOAL.memo
    assert counted.total_bytes == sum(array.nbytes for array in counted.arrays)


def unjitted(labels, memo, t):
    """A function that was not compiled."""


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"memo": MEMO_LIMIT + 1}, "0 to 4096"),
        ({"memo": -1}, "0 to 4096"),
        ({"memo": 2.5}, "0 to 4096"),
        ({"distances": "away"}, "both, to, from"),
        ({"start": unjitted}, "@njit"),
        ({"start": None}, "needs a function start"),
    ],
)
def test_what_cannot_be_a_goal_search_is_refused(changes, reason):
    graph = load("p7")
    with pytest.raises(UsageError, match=reason):
        deploy(heuristic(graph, **changes), network(graph))


def test_a_built_in_kernel_takes_no_goal_search():
    graph = load("p7")
    rows = np.zeros((graph.vertices, 1), dtype=np.int32)
    with pytest.raises(UsageError, match="kernel of your own"):
        deploy(LabelHeuristic({"rows": rows}, "differential", goal=GOAL), network(graph))
