"""Two rules of the AAC paper's appendix that are not used here, and why: figures that docs/contextual.md quotes."""

import numpy as np
from scipy.special import logsumexp

from aacbench.labels.exact import distances
from aacbench.maps.atlas import atlas
from aacbench.maps.grid import solve
from aacbench.maps.terrain import generate
from aacbench.queries.in_maps import corner_queries
from aacbench.search import dijkstra
from aacbench.search.networks import network


def test_the_papers_edges_lead_to_other_paths_than_the_data_sets_rule():
    maps = generate(12, 42, "test", 300)
    net = network(atlas(maps.costs, edges="paper"))
    corners = corner_queries(net.graph)
    paths = dijkstra(net, corners.sources, corners.targets, paths=True).paths
    costs = np.array([maps.costs.reshape(-1)[path].sum() for path in paths])
    optima = solve(maps.costs).optima
    assert 0.20 < (costs == optima).mean() < 0.40
    assert 0.02 < (costs / optima - 1).mean() < 0.06


def soft_distances(graph, source, beta):
    """Smooth Bellman-Ford with each vertex's own term in every round, for as many rounds as a path may have edges."""
    found = np.full(graph.vertices, 1e3)
    found[source] = 0.0
    dense = np.full((graph.vertices, graph.vertices), np.inf)
    dense[graph.sources, graph.indices] = graph.weights
    np.fill_diagonal(dense, 0.0)
    for _ in range(graph.vertices - 1):
        found = -logsumexp(-beta * (found[:, None] + dense), axis=0) / beta
    return found


def test_smooth_distances_are_no_lower_bounds_but_far_below_zero():
    graph = atlas(np.full((1, 12, 12), 7), edges="paper")
    exact = distances(network(graph), 0)[-1] / 10
    assert round(float(exact), 2) == 10.89  # 11 diagonal steps of cost 0.7
    tenths = {beta: float(soft_distances(graph, 0, beta / 10)[-1] / 10) for beta in (1, 5, 30)}
    assert tenths[1] < -100
    assert tenths[5] < 0 < tenths[30] < exact
