"""AAC as published: fitting, replay of the published runs, admissibility after any training, and controls."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from late import Late
from method_builds import NEW_YORK as NY
from method_builds import allowed, blocks, built, context, expanded, fitted, method, road, the_same
from single_cells import cell_job
from support import example_count, graphs, true_distances

from aacbench.bundle.deploy import deploy
from aacbench.contract.budget import MEASURED, PAPER, Budget
from aacbench.contract.method import MaxHeuristic, Unsupported
from aacbench.errors import UsageError
from aacbench.graphs import components, from_arcs
from aacbench.graphs.load import load
from aacbench.labels import farthest_points
from aacbench.labels.graph_info import graph_info
from aacbench.plugins.settings import resolve
from aacbench.queries.sampling import sample
from aacbench.run.measure import run_cell
from aacbench.run.records import QueryPlan
from aacbench.search import network

building = Late("aacbench.plugins.methods.aac.building")
compressor = Late("aacbench.plugins.methods.aac.compressor")
training = Late("aacbench.plugins.methods.aac.training")
SEEDS = (42, 123, 456, 789, 1024)
EPOCHS = (0, 1, 5, 10, 50)


def picks(heuristic, pool):
    """The positions in the pool of the labels of the first matrix."""
    count = heuristic.settings.get("both", heuristic.settings.get("forward"))
    return [np.flatnonzero((pool.forward == row).all(axis=1)).item() for row in heuristic.arrays["rows"].T[:count]]


# Declared without torch


def test_declaring_and_fitting_import_no_torch():
    code = (
        "import sys\n"
        "from aacbench.contract.budget import Budget, GraphInfo\n"
        "from aacbench.plugins.manager import load_plugins\n"
        "from aacbench.plugins.settings import resolve\n"
        "aac = load_plugins().method('aac').method\n"
        "print(aac.fit(Budget(32), GraphInfo('g', 99, 99, True, True, True, 4), resolve(aac, {}))['m'])\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["8", "False"]


# What fits


def test_new_york_has_two_matrices_as_declared_and_one_by_its_arcs():
    for size in (32, 64, 128):
        declared, arcs = fitted("aac", NY, Budget(size, PAPER)), fitted("aac", NY, Budget(size, MEASURED))
        assert (declared["m"], declared["directions"]) == (size // 4, "two")
        assert (arcs["m"], arcs["directions"]) == (size // 4, "one")


def test_one_matrix_where_two_are_charged_holds_half():
    assert fitted("aac", NY, Budget(32, PAPER), directions="one")["m"] == 4
    assert isinstance(fitted("aac", replace(NY, symmetric=False), Budget(32), directions="one"), Unsupported)


def test_rows_are_no_more_than_the_pool_has():
    assert fitted("aac", NY, Budget(512), K0=32)["m"] == 32
    assert fitted("aac", NY, Budget(512, PAPER), K0=32)["m"] == 64
    assert fitted("aac", NY, Budget(16), K0=0)["K0"] == 16
    assert fitted("aac", replace(NY, vertices=5), Budget(512))["m"] == 5
    assert isinstance(fitted("forced-first-m", NY, Budget(4, PAPER)), Unsupported)


@pytest.mark.parametrize("name", ["aac", "aac-tuned", "forced-first-m"])
def test_labels_that_are_asked_for_and_cannot_be_had_are_unsupported(name):
    few, five = fitted(name, NY, Budget(32), m=8, K0=4), fitted(name, replace(NY, vertices=5), Budget(32), m=8)
    assert few == Unsupported("8 labels cannot be chosen from 4 landmarks, which have 4")
    assert five == Unsupported("8 labels cannot be chosen from 5 landmarks, which have 5")
    assert fitted(name, NY, Budget(32), m=9) == Unsupported("9 labels do not fit 32 bytes per vertex; 8 do")
    both = replace(NY, symmetric=False)
    assert fitted(name, both, Budget(32), m=8, K0=4)["m"] == 8
    odd = fitted(name, both, Budget(32), m=3)
    assert isinstance(odd, Unsupported) if name == "forced-first-m" else odd["m"] == 3


# The published runs


@pytest.mark.parametrize(
    ("size", "seed_42", "mean", "deviation", "doubled"),
    [(32, 573.44, 88.69, 0.6, 93.57), (64, 307.31, 94.02, 0.54, 96.69)],
    ids=["32", "64"],
)
def test_the_published_runs_on_the_block_model_replay(tmp_path, size, seed_42, mean, deviation, doubled):
    net, queries = blocks(), sample(blocks().graph, 100)
    runs = [built("aac", net, tmp_path, Budget(size, PAPER), seed, K0=size) for seed in SEEDS]
    means = [expanded(net, run, queries, "paper").mean() for run in runs]
    assert means[0] == seed_42
    # One published run in thirty is known not to replay on another machine: the mean may be off by a little.
    assert abs(100 * (1 - np.mean(means) / 5330.00) - mean) < deviation / 2
    # Both at the whole budget; at half of twice the budget it is the same heuristic, and the same published figure.
    alt = built("alt", net, tmp_path, Budget(size, PAPER))
    larger = [expanded(net, MaxHeuristic((run, alt)), queries, "paper").mean() for run in runs]
    assert abs(100 * (1 - np.mean(larger) / 5330.00) - doubled) < 0.1
    if size == 32:
        assert picks(runs[0], farthest_points(net, 32)) == [0, 4, 9, 13, 18, 23, 27, 29]
        told = {"epoch": 200, "rows": 8, "unique_ratio": 1.0, "rows_beyond_first": 6, "rows_moved": 0}
        assert told.items() <= runs[0].facts.items()
        assert runs[0].facts["distinct_landmarks"] == 8


# Controls


def test_forced_on_the_first_rows_it_is_alt(tmp_path):
    directed = road()  # by its arcs
    for budget in (8, 32, 64):
        forced = built("forced-first-m", directed, tmp_path, budget)
        assert the_same(forced, built("alt", directed, tmp_path, budget))
        assert forced.facts["rows_beyond_first"] == 0
    symmetric = network(load("grid-16"))
    assert the_same(built("forced-first-m", symmetric, tmp_path, 32), built("alt", symmetric, tmp_path, 32))


def test_forced_on_a_symmetric_graph_that_is_declared_directed_it_holds_what_alt_holds(tmp_path):
    net, budget = network(replace(load("grid-16"), declared_directed=True)), Budget(32, PAPER)
    forced, alt = (built(name, net, tmp_path, budget) for name in ("forced-first-m", "alt"))
    assert alt.arrays["rows"].shape[1] == 4
    assert the_same(forced, alt)


def test_forced_with_two_matrices_on_a_symmetric_graph_expands_as_alt(tmp_path):
    graph = replace(load("grid-16"), declared_directed=True)
    net, queries, budget = network(graph), sample(graph, 50), Budget(32, PAPER)
    forced, alt = built("forced-first-m", net, tmp_path, budget, directions="two"), built("alt", net, tmp_path, budget)
    assert (forced.arrays["rows"].shape[1], alt.arrays["rows"].shape[1]) == (8, 4)
    for policy in ("paper", "modern"):
        assert np.array_equal(expanded(net, forced, queries, policy), expanded(net, alt, queries, policy))


def test_an_identity_start_stays_alt_under_the_papers_training(tmp_path):
    trained = built("aac", road(), tmp_path, 32, init="identity")
    assert the_same(trained, built("alt", road(), tmp_path, 32))


@pytest.mark.parametrize("name", ["road-500", "grid-16"], ids=["directed", "symmetric"])
def test_with_a_row_for_every_landmark_it_is_the_teacher(tmp_path, name):
    net = network(load(name))
    teacher = built("alt", net, tmp_path, 4096, K=8)
    for rate in (1e-3, 1.0):
        trained = built("aac", net, tmp_path, 4096, K0=8, lr=rate)
        assert the_same(trained, teacher)
        assert (trained.facts["unique_ratio"], trained.facts["rows_moved"]) == (1.0, 0)


# Bounds that hold at every epoch


def violations(net, heuristic):
    graph, exact = net.graph, true_distances(net.graph)
    many, count = deploy(heuristic, net).many, 0
    for target in range(graph.vertices):
        h = many(np.arange(graph.vertices), target).astype(np.float64)
        limit = np.where(exact[:, target] < 0, np.inf, exact[:, target])
        count += int((h > allowed(limit, graph)).sum())
    return count


@example_count(15)
@given(graphs(max_vertices=10), st.sampled_from([8, 16, 400]), st.sampled_from([MEASURED, PAPER]), st.integers(0, 99))
def test_no_epoch_breaks_admissibility(tmp_path_factory, graph, size, convention, seed):
    """Training with a learning rate that really moves, on graphs of every kind, at the paper's checkpoints."""
    net, budget = network(graph), Budget(size, convention)
    labels = "auto" if convention is MEASURED else "exact"
    params = fitted("aac", graph_info(net), budget, K0=6, labels=labels)
    if isinstance(params, Unsupported):
        return
    made = context(net, tmp_path_factory.mktemp("pools"), params, seed)
    pool, inside = made.pools.selected("fps", made.params["K0"]), components.largest(graph)
    schedule = training.Schedule(epochs=50, batch=16, lr=0.3, lambda_uniq=0.1, lambda_cov=0.1)
    rows = building.row_counts(made, len(pool))
    kept = training.train(pool, inside, rows, compressor.block_sparse, schedule, seed, set(EPOCHS))
    assert set(kept) == set(EPOCHS)
    for chosen in set(kept.values()):
        assert violations(net, building.heuristic_of(made, pool, chosen, {})) == 0


