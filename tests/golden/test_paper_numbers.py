"""The paper's own numbers, to the last digit, on its graphs, queries and search policy."""

import itertools
from functools import cache

import numpy as np
import pytest

from aacbench.graphs import components
from aacbench.graphs.load import load
from aacbench.labels import alt_layout, covering_radius, farthest_points, label_rows, of_landmarks
from aacbench.queries.sampling import sample
from aacbench.search import dijkstra, network, parse, search

PAPER, MODERN = parse("paper"), parse("modern")


@cache
def prepared(name):
    """A network and its 64-landmark pool; both are shared by the tests of this file."""
    net = network(load(name))
    return net, farthest_points(net, 64)


def mean_expansions(name, landmarks, policy, queries):
    net, pool = prepared(name)
    if landmarks == 0:
        answers = dijkstra(net, queries.sources, queries.targets, policy=policy, threads=2)
    else:
        layout = alt_layout(net, label_rows(pool.first(landmarks)), landmarks, margin=0.0)
        answers = search(net, layout, queries.sources, queries.targets, policy, threads=2)
    assert answers.path_cost == pytest.approx(answers.cost, rel=1e-12)
    return answers.expanded


@pytest.mark.data
@pytest.mark.parametrize(
    ("landmarks", "validation", "test"),
    [(0, 133363.51, 125778.51), (4, 19858.21, 17985.83), (8, 11739.94, 11242.26), (16, 8366.41, 7890.66)],
)
def test_new_york_expansions(landmarks, validation, test):
    expanded = mean_expansions("dimacs:NY", landmarks, PAPER, sample(load("dimacs:NY"), 200))
    assert (expanded[:100].sum(), expanded[100:].sum()) == (round(100 * validation), round(100 * test))


@pytest.mark.data
@pytest.mark.parametrize(("landmarks", "test"), [(8, 8559), (16, 5300)])
def test_new_york_expansions_with_large_g_first(landmarks, test):
    expanded = mean_expansions("dimacs:NY", landmarks, MODERN, sample(load("dimacs:NY"), 200))
    assert round(expanded[100:].mean()) == test


@pytest.mark.data
def test_new_york_landmarks_and_covering_radii():
    net, pool = prepared("dimacs:NY")
    assert pool.landmarks[:8].tolist() == [0, 90643, 119452, 186177, 100695, 198702, 234244, 76849]
    everywhere = np.arange(net.graph.vertices)
    radii = [covering_radius(pool.first(count), everywhere) for count in (4, 8, 16, 32, 64)]
    assert radii == [765783, 541677, 352682, 225591, 164385]


def test_stochastic_block_model_expansions():
    queries = sample(load("sbm-10k"), 100)
    means = [round(float(mean_expansions("sbm-10k", k, PAPER, queries).mean()), 2) for k in (0, 8, 16, 32)]
    assert means == [5330.00, 535.68, 291.98, 157.89]
    assert prepared("sbm-10k")[1].landmarks[:8].tolist() == [0, 8954, 5116, 2315, 6004, 4109, 2963, 7886]


def test_preferential_attachment_reductions():
    queries = sample(load("ba-10k"), 100)
    base, *means = (mean_expansions("ba-10k", k, PAPER, queries).mean() for k in (0, 8, 16, 32))
    assert round(float(base), 2) == 4763.64
    assert [round(100 * (1 - mean / base), 2) for mean in means] == [89.90, 94.25, 96.93]


def test_path_of_seven_subsets():
    """All 21 pairs of landmarks on the path: covering radius, and mean gap over the 20 inner queries."""
    net = network(load("p7"))
    queries = np.array(list(itertools.permutations(range(1, 6), 2)))
    facts = {}
    for chosen in itertools.combinations(range(7), 2):
        pool = of_landmarks(net, chosen)
        answers = search(net, alt_layout(net, label_rows(pool), 2), queries[:, 0], queries[:, 1])
        gap = float((answers.cost - answers.h_source).mean())
        facts[chosen] = (covering_radius(pool, np.arange(7)), gap)
        bounds = [max(abs(abs(l - u) - abs(l - v)) for l in chosen) for u, v in queries]
        assert facts[chosen][0] == max(min(abs(l - v) for l in chosen) for v in range(7))
        assert gap == pytest.approx(np.mean([abs(u - v) for u, v in queries]) - np.mean(bounds))
    assert len(facts) == 21
    assert facts[2, 4] == (2, pytest.approx(1 / 5))
    assert facts[0, 6] == (3, 0)
    assert facts[0, 4] == (2, 0)


def test_components_of_the_embedded_graphs_are_whole():
    for name in ("sbm-10k", "ba-10k"):
        assert len(components.largest(load(name))) == 10_000
