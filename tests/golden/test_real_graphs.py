"""Real graphs: published optima on grids, and agreement of every policy with Dijkstra and scipy on directed streets."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra as scipy_dijkstra
from support import EVERY_POLICY

from aacbench.errors import DataError
from aacbench.graphs.load import load, scenario_path
from aacbench.labels import alt_layout, farthest_points, label_rows
from aacbench.queries.files import read_scenario_queries, spread
from aacbench.queries.sampling import sample
from aacbench.search import dijkstra, network, parse, search

pytestmark = pytest.mark.data

QUERIES = 120  # of each map, spread over the buckets of its scenario
MAPS = ["arena", "brc202d", "16room_000", "maze512-32-0"]


@pytest.mark.parametrize("name", MAPS)
def test_grid_optima_are_the_published_ones(name):
    net = network(load(f"movingai:{name}"))
    queries, _ = spread(read_scenario_queries(scenario_path(f"movingai:{name}"), net.graph), QUERIES)
    layout = alt_layout(net, label_rows(farthest_points(net, 8)), 8)
    every = slice(None)
    for policy, chosen in (("modern", every), ("paper", every), (None, slice(None, None, 10))):
        part = queries.take(chosen)  # Dijkstra, without a policy, settles most of the map for each query
        ends = (part.sources, part.targets)
        answers = search(net, layout, *ends, parse(policy), threads=2) if policy else dijkstra(net, *ends, threads=2)
        part.check_optima(answers.cost)
        assert answers.path_cost == pytest.approx(answers.cost, rel=1e-12)
    with pytest.raises(DataError, match="published optimum"):
        queries.check_optima(
            np.where(np.arange(len(queries)) == QUERIES // 2, queries.optima * 1.001 + 1, queries.optima)
        )


@pytest.mark.parametrize("name", ["dimacs:rome99", "osmnx:manhattan"])
def test_directed_streets_agree_under_every_policy(name):
    graph = load(name)
    assert not graph.symmetric
    queries = sample(graph, 200)
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
