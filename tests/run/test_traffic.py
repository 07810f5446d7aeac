"""Traffic in a run: built on the graph's weights, searched and audited on raised ones, never mixed with other cells."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import small_studies as studies
from method_builds import fitted, method
from single_cells import cell_job
from support import true_distances

from aacbench.contract.budget import Budget
from aacbench.contract.method import Method, ScalarHeuristic
from aacbench.graphs.load import load
from aacbench.graphs.record import from_edges
from aacbench.graphs.traffic import parse_traffic, raised_weights
from aacbench.labels.graph_info import graph_info
from aacbench.reports import tables
from aacbench.run import driver
from aacbench.run.driver import run_study
from aacbench.run.measure import run_cell
from aacbench.run.records import QueryPlan, SearchedGraph
from aacbench.run.replay import replay
from aacbench.run.rows import read_queries
from aacbench.run.study import planned_cells, protocol_digest
from aacbench.run.timing import TIMINGS, time_study
from aacbench.search import dijkstra, network
from aacbench.search.networks import with_weights

HEAVY = "arcs[share=0.3,factor=3]"
QUERIES = QueryPlan(validation=10, test=20)


def measured(folder, name, graph="road-500", traffic=HEAVY, method_of=method, **settings):
    """A cell under traffic, built and measured here."""
    params = fitted(name, graph_info(network(load(graph))), Budget(64), **settings) if method_of is method else {}
    job = cell_job(folder, method_of, name, params, graph=graph, queries=QUERIES, budget=64)
    plan = replace(job.plan, graph=f"{graph}+{traffic}", traffic=traffic) if traffic else job.plan
    return run_cell(replace(job, plan=plan))


def test_searches_and_references_are_on_the_raised_weights(tmp_path):
    result = measured(tmp_path, "alt")
    rows, net = read_queries(result.files["queries.csv"]), network(load("road-500"))
    changed = with_weights(net, raised_weights(net.graph, parse_traffic(HEAVY)))
    expected = dijkstra(changed, rows["source"], rows["target"]).cost
    assert result.outcome == "ok"
    assert np.array_equal(rows["cost"], expected)
    assert np.array_equal(rows["reference_cost"], expected)
    assert (expected > dijkstra(net, rows["source"], rows["target"]).cost).any()
    assert result.facts["audit"]["consistent"]
    assert result.facts["traffic"]["arcs_raised"] > 0
    assert result.facts["traffic"]["graph_digest"] == changed.graph.digest


def stretched(factor):
    """A method whose bound is the distance on the weights it was built on, times a factor."""

    def build(context):
        exact = true_distances(context.graph)
        return ScalarHeuristic(lambda u, t: factor * exact[u, t])

    return Method("stretched", "h = factor * d", lambda budget, info, params: params, build)


@pytest.mark.parametrize(("traffic", "outcome"), [("", "wrong"), ("network[factor=2,draw=same]", "ok")])
def test_bounds_are_audited_against_the_raised_weights(tmp_path, traffic, outcome):
    result = measured(tmp_path, "stretched", "road-60", traffic, lambda name: stretched(1.5))
    assert result.outcome == outcome, result.reason


def test_a_bound_above_the_raised_weights_is_still_wrong(tmp_path):
    result = measured(tmp_path, "stretched", "road-60", "network[factor=1.2,draw=same]", lambda name: stretched(1.5))
    assert result.outcome == "wrong"
    assert result.reason.startswith("not admissible")


# Goal searches, which read the raised weights


def bearing(claim, name):
    """CDH with another claim about traffic."""
    cdh = method(name)

    def build(context):
        heuristic = cdh.build(context)
        return replace(heuristic, goal=replace(heuristic.goal, bears_traffic=claim))

    return replace(cdh, build=build)


def cdh_under_traffic(folder, graph, claim, traffic=HEAVY, budget=64, graph_of=load, **settings):
    params = fitted("cdh", graph_info(network(graph_of(graph))), Budget(budget), **settings)
    of, more = partial(bearing, claim), {"graph_of": graph_of}
    job = cell_job(folder, of, "cdh", params, graph=graph, queries=QUERIES, budget=budget, **more)
    return run_cell(replace(job, plan=replace(job.plan, graph=f"{graph}+{traffic}", traffic=traffic)))


def test_cdh_stays_admissible_on_directed_graphs(tmp_path):
    result = measured(tmp_path, "cdh")
    assert result.outcome == "ok", result.reason
    assert result.facts["audit"]["violations"]["admissible"] == 0


def test_cdh_is_unsupported_on_symmetric_graphs(tmp_path):
    result = measured(tmp_path, "cdh", "grid-16")
    assert result.outcome == "unsupported"
    assert "have risen since it was built" in result.reason


def line_to_a_pivot(name):
    """The line 0 - 3 - 1 - 2, where vertex 0 is the pivot that 0 and 3 store."""
    return from_edges(4, [0, 3, 1], [3, 1, 2], [1, 10, 100], name=name)


def test_the_refusal_is_needed(tmp_path):
    """After 0 - 3 rose to 10, d(0, 1) is 20; less d(0, 3) = 1 as built, that is no bound on the 10 from 3 to 1."""
    jam = "arcs[share=0.33,factor=10,draw=same,seed=1]"
    raised = raised_weights(line_to_a_pivot(""), parse_traffic(jam))
    assert raised.tolist() == [10, 100, 10, 100, 10, 10]
    result = cdh_under_traffic(tmp_path, "line", True, jam, 4, line_to_a_pivot, P=3, assign="round-robin")
    assert result.outcome == "wrong"
    assert "h(3, 1) = 19 exceeds the distance 10" in result.reason


def test_a_goal_search_without_the_claim_is_refused_everywhere(tmp_path):
    assert cdh_under_traffic(tmp_path, "road-500", False).outcome == "unsupported"


def test_a_goal_search_that_visits_nothing_needs_no_claim(tmp_path):
    assert measured(tmp_path, "cdh-paper").outcome == "ok"


@pytest.mark.parametrize(("labels", "outcome"), [("for16", "ok"), ("cover", "unsupported"), ("packed", "unsupported")])
def test_labels_that_are_decoded_by_arcs_are_unsupported(tmp_path, labels, outcome):
    result = measured(tmp_path, "alt", "grid-16", labels=labels)
    assert result.outcome == outcome, result.reason
    assert (outcome == "ok") == (result.reason == "")
    assert outcome == "ok" or "for best, name candidates with such labels" in result.reason


# A study with traffic


@pytest.fixture(scope="module")
def study():
    return studies.study("alt", graphs=("road-60",), traffic=("none", HEAVY), queries=QUERIES)


@pytest.fixture(scope="module")
def run(tmp_path_factory, study):
    root = tmp_path_factory.mktemp("traffic") / "study"
    config = studies.config(root)
    builds = []
    with pytest.MonkeyPatch.context() as patch:
        before = driver.built_before
        patch.setattr(driver, "built_before", lambda cell, vertices: builds.append(cell) or before(cell, vertices))
        run_study(study, config)
    return config, builds


def test_studies_without_traffic_keep_their_digests(study):
    plain = replace(study, traffic=())
    assert "traffic" not in plain.record()
    assert protocol_digest(plain) != protocol_digest(study)


def test_names_tell_the_traffic():
    assert SearchedGraph("city=file:a.gr", HEAVY).name == f"city+{HEAVY}"
    assert SearchedGraph("road-60", "none").name == "road-60"


def test_cells_are_told_apart_and_share_one_bundle(run):
    config, builds = run
    cells = {(cell.key["graph"], cell.key["label"]): cell for cell in planned_cells(config.root)}
    assert set(cells) == {(graph, label) for graph in ("road-60", f"road-60+{HEAVY}") for label in ("dijkstra", "alt")}
    still, moved = (cells[graph, "alt"] for graph in ("road-60", f"road-60+{HEAVY}"))
    assert "traffic" not in still.key
    assert moved.key["traffic"] == HEAVY
    assert still.record["bundle"] == moved.record["bundle"]
    assert {cell.cell_id for cell in builds} >= {still.cell_id}


def test_reductions_are_against_dijkstra_under_the_same_traffic(run):
    rows = tables.rows_of(planned_cells(run[0].root))
    by_place = {(row.traffic, row.method): row for row in rows}
    for traffic in ("", HEAVY):
        alt, base = by_place[traffic, "alt"], by_place[traffic, "dijkstra"]
        assert alt.reduction == pytest.approx(100 * (1 - alt.test / base.test))
    shown = tables.markdown(rows)
    assert f"| road-60 | {HEAVY}" in " ".join(shown.split())


def test_a_cell_under_traffic_is_replayed_and_timed(run):
    config, _ = run
    cell = next(cell for cell in planned_cells(config.root) if "traffic" in cell.key and cell.key["label"] == "alt")
    assert all(line.agrees for line in replay(config, cell))
    timed = time_study(config, [cell.cell_id], repetitions=1)
    assert timed == [cell.cell_id]
    again = next(found for found in planned_cells(config.root) if found.cell_id == cell.cell_id)
    assert TIMINGS in again.files
