"""CDH: fitting, formulas against a slow twin, admissible bounds on every pair, and shortest paths."""

import numpy as np
import pytest
from bundled import is_the_same_from_its_bundle
from cdh_twin import cdh_bound, greedy_colouring, in_python, shared_bound
from hypothesis import assume, given
from hypothesis import strategies as st
from method_builds import INFOS, NEW_YORK, blocks, built, expanded, fitted, method, road
from support import EVERY_POLICY, all_pairs, example_count, graphs, true_distances

from aacbench.bundle.arrays import checked_settings
from aacbench.bundle.deploy import deploy
from aacbench.contract.budget import AS_DECLARED, CONVENTIONS, FOUR_BYTE, MEASURED, PAPER, Budget
from aacbench.contract.method import Unsupported
from aacbench.errors import UsageError
from aacbench.graphs import components, from_arcs
from aacbench.graphs.load import load
from aacbench.labels import farthest_points
from aacbench.labels.graph_info import graph_info
from aacbench.plugins.methods.cdh.kernels import PATIENCE, colouring
from aacbench.queries.sampling import sample
from aacbench.search import network, search
from aacbench.search.astar import RELATIVE_TOLERANCE
from aacbench.search.author import author_layout
from aacbench.search.bounds import bounds
from aacbench.testing.zoo import zoo

LABELS = ("auto", "exact", "fixed", "replay")
VARIANTS = [
    ("cdh", {"assign": "round-robin"}),
    ("cdh", {"assign": "colouring"}),
    ("cdh-paper", {"arm": "intersection"}),
    ("cdh-paper", {"arm": "substitution"}),
]

# What fits


@given(
    st.sampled_from(VARIANTS),
    INFOS,
    st.floats(0.5, 512) | st.integers(1, 512),
    st.sampled_from(sorted(CONVENTIONS)),
    st.sampled_from(LABELS),
    st.sampled_from([1, 16, 64, 256, 257, 1024]),
)
def test_fit_fills_the_budget_and_never_exceeds_it(variant, info, size, label, labels, pivots):
    name, settings = variant
    budget = Budget(size, CONVENTIONS[label])
    params = fitted(name, info, budget, labels=labels, P=pivots, **settings)
    if isinstance(params, Unsupported):
        impossible = info.integral and labels == "fixed"
        assert impossible or not fits(1, info, budget, labels, min(pivots, info.vertices), settings)
        return
    assert params["P"] == min(pivots, info.vertices)
    assert fits(params["r"], info, budget, params["labels"], params["P"], settings)
    more = params["r"] + 1
    assert more > params["P"] or not fits(more, info, budget, params["labels"], params["P"], settings)


def fits(kept, info, budget, labels, pivots, settings):
    """Whether the labels fit, computed independently."""
    index = 1 if pivots <= 256 else 2
    directed = info.declared_directed if budget.convention in (PAPER, AS_DECLARED) else not info.symmetric
    if budget.convention in (PAPER, FOUR_BYTE):
        return kept * ((8 if directed else 4) + index) <= budget.bytes_per_vertex
    width = info.label_bytes if info.integral or labels not in ("exact", "replay") else 8
    total = kept * width * (2 if directed else 1) * info.vertices
    if "arm" in settings:
        total += kept * index * info.vertices + (pivots**2 * width if settings["arm"] == "substitution" else 0)
    elif settings["assign"] == "colouring":
        total += index * info.vertices
    return total <= budget.bytes_per_vertex * info.vertices


@pytest.mark.parametrize("name", ["cdh", "cdh-paper"])
def test_narrow_stores_are_refused(name):
    with pytest.raises(UsageError, match=r"'labels' .* takes one of auto, exact, fixed, replay, not 'packed'"):
        fitted(name, NEW_YORK, Budget(64), labels="packed")


