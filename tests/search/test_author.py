"""An author's own compiled kernel gives the counts of the Python tier, is compiled once, and is not recursive."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import author_kernel
import goal_kernel
import numba
import numpy as np
import pytest
from author_kernel import table_bound
from hypothesis import given
from hypothesis import strategies as st
from support import EVERY_POLICY, all_pairs, example_count, graphs, random_bound

from aacbench.errors import UsageError
from aacbench.graphs import from_arcs
from aacbench.plugins.methods.cdh import kernels
from aacbench.search import network, search
from aacbench.search.author import author_layout, recursive_function
from aacbench.search.bounds import bounds


@given(graphs(), st.sampled_from(EVERY_POLICY), st.integers(0, 2**32))
@example_count(150)
def test_tiers_count_the_same_for_any_bound(graph, policy, seed):
    table = random_bound(graph, seed)
    net = network(graph)
    sources, targets = all_pairs(graph)
    compiled = search(net, author_layout(net, {"table": table}, table_bound), sources, targets, policy)
    rows = table.tolist()
    plain = search(net, lambda u, t: rows[u][t], sources, targets, policy)
    for name, column in compiled.columns().items():
        assert column.tolist() == plain.columns()[name].tolist(), name


SCRIPT = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from author_kernel import table_bound
from aacbench.graphs import from_arcs
from aacbench.search import astar, network, search
from aacbench.search.author import author_layout
net = network(from_arcs(3, [0, 1], [1, 2], [1, 1]))
layout = author_layout(net, {"table": np.zeros((3, 3), dtype=np.int64)}, table_bound)
answers = search(net, layout, [0], [2])
stats = astar.search_all.stats
print(json.dumps([int(answers.cost[0]), sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]))
"""


