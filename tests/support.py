"""What tests share: small graphs with everything that breaks a search, every policy, and true distances."""

import itertools

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra as scipy_dijkstra

from aacbench.graphs import Graph, from_arcs
from aacbench.search import Policy
from aacbench.search.policy import TIES


def example_count(count: int) -> settings:
    """So many examples in the exhaustive set, and elsewhere the share of them that conftest.py sets."""
    return settings(max_examples=count * settings.default.max_examples // 100)


SMALL, HUGE = st.integers(0, 12), st.integers(2**24, 2**40)
FLOATS = st.floats(0, 10, allow_nan=False, width=64).map(lambda x: round(x, 3) if x < 5 else x)


@st.composite
def graphs(draw, max_vertices=12, symmetric=None, integral=None) -> Graph:
    """Zero and huge weights, parallel and one-way arcs, self-loops, several components, single vertices."""
    vertices = draw(st.integers(1, max_vertices))
    whole = draw(st.booleans()) if integral is None else integral
    weight = draw(st.sampled_from([SMALL, SMALL | HUGE])) if whole else FLOATS
    vertex = st.integers(0, vertices - 1)
    arcs = draw(st.lists(st.tuples(vertex, vertex, weight), max_size=4 * vertices))
    if draw(st.booleans()) if symmetric is None else symmetric:
        arcs += [(v, u, w) for u, v, w in arcs]
    tails, heads, weights = (list(column) for column in zip(*arcs, strict=True)) if arcs else ([], [], [])
    return from_arcs(vertices, tails, heads, np.array(weights, dtype=np.int64 if whole else np.float64))


def graphs_to_compile_for(**more) -> st.SearchStrategy[Graph]:
    """Graphs with integer weights; with floats too in the exhaustive set, since these compile every kernel again."""
    return graphs(integral=None if settings.get_current_profile_name() == "exhaustive" else True, **more)


def all_pairs(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Every (source, target) pair of a small graph."""
    pairs = np.indices((graph.vertices, graph.vertices)).reshape(2, -1)
    return pairs[0], pairs[1]


EVERY_POLICY = [
    Policy(reopen, tie, bpmx)
    for reopen, tie, bpmx in itertools.product((True, False), TIES, (True, False))
    if reopen or not bpmx
]


def true_distances(graph):
    """All distances by scipy, -1 where there is no path; csgraph keeps an explicit zero as an arc of weight zero."""
    matrix = csr_array(
        (graph.weights.astype(np.float64), graph.indices, graph.indptr), shape=(graph.vertices, graph.vertices)
    )
    found = scipy_dijkstra(matrix, directed=True)
    return np.where(np.isinf(found), -1, found)


def random_bound(graph, seed):
    """An admissible h that is as inconsistent as can be: a random share of the true distance at each vertex."""
    exact = true_distances(graph)
    share = np.random.default_rng(seed).choice([0.0, 0.25, 0.5, 1.0], size=exact.shape)
    share[np.arange(graph.vertices), np.arange(graph.vertices)] = 0
    loose = np.maximum(exact, 0) * share
    return np.floor(loose).astype(np.int64) if graph.integral else loose
