"""Scratch of a query: nothing is left of the query before, both tiers agree, and its work is counted."""

import math
from contextlib import nullcontext
from dataclasses import replace

import numba
import numpy as np
import pytest
import scratch_kernel
from hypothesis import given
from hypothesis import strategies as st
from scratch_kernel import GOAL, SCRATCH
from support import EVERY_POLICY, all_pairs, example_count, graphs_to_compile_for, random_bound

from aacbench.bundle import store
from aacbench.bundle.arrays import SCRATCH_LIMIT
from aacbench.bundle.deploy import deploy
from aacbench.bundle.evidence import check_alone
from aacbench.bundle.inventory import inventory
from aacbench.contract.method import GoalSearch, LabelHeuristic, MaxHeuristic, Scratch
from aacbench.errors import DisagreementError, UsageError
from aacbench.graphs.load import load
from aacbench.plugins.kernels import add_work
from aacbench.search import network, search
from aacbench.search.author import _class, author_layout, scratch_class
from aacbench.search.bounds import bounds
from aacbench.search.python_tier import GoalBound
from aacbench.search.scratch import INFINITY, QUERIES, get, is_set, new_memo, put


def heuristic(graph, seed=0, **changes):
    arrays = {
        "table": random_bound(graph, seed),
        "look": np.random.default_rng(seed).integers(1, 5, graph.vertices),
    }
    return LabelHeuristic(arrays, scratch_kernel.bound, goal=replace(GOAL, **changes))


def both_tiers(graph, seed):
    made = heuristic(graph, seed)
    net, labels = network(graph), _class("Arrays_x__look__table")(made.arrays["look"], made.arrays["table"])
    return net, author_layout(net, made.arrays, made.kernel, made.goal), GoalBound(graph, labels, made.kernel, GOAL)


@given(graphs_to_compile_for(), st.sampled_from(EVERY_POLICY), st.integers(0, 2**32))
@example_count(100)
def test_tiers_count_the_same_and_nothing_survives_a_query(graph, policy, seed):
    net, layout, plain = both_tiers(graph, seed)
    sources, targets = all_pairs(graph)
    compiled = search(net, layout, sources, targets, policy)
    slow = search(net, plain, sources, targets, policy).columns()
    for name, column in compiled.columns().items():
        assert column.tolist() == slow[name].tolist(), name
    assert (compiled.h_source >= 0).all()  # the kernel gives -1000 for what it did not write itself
    # A search whose counts are in doubt is done again, and counts the work of the last time only.
    assert (compiled.h_work[sources != targets] // 100 == 1).all()
    assert (compiled.h_work[sources == targets] == 0).all()


def test_each_thread_has_its_own_and_gives_it_back():
    graph = load("grid-16")
    net, layout, _ = both_tiers(graph, 1)
    sources, targets = np.random.default_rng(1).integers(0, graph.vertices, (2, 200))
    alone = search(net, layout, sources, targets)
    memo = layout.idle[-1]
    beside = search(net, layout, sources, targets, threads=2)
    bounds(net, layout, sources, int(targets[0]))
    assert any(each is memo for each in layout.idle)
    assert len(layout.idle) <= 2
    for name, column in alone.columns().items():
        assert column.tolist() == beside.columns()[name].tolist(), name


def test_memory_is_replaced_before_a_stamp_comes_twice():
    graph = load("p7")
    net, layout, _ = both_tiers(graph, 1)
    first = search(net, layout, [0, 5], [6, 1])
    old = layout.idle[-1]
    old.stamp[0] = QUERIES
    assert search(net, layout, [0, 5], [6, 1]).h_work.tolist() == first.h_work.tolist()
    assert layout.idle[-1] is not old


def test_the_work_of_a_maximum_is_that_of_its_parts():
    graph = load("p7")
    net, made = network(graph), heuristic(graph)
    one = search(net, deploy(made, net).searched, [0, 5], [6, 1], "modern")
    two = search(net, deploy(MaxHeuristic((made, made)), net).searched, [0, 5], [6, 1], "modern")
    assert two.h_work.tolist() == (2 * one.h_work).tolist()


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 4), st.integers(0, 2), st.integers(-9, 9)),
        st.tuples(st.just("next"), st.just(0), st.just(0), st.just(0)),
    )
)


@given(
    OPERATIONS, st.sampled_from([-1, 0, math.inf]), st.sampled_from(["int", "int32", "weight"]), st.sampled_from("if")
)
def test_what_was_not_written_in_a_query_reads_as_the_fill_value(operations, fill, dtype, weight):
    goal = GoalSearch(scratch_kernel.start, scratch={"x": Scratch(3, dtype, fill)})
    weights = np.dtype(np.int64 if weight == "i" else np.float64)
    memo = new_memo(0, weights, 5, goal.scratch, scratch_class(goal))
    memo.stamp[0] = 1
    whole, infinite = dtype != "weight" or weight == "i", INFINITY[4 if dtype == "int32" else 8]
    absent, area, model = infinite if whole and fill == math.inf else fill, memo.given.x, {}
    for name, v, i, value in operations:
        if name == "next":
            memo.stamp[0] += 1
            model = {}
        else:
            put.py_func(area, v, i, value)
            model[v, i] = value
        for u in range(5):
            assert is_set.py_func(area, u) == any((u, k) in model for k in range(3))
            assert [get.py_func(area, u, k) for k in range(3)] == [model.get((u, k), absent) for k in range(3)]


