"""`ch` and `ch-core`: exact within the budget, refusals, forms, and small defects that a named check finds."""

from dataclasses import replace

import numpy as np
import pytest
from bundled import is_the_same_from_its_bundle
from method_builds import assert_sound, built, context, fitted, method, road

from aacbench.bundle.deploy import deploy
from aacbench.bundle.inventory import inventory
from aacbench.contract.budget import Budget
from aacbench.contract.method import Unsupported
from aacbench.graphs.load import load
from aacbench.graphs.record import from_arcs, from_edges
from aacbench.labels.graph_info import graph_info
from aacbench.labels.hierarchy import packed, plain, stored
from aacbench.labels.hierarchy.contraction import NONE, contract
from aacbench.queries.sampling import sample
from aacbench.run.fitting import checked_refusal
from aacbench.search import network, search
from aacbench.testing import check_method, zoo
from aacbench.testing.report import FAILED


def bytes_per_vertex(heuristic, net):
    return inventory(heuristic, net.graph.vertices).bytes_per_vertex


def refusal(name, net, folder, budget, **given):
    """What `build` answers where it refuses."""
    params = fitted(name, graph_info(net), Budget(budget), **given)
    answer = method(name).build(context(net, folder, params))
    assert isinstance(answer, Unsupported)
    return answer


def test_only_the_vertices_of_a_shortest_path_are_expanded(tmp_path):
    net, queries = road(), sample(road().graph, 60)
    for pack in ("plain", "bytes"):
        layout = deploy(built("ch", net, tmp_path, 256, pack=pack), net).searched
        found = search(net, layout, queries.sources, queries.targets)
        assert (found.expanded == found.path_edges + 1).all()
        assert (found.h_source == found.cost).all()
        assert (found.h_work >= found.expanded).all()


@pytest.mark.parametrize("weights", ["zeros", "floats"])
def test_ties_and_rounding_expand_more_than_a_path(tmp_path, weights):
    """As docs/methods/ch.md and docs/records.md say: the floor is reached on whole weights above 0 only."""
    grid, rng = load("grid-32"), np.random.default_rng(0)
    lengths = rng.integers(0, 4, grid.arcs) if weights == "zeros" else rng.choice([1, 2**0.5], grid.arcs)
    net = network(from_arcs(grid.vertices, grid.sources, grid.indices, lengths))
    queries = sample(net.graph, 60)
    layout = deploy(built("ch", net, tmp_path, 512), net).searched
    found = search(net, layout, queries.sources, queries.targets)
    assert found.expanded.mean() > (found.path_edges + 1).mean()


def test_the_fastest_form_that_fits_is_taken(tmp_path):
    net = road()
    sizes = {pack: bytes_per_vertex(built("ch", net, tmp_path, 256, pack=pack), net) for pack in ("plain", "bytes")}
    assert sizes["bytes"] < 0.6 * sizes["plain"]
    roomy, tight = (built("ch", net, tmp_path, size) for size in (256, sizes["plain"] - 1))
    assert ("up_arcs" in roomy.arrays, "up_arcs" in tight.arrays) == (True, False)
    assert (roomy.chosen, tight.chosen) == ({"pack": "plain"}, {"pack": "bytes"})
    needed = refusal("ch", net, tmp_path, sizes["bytes"] / 2).bytes_needed
    assert needed == pytest.approx(sizes["bytes"] * net.graph.vertices, abs=64)
    assert refusal("ch", net, tmp_path, sizes["bytes"], pack="plain").bytes_needed > needed


@pytest.mark.parametrize("pack", ["plain", "bytes"])
def test_long_distances_have_longer_scratch(tmp_path, pack):
    """Below 2^30 it is of 4 bytes a number; the same lengths times so much give the same bounds times as much."""
    graph = load("road-120")
    far = 2**31 // int(graph.weights.min())
    nets = network(graph), network(from_arcs(graph.vertices, graph.sources, graph.indices, graph.weights * far))
    near, long = (built("ch", net, tmp_path, 1024, pack=pack) for net in nets)
    assert [each.goal.scratch["value"].dtype for each in (near, long)] == ["int32", "int"]
    tables = [deploy(each, net) for each, net in zip((near, long), nets, strict=True)]
    vertices = np.arange(graph.vertices)
    for t in range(0, graph.vertices, 7):
        assert (tables[1].many(vertices, t) == tables[0].many(vertices, t) * far).all()


def test_the_bytes_named_are_enough_as_decimals_per_vertex(tmp_path):
    """8866 bytes for 500 vertices are 17.732, which no binary number is."""
    net = network(load("road-500"))
    needed = refusal("ch", net, tmp_path, 8).bytes_needed
    assert inventory(built("ch", net, tmp_path, needed / 500), 500).charged_bytes == needed
    assert refusal("ch", net, tmp_path, (needed - 1) / 500).need(500) == f"{needed} bytes ({-(-needed // 50) / 10} B/v)"


def test_a_build_stopped_for_its_work_says_what_it_had_reached():
    answer = Unsupported("Contraction was stopped", bytes_needed=500, or_more=True)
    ends = {8: "it would need more than 500 bytes (50.0 B/v), the budget is 8 B/v"}
    ends[64] = "it had reached 500 bytes (50.0 B/v), the budget is 64 B/v"
    assert {size: checked_refusal(answer, Budget(size), 10).reason.split("; ")[1] for size in ends} == ends