def test_another_process_finds_the_machine_code():
    net = network(from_arcs(3, [0, 1], [1, 2], [1, 1]))
    search(net, author_layout(net, {"table": np.zeros((3, 3), dtype=np.int64)}, table_bound), [0], [2])
    command = [sys.executable, "-c", SCRIPT, str(Path(author_kernel.__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [2, 1, 0]


def test_what_cannot_be_a_layout_is_refused():
    net = network(from_arcs(2, [0], [1], [1]))
    with pytest.raises(UsageError, match="njit"):
        author_layout(net, {"table": np.zeros((2, 2))}, lambda labels, u, t: 0)
    with pytest.raises(UsageError, match="names"):
        author_layout(net, {"not a name": np.zeros((2, 2))}, table_bound)


@numba.njit
def differences(one, other):
    return np.abs(one - other)


@numba.njit
def allocates(labels, u, t):
    return differences(labels.rows[u], labels.rows[t]).max()


def test_a_kernel_may_allocate_though_the_search_does_not():
    graph = from_arcs(6, range(5), range(1, 6), [9] * 5)
    rows = np.random.default_rng(1).integers(0, 50, (graph.vertices, 3))
    layout = author_layout(network(graph), {"rows": rows}, allocates)
    found = bounds(layout.network, layout, np.arange(graph.vertices), 5)
    assert found.tolist() == np.abs(rows - rows[5]).max(axis=1).tolist()


def test_two_kernels_of_one_file_are_told_apart():
    net = network(from_arcs(2, [0], [1], [1]))
    table = {"table": np.zeros((2, 2), dtype=np.int64)}

    @numba.njit
    def other_bound(labels, u, t):
        return 1 - labels.table[u, t] if u != t else 0

    labels = [author_layout(net, table, function).labels for function in (table_bound, other_bound)]
    assert type(labels[0]) is not type(labels[1])
    assert bounds(net, author_layout(net, table, other_bound), [0], 1) == [1]


def make(scale):
    @numba.njit
    def scaled(labels, u, t):
        return scale * labels.table[u, t]

    return scaled


def test_closures_over_other_values_are_other_kernels():
    net = network(from_arcs(2, [0], [1], [9]))
    table = {"table": np.array([[0, 4], [0, 0]])}
    found = [bounds(net, author_layout(net, table, make(scale)), [0], 1)[0] for scale in (1, 0, 2, 1)]
    assert found == [4, 0, 8, 4]


GLOBAL = """
import sys
import numba, numpy as np
from aacbench.graphs import from_arcs
from aacbench.search import network
from aacbench.search.author import author_layout
from aacbench.search.bounds import bounds
SCALE = int(sys.argv[1])
@numba.njit
def helper(x):
    return SCALE * x
@numba.njit
def bound(labels, u, t):
    return {word}(helper(labels.table[u, t]), 3)
net = network(from_arcs(2, [0], [1], [9]))
print(bounds(net, author_layout(net, {{"table": np.array([[0, 2], [0, 0]])}}, bound), [0], 1)[0])
"""


def test_globals_helpers_and_names_count_across_processes():
    found = []
    for scale, word in ((1, "min"), (2, "min"), (1, "max"), (1, "min")):
        command = [sys.executable, "-c", GLOBAL.format(word=word), str(scale)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found.append(int(done.stdout))
    assert found == [2, 3, 3, 2]


@pytest.mark.parametrize("policy", ["modern", "modern,bpmx=on", "paper"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_bound_that_is_no_finite_number_is_refused_in_both_tiers(policy, value):
    for weights in ([1, 2], [1.0, 2.0]):
        net = network(from_arcs(3, [0, 1], [1, 2], weights))
        table = np.zeros((3, 3))
        table[1, 2] = value
        layout = author_layout(net, {"table": table}, table_bound)
        for heuristic in (layout, lambda u, t, table=table: table[u, t]):
            with pytest.raises(UsageError, match="finite"):
                search(net, heuristic, [0], [2], policy)


def test_bounds_that_are_no_integers_are_cut_on_integer_weights_in_both_tiers():
    net = network(from_arcs(4, [0, 0, 1, 2], [1, 2, 3, 3], [2, 2, 3, 2]))
    table = np.array([[0, 0, 0, 3.9], [0, 0, 0, 2.5], [0, 0, 0, 1.9], [0, 0, 0, 0]])
    compiled = search(net, author_layout(net, {"table": table}, table_bound), [0, 1], [3, 3], "paper")
    plain = search(net, lambda u, t: table[u, t], [0, 1], [3, 3], "paper")
    for name, column in compiled.columns().items():
        assert column.tolist() == plain.columns()[name].tolist(), name
    assert compiled.h_source.tolist() == [3, 2]


def test_one_source_under_two_module_names_is_two_kernels(tmp_path, monkeypatch):
    source = Path(author_kernel.__file__).read_text(encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    net = network(from_arcs(2, [0], [1], [1]))
    layouts = set()
    for name in ("kernel_here", "kernel_there"):
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        function = importlib.import_module(name).table_bound
        layouts.add(type(author_layout(net, {"table": np.zeros((2, 2), dtype=np.int64)}, function).labels))
    assert len(layouts) == 2


HERE = sys.modules[__name__]


@numba.njit
def direct(labels, u, t):
    return 0 if u == t else direct(labels, t, t)


@numba.njit
def through_another(labels, u, t):
    return 0 if u == t else other(labels, u, t)


@numba.njit
def other(labels, u, t):
    return through_another(labels, t, t)


@numba.njit
def through_its_module(labels, u, t):
    return 0 if u == t else HERE.through_its_module(labels, t, t)


@numba.njit
def with_a_recursive_helper(labels, u, t):
    return direct(labels, u, t)


@numba.njit
def helper(x):
    return x + 1


@numba.njit
def harmless(labels, u, t):
    """Calls a function twice, and has its own name as an attribute of the labels only."""
    return helper(labels.harmless[u]) + helper(labels.harmless[t])


@pytest.mark.parametrize(
    ("kernel", "found"),
    [
        (direct, direct),
        (through_another, through_another),
        (through_its_module, through_its_module),
        (with_a_recursive_helper, direct),
    ],
)
def test_a_recursive_function_is_found(kernel, found):
    assert recursive_function(kernel) is found.py_func


@pytest.mark.parametrize("kernel", [harmless, helper, table_bound, goal_kernel.visit, kernels.bound_directed, max])
def test_other_kernels_are_not_taken_for_recursive(kernel):
    assert recursive_function(kernel) is None