def test_it_is_shown_and_not_charged():
    graph = load("p7")
    counted = inventory(heuristic(graph), graph.vertices)
    per_vertex = 8 * 3 + 4 * 2 + 8 * 2  # two areas with a stamp a row, one without
    assert counted.record()["scratch"] == 8 * 2 + graph.vertices * per_vertex
    assert counted.total_bytes == sum(array.nbytes for array in counted.arrays)


def test_it_comes_back_from_a_bundle(tmp_path):
    graph = load("p7")
    loaded = store.load(store.save(tmp_path, heuristic(graph), graph))
    assert loaded.goal == GOAL


def test_another_scratch_is_another_layout():
    graph = load("p7")
    net, made = network(graph), heuristic(graph)
    goals = [GOAL, replace(GOAL, scratch={**SCRATCH, "asked": Scratch(1, "int", 0)}), replace(GOAL, memo=3)]
    kinds = [type(author_layout(net, made.arrays, made.kernel, goal).labels) for goal in goals]
    assert kinds[0] is kinds[2] is not kinds[1]  # the memo's size is a value, which code on disk need not know


@pytest.mark.parametrize(
    ("scratch", "reason"),
    [
        ([], "a mapping from names to Scratch"),
        ({"x": 3}, "a mapping from names to Scratch"),
        ({"work": Scratch()}, "cannot be named 'work'"),
        ({"a__b": Scratch()}, "plain identifier"),
        ({"x": Scratch(0)}, "1 or more numbers"),
        ({"x": Scratch(1, "float32")}, "'int', 'int32' or 'weight'"),
        ({"x": Scratch(1, "int32", 2**31)}, "whole number or inf"),
        ({"x": Scratch(1, "int", 0.5)}, "whole number or inf"),
        ({"x": Scratch(1, "weight", math.nan)}, "whole number or inf"),
        ({"x": Scratch(SCRATCH_LIMIT), "y": Scratch()}, f"at most {SCRATCH_LIMIT}"),
    ],
)
def test_what_cannot_be_scratch_is_refused_in_a_sentence(tmp_path, scratch, reason):
    graph = load("p7")
    made = heuristic(graph, scratch=scratch)
    for use in (
        lambda: deploy(made, network(graph)),
        lambda: inventory(made, graph.vertices),
        lambda: store.save(tmp_path, made, graph),
    ):
        with pytest.raises(UsageError, match=reason):
            use()


@numba.njit
def start_by_itself(labels, scratch, t):
    return 0 if t == 0 else start_by_itself(labels, scratch, t - 1)


@numba.njit
def visit_in_turn(labels, scratch, x, distance, towards):
    return x == 0 or in_turn(labels, scratch, x, distance, towards)


@numba.njit
def in_turn(labels, scratch, x, distance, towards):
    return visit_in_turn(labels, scratch, x - 1, distance, towards)


@numba.njit("int64(int64)")
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@numba.njit
def with_a_typed_helper(labels, scratch, t):
    add = factorial(t)
    scratch.memo[0] = add


@pytest.mark.parametrize(
    "functions", [{"start": start_by_itself}, {"visit": visit_in_turn}, {"start": with_a_typed_helper}]
)
def test_recursion_in_a_goal_search_is_refused(functions):
    graph = load("p7")
    with pytest.raises(UsageError, match=r"is recursive, which numba's cache on disk breaks. Write it as a loop"):
        deploy(heuristic(graph, **functions), network(graph))


@numba.njit
def owes(labels, scratch, t):
    add_work(scratch, -5)


@numba.njit
def nothing(labels, scratch, u, t):
    return 0


def test_negative_work_is_refused_in_a_sentence():
    net = network(load("grid-16"))
    made = LabelHeuristic({"show": np.zeros(1)}, nothing, goal=GoalSearch(owes, scratch={}))
    with pytest.raises(UsageError, match=r"reports negative work, -5, in the search from 0 to 9; give add_work"):
        search(net, deploy(made, net).searched, [0], [9])


@numba.njit
def no_start(labels, scratch, t):
    pass


@numba.njit
def counts_first_call_only(labels, scratch, u, t):
    """Work is counted unless the stack holds what an earlier query left there."""
    if scratch.stack[0] != 424242:
        add_work(scratch, 1)
    scratch.stack[0] = 424242
    return 0


@pytest.mark.parametrize("stale", [False, True])
def test_a_kernel_that_reads_what_earlier_queries_left_is_refused(stale):
    net, ends = network(load("grid-16")), (np.array([0, 5, 9]), np.array([200, 30, 255]))
    goal = GoalSearch(no_start, scratch={"stack": Scratch(1, "int", None)})
    reads_stack = LabelHeuristic({"one": np.zeros(1, dtype=np.int64)}, counts_first_call_only, goal=goal)
    deployed = deploy(reads_stack if stale else heuristic(net.graph), net)
    answers = search(net, deployed.searched, *ends, "modern")
    refused = pytest.raises(DisagreementError, match="has h_work = 0 after other queries, but 1 alone")
    with refused if stale else nullcontext():
        check_alone(net, deployed, ends, answers, "modern")