def test_a_bound_that_is_too_high_would_be_seen(tmp_path):
    heuristic = built("aac", road(), tmp_path, epochs=0)
    rows = heuristic.arrays["rows"] * 2
    assert violations(road(), replace(heuristic, arrays={"rows": rows})) > 0


@pytest.mark.parametrize("vertices", [1, 3])
def test_graphs_smaller_than_the_pool_are_built(tmp_path, vertices):
    ring = np.arange(vertices)
    graph = from_arcs(vertices, ring, (ring + 1) % vertices, np.ones(vertices, dtype=np.int64))
    heuristic = built("aac", network(graph), tmp_path, 400)
    assert heuristic.arrays["rows"].shape[1] == 2 * len(components.largest(graph)) or vertices == 1
    assert violations(network(graph), heuristic) == 0


# What may change a choice


def test_the_same_seed_gives_the_same_bytes_and_another_another(tmp_path):
    one, again, other = (built("aac", road(), tmp_path, 64, seed, epochs=20) for seed in (1, 1, 2))
    assert the_same(one, again)
    assert one.facts == again.facts
    assert not the_same(one, other)
    assert not method("aac").claims.deterministic


def test_threads_and_the_random_state_of_torch_are_left_alone(tmp_path):
    import torch

    before = torch.get_num_threads()
    results = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            torch.manual_seed(threads)
            state = torch.get_rng_state()
            results.append(built("aac", road(), tmp_path, 64, epochs=20))
            assert torch.get_num_threads() == threads
            assert torch.equal(torch.get_rng_state(), state)
    finally:
        torch.set_num_threads(before)
    assert the_same(*results)


