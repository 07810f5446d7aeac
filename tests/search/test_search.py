"""A* is correct on every kind of graph, and both tiers count the same under every policy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import EVERY_POLICY, all_pairs, example_count, graphs, random_bound, true_distances

from aacbench.errors import UsageError
from aacbench.graphs import from_arcs
from aacbench.search import Policy, dijkstra, network, parse, search
from aacbench.search.layouts import differential
from aacbench.search.policy import POLICIES, TIES


def label_rows(graph, landmarks):
    """Rows d(l, v) and d(v, l) by scipy, in the graph's own order."""
    exact = true_distances(graph)
    rows = np.concatenate((exact[landmarks].T, exact[:, landmarks]), axis=1)
    return rows.astype(np.int64) if graph.integral else rows


@given(graphs(), st.sampled_from(EVERY_POLICY))
@example_count(150)
def test_costs_equal_scipy_and_paths_add_up(graph, policy):
    sources, targets = all_pairs(graph)
    found = dijkstra(network(graph), sources, targets, policy=policy, paths=True)
    exact = true_distances(graph)[sources, targets]
    assert found.cost == pytest.approx(exact, rel=1e-12, abs=1e-12)
    assert found.path_cost == pytest.approx(found.cost, rel=1e-12)
    for s, t, path, cost in zip(sources, targets, found.paths, found.cost, strict=True):
        if cost < 0:
            assert len(path) == 0
            continue
        assert (path[0], path[-1]) == (s, t)
        assert len(set(path.tolist())) == len(path)


@given(graphs(), st.sampled_from(EVERY_POLICY), st.integers(0, 2**32), st.sampled_from(["dfs", "file"]))
@example_count(200)
def test_tiers_count_the_same(graph, policy, seed, order):
    landmarks = np.random.default_rng(seed).integers(0, graph.vertices, size=2)
    rows = label_rows(graph, landmarks)
    net = network(graph, order)
    compiled_h = differential(net, rows, forward=2)

    def python_h(u, t):
        pairs = zip(rows[u].tolist(), rows[t].tolist(), (1, 1, -1, -1), strict=True)
        return max([0] + [sign * (b - a) for a, b, sign in pairs if a >= 0 and b >= 0])

    sources, targets = all_pairs(graph)
    compiled = search(net, compiled_h, sources, targets, policy, paths=True)
    plain = search(net, python_h, sources, targets, policy, paths=True)
    for name, column in compiled.columns().items():
        assert column.tolist() == plain.columns()[name].tolist(), name
    assert [p.tolist() for p in compiled.paths] == [p.tolist() for p in plain.paths]


@given(graphs(), st.sampled_from([p for p in EVERY_POLICY if p.reopen]), st.integers(0, 2**32))
@example_count(150)
def test_an_inconsistent_bound_is_optimal_with_reopening(graph, policy, seed):
    h = random_bound(graph, seed).tolist()
    sources, targets = all_pairs(graph)
    found = search(network(graph), lambda u, t: h[u][t], sources, targets, policy)
    assert found.cost == pytest.approx(true_distances(graph)[sources, targets], rel=1e-12, abs=1e-12)
    assert (found.below_optimum + found.on_optimum == found.expanded).all()


def inconsistent_case():
    """The shorter way to vertex 2 leads through 1, whose bound is high, so a closed set takes the longer way."""
    graph = from_arcs(4, [0, 0, 1, 2], [1, 2, 2, 3], [1, 3, 1, 10])
    h = {0: 0, 1: 11, 2: 0, 3: 0}
    return network(graph), lambda u, t: h[u] if t == 3 else 0


@pytest.mark.parametrize("tie", TIES)
def test_a_closed_set_fails_where_reopening_does_not(tie):
    net, h = inconsistent_case()
    reopened = search(net, h, [0], [3], Policy(reopen=True, tie=tie))
    closed = search(net, h, [0], [3], Policy(reopen=False, tie=tie))
    assert (reopened.cost[0], reopened.reexpanded[0]) == (12, 1)
    assert (closed.cost[0], closed.path_cost[0], closed.reexpanded[0]) == (13, 13, 0)


