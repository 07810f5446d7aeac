"""The pass that looks for broken bounds, against a plain loop over every vertex and arc."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support import graphs, true_distances

from aacbench.search.violations import violations


def _by_hand(graph, h, known, distance, care):
    """The same from lists: what breaks the promise, and of that the first with the smallest number."""
    far = float("inf")
    high = [u for u in range(graph.vertices) if not known[u] or (distance[u] >= 0 and h[u] > distance[u] + care)]
    rising = []
    for arc, (u, v, w) in enumerate(zip(graph.sources, graph.indices, graph.weights, strict=True)):
        if known[u] and known[v] and distance[v] >= 0 and h[u] > w + h[v] + care:
            rising.append((w + h[v], arc))
    vertex = min(high, key=lambda u: (distance[u] if distance[u] >= 0 else far, u), default=-1)
    return len(high), vertex, len(rising), min(rising, default=(0, -1))[1]


@given(st.booleans().flatmap(lambda integral: graphs(integral=integral)), st.data())
def test_the_pass_finds_what_a_plain_loop_finds(graph, data) -> None:
    target = data.draw(st.integers(0, graph.vertices - 1))
    distance = true_distances(graph)[:, target].astype(graph.weights.dtype)
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    h = (np.maximum(distance, 0) * random.choice([0, 0.5, 1, 1, 1.5], graph.vertices)).astype(graph.weights.dtype)
    known = random.random(graph.vertices) < data.draw(st.sampled_from([0.5, 1]))
    care = data.draw(st.sampled_from([0, 1]))
    found = violations(graph.indptr, graph.indices, graph.weights, h, known, distance, care)
    assert found == _by_hand(graph, h, known, distance, care)
