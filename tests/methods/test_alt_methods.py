"""ALT and its controls: fitting, effects of seed and queries, sound bounds, and the paper's numbers."""

import method_builds
import numpy as np
import pytest
from cli.command import command
from hypothesis import given
from hypothesis import strategies as st
from method_builds import INFOS, NEW_YORK, NO_QUERIES, assert_sound, blocks, fitted, method, road, the_same
from single_cells import cell_job
from support import all_pairs, example_count, graphs, true_distances

from aacbench.bundle.deploy import deploy
from aacbench.contract.budget import AS_DECLARED, CONVENTIONS, FOUR_BYTE, MEASURED, PAPER, Budget
from aacbench.contract.method import Unsupported
from aacbench.errors import UsageError
from aacbench.graphs import components, from_arcs
from aacbench.labels import alt_layout, farthest_points, label_rows
from aacbench.labels.graph_info import graph_info
from aacbench.queries.sampling import sample
from aacbench.run.measure import run_cell
from aacbench.run.records import QueryPlan
from aacbench.run.rows import read_queries
from aacbench.run.store import scan
from aacbench.search import network, parse, search

METHODS = ("alt", "alt-pool", "random-subset", "fps-rr10")
CHOICES = ("auto", "exact", "fixed", "replay")


def built(name, net, folder, budget=32, seed=1, validation=None, **given):
    """As a cell would build it, with validation queries, which fps-rr10 needs."""
    if validation is None and name == "fps-rr10":
        validation = sample(net.graph, 10, seed=5)
    return method_builds.built(name, net, folder, budget, seed, validation=validation or NO_QUERIES, **given)


# What fits

BUDGETS = st.floats(0.5, 4096) | st.integers(1, 512)


@given(st.sampled_from(METHODS), INFOS, BUDGETS, st.sampled_from(sorted(CONVENTIONS)), st.sampled_from(CHOICES))
def test_fit_fills_the_budget_and_never_exceeds_it(name, info, size, label, labels):
    budget = Budget(size, CONVENTIONS[label])
    params = fitted(name, info, budget, labels=labels)
    if isinstance(params, Unsupported):
        assert not fits(1, info, budget, labels) or (info.integral and labels == "fixed")
        return
    assert params["labels"] != "auto"
    assert fits(params["K"], info, budget, params["labels"])
    assert params["K"] == info.vertices or not fits(params["K"] + 1, info, budget, params["labels"])


def fits(count, info, budget, labels):
    """Whether the landmarks fit, computed without the methods of Budget."""
    width = info.label_bytes if info.integral or labels not in ("exact", "replay") else 8
    width = 4 if budget.convention in (PAPER, FOUR_BYTE) else width
    directed = info.declared_directed if budget.convention in (PAPER, AS_DECLARED) else not info.symmetric
    return count * width * (2 if directed else 1) <= budget.bytes_per_vertex


@given(st.sampled_from(METHODS), INFOS, BUDGETS, BUDGETS, st.sampled_from(sorted(CONVENTIONS)))
def test_more_memory_never_means_fewer_landmarks(name, info, one, other, label):
    counts = []
    for size in sorted([one, other]):
        params = fitted(name, info, Budget(size, CONVENTIONS[label]))
        counts.append(0 if isinstance(params, Unsupported) else params["K"])
    assert counts == sorted(counts)


@given(INFOS, BUDGETS, st.integers(1, 200))
def test_a_number_asked_for_is_kept_or_refused(info, size, count):
    params = fitted("alt", info, Budget(size), K=count)
    if fits(count, info, Budget(size), "auto"):
        assert params["K"] == min(count, info.vertices)
    else:
        assert isinstance(params, Unsupported)


def test_new_york_is_charged_as_declared_under_the_papers_convention():
    assert [fitted("alt", NEW_YORK, Budget(size, PAPER))["K"] for size in (32, 64, 128)] == [4, 8, 16]
    assert [fitted("alt", NEW_YORK, Budget(size, MEASURED))["K"] for size in (32, 64, 128)] == [8, 16, 32]


# Bounds that hold


@example_count(300)
@given(
    st.sampled_from(METHODS),
    graphs(max_vertices=9),
    st.sampled_from(CHOICES),
    st.sampled_from([8, 16, 40, 400]),
    st.sampled_from([MEASURED, PAPER]),
)
def test_every_bound_is_admissible_and_consistent(tmp_path_factory, name, graph, labels, size, convention):
    """On every pair; consistency on every arc from which the target is still reached, which is all a search needs."""
    net, budget = network(graph), Budget(size, convention)
    if name == "fps-rr10" and len(components.largest(graph)) < 2:
        return
    heuristic = built(name, net, tmp_path_factory.mktemp("pools"), budget, labels=labels)
    if heuristic is not None:
        assert_sound(heuristic, net)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("weights", [[3, 1, 4, 1, 5], [0.3, 0.1, 0.4, 0.1, 0.5]], ids=["integer", "float"])
