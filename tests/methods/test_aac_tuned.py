"""The tuned compressor: examples against searches, the greedy start, the loss, and the result of training."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from late import Late
from method_builds import NO_QUERIES, assert_sound, built, expanded, method, road, the_same
from support import example_count, graphs, true_distances

from aacbench.bundle.deploy import deploy
from aacbench.contract.budget import PAPER, Budget
from aacbench.graphs import components, from_arcs
from aacbench.graphs.load import load
from aacbench.labels import farthest_points, of_landmarks, subset
from aacbench.plugins.methods.aac.examples import (
    Examples,
    draw_examples,
    draw_pairs,
    greedy,
    hold_out,
    prevention_tables,
    thin_out,
    training_tables,
)
from aacbench.queries.record import QuerySet
from aacbench.queries.sampling import sample
from aacbench.search import network, search

torch = Late("torch")
TUNED = "aacbench.plugins.methods.aac.tuned"
tuned = Late(TUNED)
QUICK = {"K0": 24, "pairs": 100, "epochs": 40, "batch": 512}


def splits(graph):
    queries = sample(graph, 300, seed=3)
    half = slice(0, 100), slice(100, 300)
    return [QuerySet(sources=queries.sources[part], targets=queries.targets[part]) for part in half]


# Examples


def remaining_expansions(tables, weight, picks):
    """The weight of the examples that the picked labels do not prevent."""
    prevented = np.zeros(len(weight), dtype=bool)
    for table, rows in zip(tables, picks, strict=True):
        prevented |= table[:, list(rows)].any(axis=1)
    return float(weight[~prevented].sum())


def every_example(net, source, target):
    """All vertices nearer to the source than the target."""
    exact = true_distances(net.graph).astype(np.int64)
    nearer = np.flatnonzero((exact[source] >= 0) & (exact[source] < exact[source, target]))
    need = exact[source, target] - exact[source, nearer]
    return Examples(nearer, np.full(len(nearer), target), need)


@pytest.mark.parametrize("name", ["road-120", "grid-8"])
def test_what_examples_leave_over_is_what_a_search_expands(name):
    """All vertices below the optimum are expanded, and those on it perhaps: they count half."""
    graph = load(name)
    net, matrices = network(graph), 1 if graph.symmetric else 2
    pool = farthest_points(net, 4)
    picks = (range(4),) * matrices
    layout = deploy(subset(net, pool, range(4)), net).searched
    for source, target in _pairs(graph):
        examples = every_example(net, source, target)
        found = search(net, layout, [source], [target])
        tables, weight = prevention_tables([pool], examples, matrices)
        below = int(found.below_optimum[0])
        bound = deploy(subset(net, pool, range(4)), net).many(examples.vertex, int(target))
        plateau = int((bound == examples.need).sum())
        hopeless = len(examples) - weight.sum()  # what none of the four prevents is left out
        assert remaining_expansions(tables, weight, picks) + hopeless == pytest.approx(below + plateau / 2)


def _pairs(graph):
    queries = sample(graph, 30, seed=2)
    return zip(queries.sources.tolist(), queries.targets.tolist(), strict=True)


def plain_tables(pool, examples, matrices):
    """As `prevention_tables`, with every example twice and none left out."""
    u, t, need = examples.vertex, examples.target, examples.need
    ahead, back = pool.forward[:, t] - pool.forward[:, u], pool.backward[:, u] - pool.backward[:, t]
    bounds = [np.abs(ahead)] if matrices == 1 else [ahead, back]
    tables = [np.concatenate([rows >= need, rows > need], axis=1).T for rows in bounds]
    return tables, np.full(2 * len(need), 0.5)


def drawn(net, count=50):
    inside, rng = components.largest(net.graph), np.random.default_rng(1)
    return draw_examples(net, inside, draw_pairs(NO_QUERIES, inside, count, rng), rng)


@pytest.mark.parametrize(("name", "matrices"), [("road-500", 2), ("grid-16", 1), ("grid-16", 2)])
def test_what_any_choice_leaves_over_differs_from_the_plain_count_by_what_no_label_prevents(name, matrices):
    net = network(load(name))
    pool, rng = farthest_points(net, 12), np.random.default_rng(2)
    for examples in drawn(net):
        tables, weight = prevention_tables([pool], examples, matrices)
        plain, halves = plain_tables(pool, examples, matrices)
        hopeless = remaining_expansions(plain, halves, [range(12)] * matrices)
        assert weight.sum() + hopeless == pytest.approx(len(examples))
        picks = [rng.choice(12, 3, replace=False) for _ in range(matrices)]
        assert remaining_expansions(tables, weight, picks) + hopeless == pytest.approx(
            remaining_expansions(plain, halves, picks)
        )


def test_examples_are_what_dijkstra_settles_before_each_target():
    net, exact = road(), true_distances(road().graph)
    inside = components.largest(net.graph)
    sources, targets = inside[[5, 5, 80]], inside[[9, 200, 7]]
    for source, examples in zip(
        (inside[5], inside[80]), draw_examples(net, inside, (sources, targets), np.random.default_rng(0)), strict=True
    ):
        for target in targets[sources == source]:
            mine = examples.target == target
            nearer = inside[exact[source, inside] < exact[source, target]]
            assert np.array_equal(examples.vertex[mine], nearer)  # all of them: there are fewer than would be drawn
            assert np.array_equal(examples.need[mine], exact[source, target] - exact[source, nearer])


def test_thinning_keeps_what_is_hard_and_the_sum_of_weights():
    rng = np.random.default_rng(3)
    shares = np.repeat([1 / 64, 0.9], 20_000)
    table = rng.random((40_000, 64)) < shares[:, None]
    kept, weight = thin_out([table], np.ones(40_000), (8,), rng)
    hard = kept[0].mean(axis=1) < 0.5
    assert 17_000 < hard.sum() < 20_000
    assert 300 < (~hard).sum() < 1000
    assert weight.sum() == pytest.approx(40_000, rel=0.05)
    assert weight[~hard].sum() == pytest.approx(20_000, rel=0.1)


def test_the_examples_of_all_sources_are_put_together():
    net = road()
    pool = farthest_points(net, 12)
    tables, weight = training_tables([pool], drawn(net), (2, 2), np.random.default_rng(1))
    assert [table.shape for table in tables] == [(len(weight), 12)] * 2
    whole = sum(prevention_tables([pool], some, 2)[1].sum() for some in drawn(net))
    assert weight.sum() == pytest.approx(whole, rel=0.1)
    nothing, none = training_tables([pool], iter(()), (2, 2), np.random.default_rng(1))
    assert (len(none), [table.shape for table in nothing]) == (0, [(0, 12)] * 2)


def test_training_pairs_are_those_given_or_else_drawn_by_the_seed():
    inside = np.arange(3, 50)
    given = QuerySet(sources=np.array([5, 60, 7, 8]), targets=np.array([9, 5, 1, 11]))
    sources, targets = draw_pairs(given, inside, 10, np.random.default_rng(1))
    assert (sources.tolist(), targets.tolist()) == ([5, 8], [9, 11])
    one, again = (draw_pairs(NO_QUERIES, inside, 10, np.random.default_rng(4)) for _ in range(2))
    assert np.array_equal(one, again)
    assert np.isin(one, inside).all()


@given(st.integers(0, 99), st.integers(1, 60), st.integers(1, 60), st.integers(1, 20))
def test_what_is_judged_on_is_never_trained_on(seed, drawn, count, most):
    ends = np.random.default_rng(seed).integers(0, 6, (2, drawn))
    train, judges = hold_out((ends[0], ends[1]), count, most)
    learnt, judged = set(zip(*train, strict=True)), set(zip(judges.sources, judges.targets, strict=True))
    assert not learnt & judged
    assert len(judges) <= most
    assert learnt | judged >= {(s, t) for s, t in ends.T if s != t}


@pytest.mark.parametrize("given_pairs", [True, False])
@pytest.mark.parametrize("validated", [True, False])
def test_candidates_are_judged_on_validation_and_on_pairs_hold_out(tmp_path, monkeypatch, given_pairs, validated):
    validation, other = splits(road().graph)
    train = other if given_pairs else NO_QUERIES
    seen = {}
    monkeypatch.setattr(f"{TUNED}.expansions", lambda context, labels, queries: seen.update(judges=queries) or 1)
    examples = tuned.draw_examples
    monkeypatch.setattr(f"{TUNED}.draw_examples", lambda *given: seen.update(pairs=given[2]) or examples(*given))
    shown = validation if validated else NO_QUERIES
    built("aac-tuned", road(), tmp_path, train=train, validation=shown, **{**QUICK, "epochs": 0})
    judges = list(zip(seen["judges"].sources, seen["judges"].targets, strict=True))
    assert judges[: len(shown)] == list(zip(shown.sources, shown.targets, strict=True))
    assert len(judges) - len(shown) >= (90 if given_pairs else 390)
    assert len(seen["pairs"][0]) >= 90
    assert not set(judges[len(shown) :]) & set(zip(*seen["pairs"], strict=True))


# The greedy start


def plain_greedy(tables, weight, rows):
    """The same with every gain computed each time."""
    left, taken = weight.copy(), [[] for _ in rows]
    while any(len(found) < count for found, count in zip(taken, rows, strict=True)):
        gains = {
            (side, k): left[tables[side][:, k]].sum()
            for side, count in enumerate(rows)
            for k in range(tables[side].shape[1])
            if len(taken[side]) < count and k not in taken[side]
        }
        side, k = max(gains, key=lambda at: (gains[at], -at[0], -at[1]))
        taken[side].append(k)
        left[tables[side][:, k]] = 0
    return tuple(map(tuple, taken))


@given(st.integers(0, 9999), st.integers(1, 6), st.integers(0, 30), st.booleans())
def test_gains_kept_up_to_date_are_greedy(seed, columns, examples, directed):
    rng = np.random.default_rng(seed)
    tables = [rng.random((examples, columns)) < 0.3 for _ in range(1 + directed)]
    weight = rng.integers(1, 9, examples).astype(np.float64)
    rows = tuple(int(rng.integers(0, columns + 1)) for _ in tables)
    assert greedy(tables, weight, rows) == plain_greedy(tables, weight, rows)


# The loss


@example_count(20)
@given(st.integers(0, 999))
def test_the_loss_is_the_share_left_over_and_its_gradient_what_a_swap_would_prevent(seed):
    torch.manual_seed(seed)
    case = torch.rand(40, 5) < 0.3
    rows = torch.nn.functional.one_hot(torch.randint(0, 5, (3,)), 5).float().requires_grad_()
    loss = (1 - case.float() @ rows.T).prod(dim=1).mean()
    picked = rows.argmax(dim=1).tolist()
    table, weight = case.numpy(), np.full(40, 1 / 40)
    assert loss.item() == pytest.approx(remaining_expansions([table], weight, [picked]))
    loss.backward()
    for row, k in itertools.product(range(3), range(5)):
        others = picked[:row] + picked[row + 1 :]
        gain = remaining_expansions([table], weight, [others]) - remaining_expansions([table], weight, [[*others, k]])
        assert -float(rows.grad[row, k]) == pytest.approx(gain, abs=1e-6)


def test_sure_rows_lose_what_they_leave_over():
    case = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]])
    logits = torch.tensor([[200.0, 0, 0], [0, 200.0, 0]])
    assert float(tuned.expected_expansions([logits], [case])) == 0.5


def test_rows_that_pick_the_same_take_their_next_choice():
    logits = torch.tensor([[3.0, 2, 1], [9.0, 1, 2], [7.0, 5, 6]])
    assert tuned.distinct([logits]) == ((0, 2, 1),)


# What comes out


def test_it_expands_less_than_alt_and_training_alone_less_than_its_start(tmp_path):
    graph = load("road-2000")
    net, (validation, test) = network(graph), splits(graph)
    given = {"validation": validation, "K0": 64, "pairs": 300, "batch": 1024}
    alt = built("alt", net, tmp_path, 32)
    both, gradient = (built("aac-tuned", net, tmp_path, 32, init=init, **given) for init in ("greedy", "block-sparse"))
    start = built("aac", net, tmp_path, 32, K0=64, epochs=0)
    assert gradient.facts["rows_moved"] > 0
    for policy in ("paper", "modern"):
        totals = [expanded(net, one, test, policy).sum() for one in (both, gradient, alt, start)]
        assert totals[0] < totals[2]
        assert totals[1] < totals[3]


def test_where_alts_own_choice_validates_best_it_is_deployed(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{TUNED}.train_rows", lambda *_: {0: ((0, 0), (0, 0))})
    validation, _ = splits(road().graph)
    fallen = built("aac-tuned", road(), tmp_path, 16, validation=validation, **QUICK)
    assert fallen.facts["epoch"] == tuned.FIRST
    assert the_same(fallen, built("alt", road(), tmp_path, 16))


def test_of_start_and_checkpoints_the_best_on_the_judges_is_taken(tmp_path, monkeypatch):
    judged = []
    real = tuned.expansions
    monkeypatch.setattr(f"{TUNED}.expansions", lambda *given: judged.append((given[2], real(*given))) or judged[-1][1])
    heuristic = built("aac-tuned", road(), tmp_path, **QUICK)
    queries, totals = judged[0][0], [total for _, total in judged]
    assert heuristic.facts["expanded"] == expanded(road(), heuristic, queries).sum() == min(totals)
    assert heuristic.facts["expanded_at_start"] == totals[0]
    assert heuristic.facts["unique_ratio"] == 1.0
    assert totals[-1] == expanded(road(), built("alt", road(), tmp_path), queries).sum()


def test_with_a_row_for_every_landmark_it_is_the_whole_pool(tmp_path):
    whole = built("aac-tuned", road(), tmp_path, 4096, K0=8, pool="fps")
    assert the_same(whole, built("alt", road(), tmp_path, 4096, K=8))


def test_the_same_seed_gives_the_same_bytes_and_another_another(tmp_path):
    one, again, other = (built("aac-tuned", road(), tmp_path, 32, seed, **QUICK) for seed in (1, 1, 2))
    assert the_same(one, again)
    assert not the_same(one, other)
    assert not method("aac-tuned").claims.deterministic


def test_it_learns_from_the_training_queries_that_are_given(tmp_path):
    """All the same source and target region: another selection than for pairs from everywhere."""
    corner = np.flatnonzero(np.isin(np.arange(500), components.largest(road().graph)))[:40]
    train = QuerySet(sources=np.repeat(corner, 2)[:80], targets=np.tile(corner[::-1], 2)[:80])
    assert not the_same(
        built("aac-tuned", road(), tmp_path, train=train, **QUICK), built("aac-tuned", road(), tmp_path, **QUICK)
    )


@example_count(20)
@given(graphs(max_vertices=10), st.sampled_from([8, 16, 400]), st.integers(0, 99))
def test_bounds_hold_on_graphs_of_every_kind(tmp_path_factory, graph, size, seed):
    net, quick = network(graph), {"K0": 6, "pairs": 20, "epochs": 8, "batch": 32}
    heuristic = built("aac-tuned", net, tmp_path_factory.mktemp("pools"), size, seed, **quick)
    if heuristic is not None:
        assert_sound(heuristic, net)


def test_a_single_vertex_is_built(tmp_path):
    lone = network(from_arcs(1, [], [], np.empty(0, dtype=np.int64)))
    assert built("aac-tuned", lone, tmp_path).arrays["rows"].shape == (1, 1)


def test_under_the_papers_convention_a_declared_direction_is_charged(tmp_path):
    graph = replace(load("grid-16"), declared_directed=True)
    heuristic = built("aac-tuned", network(graph), tmp_path, Budget(32, PAPER), **QUICK)
    assert heuristic.settings == {"forward": 4}
    assert heuristic.arrays["rows"].shape[1] == 8


def test_two_pools_are_joined():
    one, other = of_landmarks(road(), [3, 5]), of_landmarks(road(), [8])
    both = tuned.joined([one, other])
    assert both.landmarks.tolist() == [3, 5, 8]
    assert np.array_equal(both.backward, of_landmarks(road(), [3, 5, 8]).backward)