def test_a_checkpoint_is_the_selection_of_that_epoch_and_of_several_the_best_on_validation(tmp_path):
    moving = {"lr": 0.3, "K0": 16, "epochs": 50}
    at = {e: built("aac", road(), tmp_path, 32, checkpoints=str(e), **moving) for e in EPOCHS}
    assert {e: heuristic.facts["epoch"] for e, heuristic in at.items()} == {e: e for e in EPOCHS}
    assert at[0].facts["rows_moved"] == 0
    assert at[50].facts["rows_moved"] > 0
    assert the_same(at[50], built("aac", road(), tmp_path, 32, **moving))
    queries = sample(road().graph, 40, seed=9)
    totals = {e: int(expanded(road(), one, queries).sum()) for e, one in at.items()}
    assert len(set(totals.values())) > 2
    chosen = built("aac", road(), tmp_path, 32, validation=queries, checkpoints="+".join(map(str, EPOCHS)), **moving)
    assert totals[chosen.facts["epoch"]] == min(totals.values())


def test_a_choice_without_validation_and_epochs_that_are_none_are_refused(tmp_path):
    with pytest.raises(UsageError, match="the protocol has none"):
        built("aac", road(), tmp_path, checkpoints="1+5", epochs=5)
    for text in ("300", "1,5", "last"):
        with pytest.raises(UsageError, match="checkpoints must be epochs from 0 to 200"):
            resolve(method("aac"), {"checkpoints": text})
    assert resolve(method("aac"), {"checkpoints": "300", "epochs": 300})["checkpoints"] == "300"


def test_one_checkpoint_may_be_given_as_the_number_that_a_command_line_reads(tmp_path):
    assert built("aac", road(), tmp_path, checkpoints=10, epochs=10).facts["epoch"] == 10


def test_other_pools_are_asked_for_by_name(tmp_path):
    """The pool service gets the selector and the size, as from ALT, so that both share one pool."""
    params, asked = fitted("aac", graph_info(road()), Budget(32), pool="avoid", K0=20, epochs=1), []
    made = context(road(), tmp_path, params, seed=7)

    class Pools:
        def selected(self, *request):
            asked.append(request)
            return farthest_points(road(), 20)

    method("aac").build(replace(made, pools=Pools()))
    assert asked == [("avoid", 20)]


def cell(folder, params, build=None):
    made = method("aac") if build is None else replace(method("aac"), build=build)
    queries = QueryPlan(validation=5, test=5)
    return run_cell(cell_job(folder, lambda _: made, "aac", params, graph="road-500", queries=queries, seed=3))


def test_the_statistics_are_in_the_cells_record(tmp_path):
    params = fitted("aac", graph_info(road()), Budget(32), epochs=5)
    result = cell(tmp_path, params)
    assert (result.outcome, result.reason) == ("ok", "")
    recorded = result.facts["build"]["facts"]
    assert recorded.keys() == {"epoch", "rows", "unique_ratio", "rows_beyond_first", "rows_moved"}
    assert recorded["epoch"] == 5


@pytest.mark.parametrize("value", ["many", float("nan"), np.float64(1)], ids=["text", "nan", "numpy"])
def test_a_fact_that_is_no_finite_number_is_refused(tmp_path, value):
    params = fitted("aac", graph_info(road()), Budget(32), epochs=0)
    with pytest.raises(UsageError, match="fact 'rows' must be a finite int or float"):
        cell(tmp_path, params, lambda made: replace(method("aac").build(made), facts={"rows": value}))