def test_one_table_serves_both_directions_of_a_symmetric_graph(tmp_path):
    net = network(load("grid-16"))
    heuristic = built("ch", net, tmp_path, 256, pack="plain")
    assert heuristic.arrays["down_arcs"] is heuristic.arrays["up_arcs"]
    arcs = heuristic.facts["arcs"]
    held = inventory(heuristic, 256)
    assert held.total_bytes == 8 * arcs + 4 * 257 + heuristic.arrays["place"].nbytes + 8 * 3


def test_a_graph_that_explodes_is_unsupported_with_the_bytes_reached(tmp_path):
    rng = np.random.default_rng(5)
    net = network(from_edges(600, *rng.integers(0, 600, (2, 9000)), rng.integers(1, 1000, 9000)))
    answer = refusal("ch", net, tmp_path, 32)
    assert answer.reason.startswith("Contraction was stopped: it ")
    assert answer.bytes_needed > 32 * 600
    told = checked_refusal(answer, Budget(32), 600).reason
    assert f"it would need more than {answer.bytes_needed} bytes" in told
    core = built("ch-core", net, tmp_path, 32)
    assert bytes_per_vertex(core, net) <= 32 + 64 / 600


@pytest.mark.parametrize(("given", "landmarks"), [({}, 1), ({"K": 9}, 9)])
def test_labels_alone_that_do_not_fit_are_refused_with_their_bytes(tmp_path, given, landmarks):
    """A landmark of a directed graph takes two labels of 4 bytes."""
    answer = refusal("ch-core", road(), tmp_path, 4, **given)
    assert answer.reason.endswith("not fit")
    assert answer.bytes_needed == 8 * landmarks * road().graph.vertices


def test_a_contraction_is_made_once_for_all_budgets(tmp_path):
    keys = []

    class Counting:
        def get(self, name, key, make):
            keys.append((name, str(key)))
            return make()

    net = network(load("grid-16"))
    for budget in (8, 16, 64, 100):
        params = fitted("ch", graph_info(net), Budget(budget))
        method("ch").build(replace(context(net, tmp_path, params), method="ch", artifacts=Counting()))
    assert len({*keys[:3]}) == 1
    assert len({*keys}) == 2


@pytest.mark.parametrize("budget", [12, 16, 20, 24])
def test_with_a_core_the_budget_is_kept_and_bounds_hold(tmp_path, budget):
    net = network(load("road-120"))
    heuristic = built("ch-core", net, tmp_path, budget)
    assert_sound(heuristic, net)


def test_a_core_has_more_landmarks_than_labels_alone(tmp_path):
    net = network(load("road-5000"))
    size = 0.999 * bytes_per_vertex(built("ch", net, tmp_path, 256, pack="bytes"), net)
    heuristic = built("ch-core", net, tmp_path, size)
    assert 0 < heuristic.facts["core"] < net.graph.vertices
    assert heuristic.settings["forward"] > size // 8
    assert heuristic.chosen == {"core": heuristic.facts["core"], "K": heuristic.settings["forward"]}
    assert built("ch-core", net, tmp_path, 16).chosen == {"core": "all", "K": 2}  # labels alone


@pytest.mark.parametrize(("name", "budget", "given"), [("ch", 256, {"pack": "bytes"}), ("ch", 256, {"pack": "plain"})])
def test_it_comes_back_from_its_bundle(tmp_path, name, budget, given):
    assert is_the_same_from_its_bundle(tmp_path / "bundles", built(name, road(), tmp_path, budget, **given), road())


# Small defects, each with the check that must find it


def weights_changed(change, shortcut):
    """Contraction with one weight changed: that of a shortcut, or of an arc of the graph, from the middle of the order.

    Paths rarely lead through the vertices contracted first, so that a bound there may be too small and consistent.
    """

    def contracted(graph, weights, most_arcs):
        made = contract(graph, weights, most_arcs)
        arcs = {*zip(graph.sources.tolist(), graph.indices.tolist(), strict=True)}
        tails = np.repeat(made.order, np.diff(made.first)).tolist()
        new = [arc not in arcs for arc in zip(tails, made.heads.tolist(), strict=True)]
        changed = np.flatnonzero((made.out < NONE) & (np.array(new) == shortcut))
        out = made.out.copy()
        if len(changed):
            out[changed[len(changed) // 2]] = change(out[changed[len(changed) // 2]])
        return replace(made, out=out, into=out if made.into is made.out else made.into)

    return contracted


def offset_changed(rows):
    first, arcs = plain_rows(rows)
    first[len(first) // 2] -= first[len(first) // 2] > 0
    return first, arcs


def base_changed(begin):
    found = offsets(begin)
    found["block"][1:2] -= 1
    return found


plain_rows, offsets = plain._plain_rows, packed._offsets
DEFECTS = {
    "a-missing-shortcut": (stored, "contract", weights_changed(lambda weight: NONE, True), "plain", "admissible"),
    "a-weight-too-small-by-one": (stored, "contract", weights_changed(lambda w: w - 1, False), "bytes", "consistent"),
    "a-wrong-offset": (plain, "_plain_rows", offset_changed, "plain", "admissible"),
    "a-wrong-block-base": (packed, "_offsets", base_changed, "bytes", "admissible"),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_each_defect_is_found_by_the_check_named(defect, monkeypatch):
    where, name, damaged, pack, check = DEFECTS[defect]
    graphs = [zoo()[graph] for graph in ("grid", "random-digraph-sparse", "road")]
    options = {"settings": {"pack": pack}, "graphs": graphs, "budgets": (256.0,), "only": [check]}
    assert check_method(method("ch"), **options).ok
    monkeypatch.setattr(where, name, damaged)
    (result,) = check_method(method("ch"), **options).results
    assert result.status == FAILED
