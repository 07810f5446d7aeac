"""The lazy greedy selection of labels equals a plain one that evaluates every label each time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import all_pairs, example_count, graphs, true_distances

from aacbench.errors import UsageError
from aacbench.graphs import components
from aacbench.labels import farthest_points
from aacbench.labels.tables import greedy, label_bounds
from aacbench.search import network


def plain_greedy(bounds, count):
    chosen = []
    while len(chosen) < count:
        left = [k for k in range(len(bounds)) if k not in chosen]
        chosen.append(max(left, key=lambda k: (bounds[[*chosen, k]].max(axis=0).sum(), -k)))
    return chosen


@given(st.integers(1, 8), st.integers(0, 6), st.integers(0, 10**6), st.data())
@example_count(300)
def test_the_lazy_choice_is_the_plain_one(rows, queries, seed, data):
    bounds = np.random.default_rng(seed).integers(0, 4, size=(rows, queries))  # small numbers, so that gains tie
    count = data.draw(st.integers(0, rows))
    assert greedy(bounds, count).tolist() == plain_greedy(bounds, count)


def test_sums_beyond_exact_floats_are_told_apart():
    huge = 2**60
    assert greedy(np.array([[huge, 0, 0], [huge, 1, 0], [huge, 0, 0]]), 1).tolist() == [1]


def test_more_than_there_are_cannot_be_chosen():
    with pytest.raises(UsageError, match="Cannot choose 3 rows from 2"):
        greedy(np.zeros((2, 4)), 3)


@given(graphs())
@example_count(100)
def test_bounds_of_labels_are_differences_of_distances(graph):
    pool = farthest_points(network(graph), min(3, len(components.largest(graph))))
    exact, (sources, targets) = true_distances(graph), all_pairs(graph)
    ahead, back = label_bounds(pool, sources, targets)
    for k, l in enumerate(pool.landmarks.tolist()):
        known = np.minimum(exact[l, sources], exact[l, targets]) >= 0
        out = np.where(known, np.maximum(exact[l, targets] - exact[l, sources], 0), 0)
        known = np.minimum(exact[sources, l], exact[targets, l]) >= 0
        into = np.where(known, np.maximum(exact[sources, l] - exact[targets, l], 0), 0)
        if graph.symmetric:
            out = into = np.maximum(out, into)
        assert ahead[k] == pytest.approx(out, rel=1e-9, abs=1e-9)
        assert back[k] == pytest.approx(into, rel=1e-9, abs=1e-9)