def test_bpmx_with_the_forward_weight_would_be_wrong():
    # h(1) = 9 is exact. Lifting h(0) by the weight 1 of (0, 1) instead of the 20 of (1, 0) gives 8 > d(0, 2) = 2.
    graph = from_arcs(3, [0, 1, 0, 1], [1, 0, 2, 2], [1, 20, 2, 9])
    h = {0: 0, 1: 9, 2: 0}
    for policy in (p for p in EVERY_POLICY if p.bpmx):
        found = search(network(graph), lambda u, t: h[u], [0], [2], policy)
        assert found.cost[0] == 2
        assert found.expanded[0] == found.below_optimum[0] + found.on_optimum[0]


def test_bpmx_saves_expansions_on_a_patchy_bound():
    rng = np.random.default_rng(1)
    side = 12
    cells = np.arange(side * side).reshape(side, side)
    tails = np.concatenate((cells[:, :-1].ravel(), cells[:-1].ravel()))
    heads = np.concatenate((cells[:, 1:].ravel(), cells[1:].ravel()))
    weights = rng.integers(1, 9, size=len(tails))
    graph = from_arcs(side * side, np.r_[tails, heads], np.r_[heads, tails], np.r_[weights, weights])
    h = (true_distances(graph) * (rng.random((side * side,) * 2) < 0.3)).astype(np.int64).tolist()
    sources, targets = rng.integers(0, side * side, size=(2, 60))
    plain = search(network(graph), lambda u, t: h[u][t], sources, targets, parse("modern"))
    lifted = search(network(graph), lambda u, t: h[u][t], sources, targets, parse("modern,bpmx=on"))
    assert (plain.cost == lifted.cost).all()
    assert lifted.expanded.sum() < plain.expanded.sum()


def test_an_inadmissible_bound_is_counted_against_the_cost_found():
    graph = from_arcs(3, [0, 0, 1], [1, 2, 2], [1, 5, 1])
    rows = np.array([[100], [0], [100]])
    net = network(graph)
    found = search(net, differential(net, rows, forward=1), [0], [2])
    # vertex 1 seems to be 100 from the target, so the direct arc of weight 5 wins over 1 + 1
    assert found.cost[0] == 5
    assert found.below_optimum[0] + found.on_optimum[0] == found.expanded[0] == 2
    plain = search(net, lambda u, t: max(0, rows[t, 0] - rows[u, 0]), [0], [2])
    assert {k: v.tolist() for k, v in found.columns().items()} == {k: v.tolist() for k, v in plain.columns().items()}


@given(graphs(max_vertices=30), st.integers(2, 4))
@example_count(25)
def test_threads_do_not_change_the_answers(graph, threads):
    sources, targets = all_pairs(graph)
    net = network(graph)
    alone, together = dijkstra(net, sources, targets), dijkstra(net, sources, targets, threads=threads)
    for name, column in alone.columns().items():
        assert (column == together.columns()[name]).all(), name


def test_the_heap_grows_when_it_must():
    rng = np.random.default_rng(3)
    graph = from_arcs(40, rng.integers(0, 40, 300), rng.integers(0, 40, 300), rng.integers(1, 9, 300))
    sources, targets = all_pairs(graph)
    net = network(graph)
    roomy = dijkstra(net, sources, targets)
    net.idle[0] = net.idle[0]._replace(heap=net.idle[0].heap[:1].copy())
    cramped = dijkstra(net, sources, targets)
    assert len(net.idle[0].heap) > 1
    for name, column in roomy.columns().items():
        assert (column == cramped.columns()[name]).all(), name


def test_a_vertex_to_itself_expands_nothing():
    graph = from_arcs(2, [0], [1], [3])
    found = dijkstra(network(graph), [1], [1], paths=True)
    assert (found.cost[0], found.expanded[0], found.paths[0].tolist()) == (0, 0, [1])


def test_unreachable_is_said_so():
    graph = from_arcs(2, [0], [1], [3])
    found = dijkstra(network(graph), [1], [0], paths=True)
    assert (found.cost[0], found.path_cost[0], found.expanded[0], len(found.paths[0])) == (-1, -1, 1, 0)