@pytest.mark.parametrize("both_ways", [True, False], ids=["symmetric", "directed"])
def test_more_landmarks_than_the_component_has_vertices_are_all_of_them(tmp_path, name, weights, both_ways):
    """A ring of five and two vertices apart: at most five landmarks, which give every distance in the ring."""
    ring = np.arange(5)
    tails, heads, arcs = ring, (ring + 1) % 5, weights
    if both_ways:
        tails, heads, arcs = np.r_[tails, heads], np.r_[heads, tails], [*weights, *weights]
    graph = from_arcs(7, tails, heads, arcs)
    net = network(graph)
    heuristic = built(name, net, tmp_path, 4096)
    assert heuristic.arrays["rows"].shape == (7, 5 if both_ways else 10)
    sources, targets = all_pairs(graph)
    inside = (sources < 5) & (targets < 5) & (sources != targets)
    h = [deploy(heuristic, net).many([u], int(t))[0] for u, t in zip(sources[inside], targets[inside], strict=True)]
    assert h == pytest.approx(true_distances(graph)[sources[inside], targets[inside]], rel=1e-7)


# What may change a choice


def test_the_seed_changes_what_is_random_and_nothing_else(tmp_path):
    for name in METHODS:
        one, again, other = (built(name, road(), tmp_path, seed=seed) for seed in (1, 1, 2))
        assert the_same(one, again)
        assert the_same(one, other) == method(name).claims.deterministic, name


def test_the_first_of_a_pool_are_alt(tmp_path):
    for budget in (8, 32, 64):
        alt = built("alt", road(), tmp_path, budget)
        assert the_same(alt, built("alt-pool", road(), tmp_path, budget))
        assert the_same(alt, built("alt-pool", road(), tmp_path, budget, K0=1))


def test_a_random_subset_is_one_of_the_pool(tmp_path):
    pool = farthest_points(road(), 8)
    heuristic = built("random-subset", road(), tmp_path, 32, K0=8)
    chosen = heuristic.arrays["rows"][:, : heuristic.settings["forward"]].T
    positions = [np.flatnonzero((pool.forward == row).all(axis=1)).item() for row in chosen]
    assert len(set(positions)) == 4


@pytest.mark.parametrize("seed", [7, 8])
def test_of_ten_starts_the_best_on_validation_is_taken(tmp_path, seed):
    net, queries = road(), sample(road().graph, 30, seed=seed)
    taken = built("fps-rr10", net, tmp_path, validation=queries)
    starts = np.random.default_rng(1).choice(components.largest(net.graph), 10, replace=False)
    totals = {}
    for start in starts.tolist():
        rows = label_rows(farthest_points(net, 4, start=start))
        found = search(net, alt_layout(net, rows, 4), queries.sources, queries.targets)
        totals[int(found.expanded.sum())] = rows
    assert len(totals) > 5
    assert np.array_equal(taken.arrays["rows"], totals[min(totals)])


def test_without_validation_queries_nothing_is_chosen(tmp_path):
    with pytest.raises(UsageError, match="the protocol has none"):
        built("fps-rr10", road(), tmp_path, validation=NO_QUERIES)


def cell(name, folder, **queries):
    params = fitted(name, graph_info(road()), Budget(32))
    result = run_cell(cell_job(folder, method, name, params, graph="road-500", queries=QueryPlan(**queries), seed=3))
    assert result.outcome == "ok", result.reason
    return result


def test_test_queries_change_no_array(tmp_path):
    few, many = (cell("fps-rr10", tmp_path, validation=15, test=test) for test in (5, 40))
    assert few.facts["bytes"] == many.facts["bytes"]
    assert few.files["queries.csv"] != many.files["queries.csv"]
    other = {cell("fps-rr10", tmp_path, validation=count, test=5).facts["bundle"] for count in (1, 2, 3, 15)}
    assert len(other) > 1  # while validation queries do


# The paper's numbers, through the command


def test_the_stochastic_block_model_as_in_the_paper(tmp_path, monkeypatch):
    monkeypatch.delenv("AACBENCH_PLUGINS", raising=False)
    words = ("--protocol", "valsplit", "--graphs", "sbm-10k", "--methods", "alt")
    assert command("run", *words, "--out", tmp_path) == 0
    found = {(at.key["label"], at.key["budget"]): at for _, at in scan(tmp_path)}
    assert {at.outcome for at in found.values()} == {"ok"}
    files = {key: at.files["queries.csv"] for key, at in found.items()}
    base = read_queries(files["dijkstra", 32])["expanded"]
    assert (len(base), base[:100].mean()) == (200, 5330.00)
    for budget, published in ((32, 535.68), (64, 291.98), (128, 157.89)):
        rows = read_queries(files["alt", budget])
        assert round(float(rows["expanded"][:100].mean()), 2) == published
        assert np.array_equal(rows["split"], ["validation"] * 100 + ["test"] * 100)
    queries, net = sample(blocks().graph, 200), blocks()
    layout = alt_layout(net, label_rows(farthest_points(net, 8)), 8, margin=0.0)
    direct = search(net, layout, queries.sources, queries.targets, parse("paper"), threads=2)
    assert np.array_equal(read_queries(files["alt", 32])["expanded"], direct.expanded)
