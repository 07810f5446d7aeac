"""A* of graph libraries on a directed city; each takes its bound as a Python callable only, and gets the same one."""

import itertools

import networkx
import numpy as np
import pytest
from benchmarks import plain

from aacbench.graphs.load import load
from aacbench.labels import alt_layout, farthest_points, label_rows
from aacbench.queries.sampling import sample
from aacbench.search import network, search

CITY, LANDMARKS, QUERIES = "road-20000", 8, 10


@pytest.fixture(scope="module")
def city():
    net = network(load(CITY))
    return net, farthest_points(net, LANDMARKS), sample(net.graph, QUERIES)


@pytest.fixture
def compare_paths(compare, city):
    """Compare our search, compiled or with the callable, with a library's function from (s, t, h) to a path."""
    net, pool, queries = city
    layout, h = alt_layout(net, label_rows(pool), LANDMARKS), plain.list_bound(pool)
    pairs = list(zip(queries.sources.tolist(), queries.targets.tolist(), strict=True))

    def run(name, path, tier="compiled"):
        heuristic = layout if tier == "compiled" else h
        ours, theirs = compare(
            f"{CITY}, K={LANDMARKS}: A*, {tier} / {name}, Python h",
            lambda: search(net, heuristic, queries.sources, queries.targets, paths=True),
            lambda: [path(s, t, h) for s, t in pairs],
            per=(QUERIES, "query"),
            rounds=15,
        )
        weights = {(u, v): w for u, v, w in _arcs(net.graph)}
        assert [sum(weights[arc] for arc in itertools.pairwise(path)) for path in theirs] == ours.cost.tolist()

    return run


def _arcs(graph):
    return zip(graph.sources.tolist(), graph.indices.tolist(), graph.weights.tolist(), strict=True)


@pytest.mark.parametrize("tier", ["compiled", "Python h"])
def test_networkx(compare_paths, city, tier):
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from(_arcs(city[0].graph))
    path = lambda s, t, h: networkx.astar_path(graph, s, t, heuristic=h)  # noqa: E731
    compare_paths("networkx", path, tier)


def test_rustworkx(compare_paths, city):
    rustworkx = pytest.importorskip("rustworkx", reason="rustworkx is not installed: it is in the extra `bench`")
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(range(city[0].graph.vertices))
    graph.add_edges_from(list(_arcs(city[0].graph)))
    compare_paths(
        "rustworkx",
        lambda s, t, h: list(
            rustworkx.digraph_astar_shortest_path(graph, s, lambda u: u == t, float, lambda u: float(h(u, t)))
        ),
    )


def test_igraph(compare_paths, city):
    igraph = pytest.importorskip("igraph", reason="igraph is not installed: it is in the extra `bench`")
    record = city[0].graph
    ends = np.stack([record.sources, record.indices], axis=1).tolist()
    graph = igraph.Graph(n=record.vertices, edges=ends, directed=True)
    weights = record.weights.tolist()
    compare_paths(
        "igraph",
        lambda s, t, h: graph.get_shortest_path_astar(s, t, lambda _, u, v: h(u, v), weights=weights),
    )
