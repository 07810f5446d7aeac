"""Distances from one vertex to all, and landmark tables, against scipy."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from aacbench.labels import distances, farthest_points


def scipy_rows(graph, sources):
    matrix = csr_array((graph.weights.astype(np.float64), graph.indices, graph.indptr), shape=(graph.vertices,) * 2)
    return lambda: [dijkstra(matrix, directed=True, indices=int(source)) for source in sources]


def test_one_to_all_against_scipy(compare, road):
    sources = road.queries.sources[:5]
    ours, theirs = compare(
        "Dijkstra, one to all / scipy",
        lambda: [distances(road.net, int(source)) for source in sources],
        scipy_rows(road.net.graph, sources),
        per=(len(sources), "source"),
    )
    assert np.array_equal(ours, theirs)


def test_landmarks_against_scipy(compare, road):
    """Farthest-point landmarks need a Dijkstra each, one after another; on a directed graph ours makes two."""
    count = 128
    landmarks = farthest_points(road.net, count).landmarks
    ours, theirs = compare(
        f"{count} farthest-point landmarks / {count} scipy Dijkstras",
        lambda: farthest_points(road.net, count),
        scipy_rows(road.net.graph, landmarks),
        per=(count, "landmark"),
        rounds=2,
        at_most=1.3,
    )
    assert np.array_equal(ours.forward, theirs)
