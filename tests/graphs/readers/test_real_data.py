"""Facts about the real graphs, counted once by other means."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from aacbench.graphs.components import largest
from aacbench.graphs.readers.dimacs import read_dimacs
from aacbench.graphs.readers.edgelist import read_edge_list
from aacbench.graphs.readers.movingai import read_map, read_scenario
from aacbench.graphs.readers.osmnx import read_csv_pair
from aacbench.util.paths import data_folder

pytestmark = pytest.mark.data


def data(name):
    folder = data_folder()
    if folder is None or not (folder / name).exists():
        pytest.skip(f"$AACBENCH_DATA has no {name}")
    return folder / name


def test_new_york():
    graph = read_dimacs(data("dimacs/USA-road-d.NY.gr.gz"), data("dimacs/USA-road-d.NY.co.gz"))
    assert (graph.vertices, graph.arcs) == (264_346, 733_846 - 3_746)
    assert graph.integral
    assert (graph.weights.min(), graph.weights.max()) == (1, 36_946)
    assert graph.symmetric
    assert graph.declared_directed
    assert graph.coords[:2].tolist() == [[-73530767, 41085396], [-73530538, 41086098]]


def test_rome():
    graph = read_dimacs(data("dimacs/rome99.gr"))
    assert (graph.vertices, graph.arcs) == (3_353, 8_870 - 11)  # 11 arcs are parallel to a shorter or equal one
    assert not graph.symmetric
    assert len(largest(graph)) == graph.vertices


@pytest.mark.parametrize("weight", ["length", "free_flow_time_s"])
def test_manhattan(weight):
    graph = read_csv_pair(data("osmnx/manhattan_nodes.csv.gz"), data("osmnx/manhattan_edges.csv.gz"), weight=weight)
    assert (graph.vertices, graph.arcs) == (4_607, 9_880 - 8)  # 8 self-loops, no parallel arcs
    assert len(largest(graph)) == 4_519
    assert graph.coords[0].tolist() == [-73.9600437, 40.7980478]
    assert not graph.integral


def test_citations():
    graph = read_edge_list(data("snap/cit-HepTh.txt.gz"))
    assert (graph.vertices, graph.arcs) == (27_770, 352_807 - 39)  # 39 papers cite themselves
    assert len(largest(graph, "weak")) == 27_400
    assert set(graph.weights.tolist()) == {1}


@pytest.mark.parametrize(("name", "step"), [("arena", 4), ("brc202d", 120)])
def test_scenario_optima_are_the_distances_on_the_map(name, step):
    graph, scenario = read_map(data(f"movingai/{name}.map.gz")), read_scenario(data(f"movingai/{name}.map.scen.gz"))
    vertex = {tuple(place): v for v, place in enumerate(graph.coords.astype(int).tolist())}
    matrix = csr_array((graph.weights, graph.indices, graph.indptr))
    chosen = range(0, len(scenario), step)
    starts = [vertex[scenario.start_x[i], scenario.start_y[i]] for i in chosen]
    goals = [vertex[scenario.goal_x[i], scenario.goal_y[i]] for i in chosen]
    distances = dijkstra(matrix, indices=starts)[np.arange(len(starts)), goals]
    np.testing.assert_allclose(distances, scenario.optimum[::step], rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "vertices"), [("16room_000", 231_854), ("arena", 2_054), ("brc202d", 43_151), ("maze512-32-0", 253_840)]
)
def test_maps(name, vertices):
    graph = read_map(data(f"movingai/{name}.map.gz"))
    assert graph.vertices == vertices
    assert graph.symmetric