def test_labels_asked_for_are_kept_or_refused():
    info = NEW_YORK
    for name in ("cdh", "cdh-paper"):
        assert [fitted(name, info, Budget(size, PAPER))["r"] for size in (32, 64, 128)] == [3, 7, 14]
        assert fitted(name, info, Budget(64), r=4)["r"] == 4
        assert isinstance(fitted(name, info, Budget(64), r=17), Unsupported)
    assert [fitted("cdh", info, Budget(size))["r"] for size in (32, 64, 128)] == [8, 16, 32]
    assert fitted("cdh", info, Budget(64), assign="colouring")["r"] == 15


# Formulas


@example_count(150)
@given(graphs(max_vertices=10), st.integers(1, 8), st.integers(1, 3), st.sampled_from(["round-robin", "colouring"]))
def test_bounds_are_those_of_the_formulas(tmp_path_factory, graph, pivots, kept, assign):
    net = network(graph)
    labels = "exact" if graph.integral else "replay"
    heuristic = built("cdh", net, tmp_path_factory.mktemp("p"), 4096, P=pivots, r=kept, assign=assign, labels=labels)
    count = min(pivots, len(components.largest(graph)))
    groups = count // min(kept, count)
    chosen = farthest_points(net, groups * min(kept, count)).landmarks.tolist()
    coloured = assign == "colouring" and groups > 1
    group_of = greedy_colouring(graph, groups) if coloured else [v % groups for v in range(graph.vertices)]
    h, exact = in_python(heuristic, graph), true_distances(graph)
    for t in range(graph.vertices):
        wanted = cdh_bound(graph, exact, chosen, groups, group_of, t, PATIENCE)
        found = [h(u, t) for u in range(graph.vertices)]
        assert found == (wanted if graph.integral else pytest.approx(wanted, abs=1e-9)), t


@example_count(80)
@given(graphs(max_vertices=10), st.integers(1, 8), st.integers(1, 4))
def test_the_papers_bounds_are_those_of_the_formula_in_every_arm(tmp_path_factory, graph, pivots, kept):
    """Substitution through a shared pivot cannot improve on that pivot itself."""
    net, folder = network(graph), tmp_path_factory.mktemp("p")
    labels = "exact" if graph.integral else "replay"
    chosen = farthest_points(net, min(pivots, len(components.largest(graph)))).landmarks.tolist()
    exact = true_distances(graph)
    for arm in ("intersection", "substitution"):
        heuristic = built("cdh-paper", net, folder, 4096, P=pivots, r=kept, arm=arm, labels=labels)
        h = in_python(heuristic, graph)
        for u, t in zip(*all_pairs(graph), strict=True):
            wanted = shared_bound(graph, exact, chosen, kept, u, t)
            assert h(int(u), int(t)) == (wanted if graph.integral else pytest.approx(wanted, abs=1e-9))


def test_substitution_is_more_than_nothing_where_one_pivot_is_shared():
    """A label that the goal lacks is bounded through q by one that it has."""
    from aacbench.plugins.methods.cdh.paper_kernels import substitute

    # p=0, q=1, u=2, t=3 on a path with d(p,u) = 9, d(p,q) = 2, d(q,t) = 3: d(p,t) is at most 5, so d(u,t) at least 4.
    assert substitute.py_func(9, 9, 2, 2, 3, 3) == 4
    assert substitute.py_func(1, 1, 9, 9, 3, 3) == 5  # d(p,t) is at least 6
    assert substitute.py_func(1, 1, 2, 2, 9, 9) == 6  # d(p,t) is at least 7
    assert substitute.py_func(1, 30, 2, 5, 9, 8) == 17  # one way: d(t,p) is at most 8 + 5


@given(graphs(max_vertices=14), st.integers(1, 6))
def test_colours_are_those_of_the_twin(graph, colours):
    assert colouring(graph, colours).tolist() == greedy_colouring(graph, colours)


def test_neighbours_differ_where_colours_suffice():
    graph = load("grid-16")
    colour = colouring(graph, 9)
    assert (colour[graph.sources] != colour[graph.indices]).all()
    assert np.bincount(colour).min() > 256 / 9 / 2


# Bounds that hold


