"""A synthetic street network has the size asked for, can be driven everywhere, and looks like a city's."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import example_count

from aacbench.errors import UsageError
from aacbench.graphs.components import largest
from aacbench.graphs.generators import road, twoway
from aacbench.graphs.generators.road import FEWEST_VERTICES, MOST_VERTICES

DOCUMENT = Path(__file__).parents[3] / "docs" / "road-graphs.md"


@pytest.fixture(scope="module")
def city():
    return road(3000)


def two_way(graph):
    pairs = graph.sources.astype(np.int64) * graph.vertices + graph.indices
    turned = graph.indices.astype(np.int64) * graph.vertices + graph.sources
    return np.isin(pairs, turned)


def streets_at(graph):
    ends = np.concatenate([graph.sources[~two_way(graph)], graph.indices])
    return np.bincount(ends, minlength=graph.vertices)


def speed_kmh(graph):
    metres = np.sqrt(((graph.coords[graph.sources] - graph.coords[graph.indices]) ** 2).sum(axis=1))
    return metres / graph.weights * 3600


@example_count(60)
@given(vertices=st.integers(16, 700), seed=st.integers(0, 10**6))
def test_every_size_and_seed_gives_a_strongly_connected_city(vertices, seed):
    graph = road(vertices, seed)
    assert graph.vertices == vertices
    assert len(largest(graph, "strong")) == vertices
    assert graph.integral
    assert graph.weights.min() > 0


def test_recorded_digest_of_road_500():
    assert road(500).digest == "7d2bb860f0078452bc5e90af74b592cb297427d45a07f593fbf2113bd62d6c71"


def test_recorded_digest_of_a_city_with_motorways(city):
    assert city.digest == "64dd44cedc84558a17dc8d4b74811af2283df8eb425e7a30d2e3142130c72752"


def test_same_seed_gives_the_same_city_and_another_seed_another():
    assert road(500, 7).digest == road(500, 7).digest
    assert len({road(500, seed).digest for seed in range(4)}) == 4


def test_street_network_is_directed(city):
    assert city.declared_directed
    assert not city.symmetric
    assert 0.15 < 1 - two_way(city).mean() < 0.45


def test_a_two_way_city_has_the_same_streets_and_is_declared_directed_like_dimacs():
    city, both = road(500), twoway(500)
    assert both.symmetric
    assert both.declared_directed
    arcs, more = ({*zip(g.sources.tolist(), g.indices.tolist(), strict=True)} for g in (city, both))
    assert more == arcs | {(head, tail) for tail, head in arcs}
    assert both.name == "twoway-500"


def test_two_way_streets_take_equally_long_both_ways(city):
    there = two_way(city)
    cost = {(int(a), int(b)): int(w) for a, b, w in zip(city.sources, city.indices, city.weights, strict=True)}
    assert all(cost[b, a] == cost[a, b] for a, b in zip(city.sources[there], city.indices[there], strict=True))


def test_fast_roads_are_few_and_two_to_three_times_as_fast_as_streets(city):
    speed = speed_kmh(city)
    assert speed.min() > 24
    assert speed.max() < 81
    fast = speed > 58
    assert 0.005 < fast.mean() < 0.2
    assert (speed < 40).mean() > 0.5
    assert np.median(speed[fast]) > 1.8 * np.median(speed[speed < 40])


def test_motorways_have_few_junctions(city):
    degree = streets_at(city)
    on_fast = np.unique(city.sources[speed_kmh(city) > 61])
    assert np.mean(degree[on_fast] == 2) > 0.5
    assert np.mean(degree == 2) < 0.15


def test_degrees_lie_between_those_of_manhattan_and_rome(city):
    degree = streets_at(city)
    assert 2.15 < city.arcs / city.vertices < 2.65
    assert 0.02 < np.mean(degree == 1) < 0.143
    assert 0.37 < np.mean(degree == 3) < 0.561
    assert 0.21 < np.mean(degree == 4) < 0.578


def test_blocks_are_smaller_in_the_centre_than_at_the_edge(city):
    off_centre = np.abs(city.coords[:, 0] - np.median(city.coords[:, 0]))
    inner, outer = off_centre < np.quantile(off_centre, 0.3), off_centre > np.quantile(off_centre, 0.7)
    metres = np.abs(city.coords[city.sources] - city.coords[city.indices])[:, 0]
    assert metres[outer[city.sources]].mean() > 1.3 * metres[inner[city.sources]].mean()


def test_coordinates_are_metres_of_a_city(city):
    width, height = np.ptp(city.coords, axis=0)
    assert 2_000 < height < width < 30_000


@pytest.mark.parametrize("vertices", [-1, 0, 15, 5_000_001])
def test_impossible_size_is_refused(vertices):
    with pytest.raises(UsageError, match=f"between 16 and 5000000 vertices, not {vertices}"):
        road(vertices)


def test_example_prints_what_the_document_says(capsys):
    text = DOCUMENT.read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (printed,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    exec(compile(example, str(DOCUMENT), "exec"), {})
    assert capsys.readouterr().out == printed


def test_sizes_are_those_of_the_code():
    assert f"({FEWEST_VERTICES:,} to {MOST_VERTICES:,})" in DOCUMENT.read_text(encoding="utf-8")