@pytest.mark.parametrize(
    ("sources", "targets", "word"),
    [([5], [0], "5"), ([-1], [0], "-1"), ([0, 1], [0], "must be equal"), ([0.5], [0], "numbers")],
)
def test_impossible_queries_are_refused(sources, targets, word):
    graph = from_arcs(2, [0], [1], [3])
    with pytest.raises(UsageError, match=word):
        dijkstra(network(graph), sources, targets)


def test_the_stamp_wraps_round():
    graph = from_arcs(3, [0, 1], [1, 2], [1, 1])
    net = network(graph)
    before = dijkstra(net, [0], [2])
    net.idle[0].stamp[0] = 2**32 - 1
    net.idle[0].state["stamp"][:] = 1
    after = dijkstra(net, [0, 0, 0], [2, 2, 2])
    assert after.expanded.tolist() == [before.expanded[0]] * 3


def test_counts_on_and_below_the_optimum_when_rounding_makes_them_doubtful():
    weights = [1e9, 9e-4, 2e-4, 0.0]  # relative steps just around the tolerance
    graph = from_arcs(5, [0, 1, 2, 3], [1, 2, 3, 4], weights)
    net = network(graph)
    compiled, plain = dijkstra(net, [0], [4]), search(net, lambda u, t: 0.0, [0], [4])
    assert (compiled.below_optimum[0], compiled.on_optimum[0]) == (plain.below_optimum[0], plain.on_optimum[0])


def test_a_layout_is_searched_with_its_own_network_only():
    graph = from_arcs(3, [0, 1, 2, 1], [1, 0, 1, 2], [1, 1, 5, 5])
    other = from_arcs(3, [0, 1, 2, 1], [1, 0, 1, 2], [1, 1, 4, 4])
    layout = differential(network(graph), np.array([[0], [1], [6]]), both=1)
    assert search(network(graph), layout, [0], [2]).cost[0] == 6
    for wrong in (network(graph, "file"), network(other)):
        with pytest.raises(UsageError, match="another network"):
            search(wrong, layout, [0], [2])


def test_labels_that_do_not_fit_the_graph_are_refused():
    net = network(from_arcs(3, [0, 1, 2], [1, 2, 0], [1, 1, 5]))
    with pytest.raises(UsageError, match="equal reverse"):
        differential(net, np.zeros((3, 1), dtype=np.int64), both=1)
    for rows in (np.zeros((4, 1)), np.zeros(3), np.zeros((3, 1), dtype=object)):
        with pytest.raises(UsageError, match="3 vertices"):
            differential(net, rows)
    with pytest.raises(UsageError, match="do not fit a table"):
        differential(net, np.zeros((3, 1)), forward=2)


@pytest.mark.parametrize("junk", [None, 5, np.zeros((2, 1))])
def test_what_is_no_heuristic_is_refused(junk):
    with pytest.raises(UsageError, match="layout"):
        search(network(from_arcs(2, [0], [1], [1])), junk, [0], [1])


def test_an_interrupt_stops_the_batch(monkeypatch):
    graph = from_arcs(2, [0], [1], [1])
    done = []

    def interrupted(*arguments):
        done.append(1)
        if len(done) == 3:
            raise KeyboardInterrupt
        return len(arguments[6])

    monkeypatch.setattr("aacbench.search.astar.search_all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dijkstra(network(graph), np.zeros(16000, dtype=int), np.ones(16000, dtype=int), threads=2)
    assert len(done) < 500


@pytest.mark.parametrize("policy", EVERY_POLICY, ids=lambda p: p.name)
def test_policies_are_read_back_from_their_names(policy):
    assert parse(policy.name) == policy


def test_policy_errors_say_what_to_write():
    assert parse("paper,tie=lifo") == Policy(reopen=False, tie="lifo")
    assert POLICIES["modern"].name == "modern"
    for text in ("fast", "tie=best", "reopen=maybe", "modern,paper", "paper,bpmx=on", ""):
        with pytest.raises(UsageError):
            parse(text)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", [np.float16, np.float32, np.float64, np.int8, np.uint64])
def test_a_bound_of_any_width_is_taken_without_a_warning(number):
    net = network(from_arcs(3, [0, 1], [1, 2], [5, 5]))
    assert search(net, lambda u, t: number(0), [0], [2]).cost.tolist() == [10]