@example_count(250)
@given(
    st.sampled_from(VARIANTS),
    graphs(max_vertices=9),
    st.sampled_from(LABELS),
    st.sampled_from([9, 24, 400]),
    st.sampled_from([MEASURED, PAPER]),
    st.sampled_from([3, 5, 64]),
)
def test_every_bound_is_admissible(tmp_path_factory, variant, graph, labels, size, convention, pivots):
    name, given_settings = variant
    net, budget = network(graph), Budget(size, convention)
    wanted = {**given_settings, "labels": labels, "P": pivots}
    params = fitted(name, graph_info(net), budget, **wanted)
    assume(not isinstance(params, Unsupported))
    heuristic = built(name, net, tmp_path_factory.mktemp("p"), budget, **wanted)
    h, exact = in_python(heuristic, graph), true_distances(graph)
    tolerance = 0 if graph.integral else RELATIVE_TOLERANCE * (4 if params["labels"] == "replay" else 1)
    for u, t in zip(*all_pairs(graph), strict=True):
        slack = tolerance * (exact.max() if params["labels"] == "replay" else exact[u, t])
        assert h(int(u), int(t)) >= 0
        assert u != t or h(int(u), int(t)) == 0
        assert exact[u, t] < 0 or h(int(u), int(t)) <= exact[u, t] + slack


def test_nothing_is_left_at_the_goal_where_labels_are_not_rounded_to_be_safe(tmp_path):
    """Sums of floats taken in another order differ by an ulp, and the paper's convention leaves no margin for it."""
    for name in ("float-weights", "float-one-way"):
        graph = zoo()[name]
        net, budget = network(graph), Budget(32, PAPER)
        assert fitted("cdh", graph_info(net), budget)["labels"] == "replay"
        heuristic = built("cdh", net, tmp_path, budget)
        h = in_python(heuristic, graph)
        assert [h(t, t) for t in range(graph.vertices)] == [0] * graph.vertices


@example_count(60)
@given(
    st.sampled_from([VARIANTS[0], VARIANTS[1], VARIANTS[3]]),
    graphs(max_vertices=12, integral=True),
    st.sampled_from(EVERY_POLICY),
    st.sampled_from([2, 6]),
)
def test_paths_are_shortest_and_compiled_bounds_are_those_of_plain_python(
    tmp_path_factory, variant, graph, policy, pivots
):
    """On weights that fit four bytes, and without a compiled search: each type of labels takes seconds to compile."""
    assume(graph.weights.max(initial=0) < 2**24)
    name, given_settings = variant
    net = network(graph)
    heuristic = built(name, net, tmp_path_factory.mktemp("p"), 4096, P=pivots, r=2, **given_settings)
    h, layout = in_python(heuristic, graph), compiled_only(heuristic, net)
    everywhere = np.arange(graph.vertices)
    for t in range(graph.vertices):
        assert bounds(net, layout, everywhere, t).tolist() == [h(u, t) for u in range(graph.vertices)]
    sources, targets = all_pairs(graph)
    if policy.reopen:
        found = search(net, h, sources, targets, policy)
        assert found.cost == pytest.approx(true_distances(graph)[sources, targets])


@pytest.mark.parametrize("both_ways", [True, False])
def test_fixed_point_distances_of_the_goal_search_are_not_taken_too_short(tmp_path, both_ways):
    """Whole weights lie on the grid, so that nothing is lost elsewhere and one unit too few would show."""
    ring = np.arange(9)
    tails, heads, weights = ring, (ring + 1) % 9, ring + 1.0
    if both_ways:
        tails, heads, weights = np.r_[tails, heads], np.r_[heads, tails], np.r_[weights, weights]
    graph = from_arcs(9, tails, heads, weights)
    heuristic = built("cdh", network(graph), tmp_path, 64, P=4, r=1, labels="fixed")
    h, exact = in_python(heuristic, graph), true_distances(graph)
    found = np.array([[h(u, t) for t in range(9)] for u in range(9)])
    assert (found <= exact).all()
    assert ((found > exact - 1e-6) & (exact > 0)).any()


