"""Real graphs: published optima on grids, and agreement of every policy with Dijkstra and scipy on directed streets."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra as scipy_dijkstra
from support import EVERY_POLICY

from aacbench.graphs.load import load, scenario_path
from aacbench.graphs.readers.movingai import read_scenario
from aacbench.labels import alt_layout, farthest_points, label_rows
from aacbench.queries.sampling import sample
from aacbench.queries.scenario import from_scenario, spread
from aacbench.search import dijkstra, network, parse, search

pytestmark = pytest.mark.data

MAPS = ["arena", "brc202d", "16room_000", "maze512-32-0"]


def printed_precision(optima):
    """1e-4, or a unit of the sixth significant digit: scenario files print no more (1006.02, and 454.764 for .7645)."""
    return np.maximum(1e-4, 10.0 ** (np.floor(np.log10(np.maximum(optima, 1))) - 5))


@pytest.mark.parametrize("name", MAPS)
def test_grid_optima_are_the_published_ones(name):
    graph = load(f"movingai:{name}")
    every = from_scenario(graph, read_scenario(scenario_path(f"movingai:{name}")))
    queries = spread(every, min(len(every), max(500, len(set(every.buckets)))))
    assert set(queries.buckets) == set(every.buckets)
    net = network(graph)
    layout = alt_layout(net, label_rows(farthest_points(net, 8)), 8)
    ends = (queries.sources, queries.targets)
    for answers in (
        dijkstra(net, *ends, threads=2),
        search(net, layout, *ends, parse("modern"), threads=2),
        search(net, layout, *ends, parse("paper"), threads=2),
    ):
        assert (np.abs(answers.cost - queries.optima) <= printed_precision(queries.optima)).all()
        assert answers.path_cost == pytest.approx(answers.cost, rel=1e-12)


@pytest.mark.parametrize("name", ["dimacs:rome99", "osmnx:manhattan"])
def test_directed_streets_agree_under_every_policy(name):
    graph = load(name)
    assert not graph.symmetric
    queries = sample(graph, 500)
    rows = (graph.weights.astype(np.float64), graph.indices, graph.indptr)
    tails, place = np.unique(queries.sources, return_inverse=True)
    exact = scipy_dijkstra(csr_array(rows, shape=(graph.vertices,) * 2), indices=tails)[place, queries.targets]
    net = network(graph)
    layout = alt_layout(net, label_rows(farthest_points(net, 8)), 8)
    for policy in EVERY_POLICY:
        for heuristic in (layout, None):
            ends = (queries.sources, queries.targets)
            found = search(net, heuristic, *ends, policy) if heuristic else dijkstra(net, *ends, policy=policy)
            assert found.cost == pytest.approx(exact, rel=1e-12), policy.name
            assert (found.below_optimum + found.on_optimum == found.expanded).all(), policy.name