@pytest.mark.parametrize("both_ways", [True, False])
def test_labels_of_far_pivots_stay_below_tiny_distances(tmp_path, both_ways):
    """A pivot 1e9 away: the labels of neighbours differ by less than their own rounding."""
    weights = np.concatenate(([1e9], np.random.default_rng(4).uniform(1e-9, 1e-6, 30)))
    tails = np.arange(31)
    heads = tails + 1 if both_ways else (tails + 1) % 31
    if both_ways:
        tails, heads, weights = np.r_[tails, heads], np.r_[heads, tails], np.r_[weights, weights]
    graph = from_arcs(32 if both_ways else 31, tails, heads, weights)
    exact = true_distances(graph)
    sources, targets = (side.tolist() for side in all_pairs(graph))
    above = {}
    for labels in ("exact", "replay"):
        h = in_python(built("cdh", network(graph), tmp_path, 4096, P=4, r=2, labels=labels), graph)
        found = np.array([h(u, t) for u, t in zip(sources, targets, strict=True)])
        above[labels] = (found > exact[sources, targets] * (1 + RELATIVE_TOLERANCE)).sum()
    assert above["exact"] == 0
    assert above["replay"] > 0, "the case must be one where rounding shows"


def compiled_only(heuristic, net):
    """As deployed, without the check that it compiles."""
    labels = {**heuristic.arrays, **checked_settings(heuristic.settings)}
    return author_layout(net, labels, heuristic.kernel, heuristic.goal)


def test_fixed_point_labels_lose_next_to_nothing(tmp_path):
    """On a graph of float weights: half the bytes, and nearly the same bounds."""
    graph = load("grid-16")
    weights = np.random.default_rng(1).uniform(1, 10, graph.arcs)
    back = np.lexsort((graph.sources, graph.indices))
    even = from_arcs(graph.vertices, graph.sources, graph.indices, np.minimum(weights, weights[back]))
    assert even.symmetric
    net = network(even)
    h = {kind: in_python(built("cdh", net, tmp_path, 64, P=16, r=4, labels=kind), even) for kind in LABELS[1:]}
    pairs = np.random.default_rng(2).integers(0, graph.vertices, (300, 2)).tolist()
    mean = {kind: np.mean([bound(u, t) for u, t in pairs]) for kind, bound in h.items()}
    compiled = deploy(built("cdh", net, tmp_path, 64, P=16, r=4, labels="fixed"), net)
    assert compiled.many([u for u, _ in pairs], 7).tolist() == [h["fixed"](u, 7) for u, _ in pairs]
    assert mean["replay"] > 5
    assert mean["exact"] == pytest.approx(mean["replay"], rel=1e-6)
    assert mean["fixed"] == pytest.approx(mean["replay"], rel=1e-3)


# As a method


def test_searched_with_bpmx_unless_a_user_says_otherwise():
    assert method("cdh").search({}) == {"bpmx": True}
    assert [bool(method("cdh-paper").search({"arm": arm})) for arm in ("intersection", "substitution", "bpmx")] == [
        False,
        False,
        True,
    ]
    assert not method("cdh").claims.consistent
    assert not method("cdh-paper").claims.consistent


@pytest.mark.parametrize(("name", "given_settings"), VARIANTS[1::2])
def test_it_comes_back_from_its_bundle(tmp_path, name, given_settings):
    heuristic = built(name, road(), tmp_path, 64, **given_settings)
    assert is_the_same_from_its_bundle(tmp_path / "bundles", heuristic, road())


def test_the_stochastic_block_model_as_measured_for_the_paper(tmp_path):
    net, queries = blocks(), sample(blocks().graph, 100)
    for size, published in ((32, 4549.77), (64, 3660.68), (128, 2507.02)):
        budget = Budget(size, PAPER)
        assert fitted("cdh-paper", graph_info(net), budget)["r"] == size // 5
        heuristic = built("cdh-paper", net, tmp_path, budget)
        assert round(float(expanded(net, heuristic, queries, "paper").mean()), 2) == published
