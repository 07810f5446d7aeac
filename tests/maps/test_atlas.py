"""The atlas: blocks without arcs between them, whose distances are those of the grid, in exact integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aacbench.errors import DataError
from aacbench.labels.blocks import block_labels
from aacbench.labels.exact import distances
from aacbench.maps.atlas import SCALE, atlas, largest_cost, whole_costs
from aacbench.maps.grid import reach
from aacbench.queries.in_maps import corner_queries, random_queries
from aacbench.queries.sampling import sample
from aacbench.run.map_paths import true_optima
from aacbench.search import dijkstra
from aacbench.search.networks import network

maps = st.tuples(st.integers(1, 3), st.integers(3, 6)).flatmap(
    lambda shape: arrays(np.int64, (shape[0], shape[1], shape[1]), elements=st.sampled_from([1, 2, 3, 8]))
)


@given(maps, st.integers(0, 10**6))
def test_a_path_weighs_twice_its_cells_less_its_ends(costs, at):
    cells = costs[0].size
    block, source = divmod(at % (len(costs) * cells), cells)
    graph = atlas(costs)
    assert graph.symmetric
    found = distances(network(graph), block * cells + source).reshape(len(costs), cells)
    flat = costs[block].reshape(-1)
    assert found[block].tolist() == (2 * reach(costs[block], source)[0] - flat - flat[source]).tolist()
    assert (np.delete(found, block, axis=0) == -1).all()


@given(maps, st.lists(st.integers(0, 8), min_size=1, max_size=3, unique=True))
def test_labels_of_all_blocks_at_once_are_those_of_each_by_itself(costs, cells):
    net, size = network(atlas(costs)), costs[0].size
    rows = block_labels(net, size, np.array(cells))
    assert rows.dtype == np.int32
    for column, cell in enumerate(cells):
        for block in range(len(costs)):
            own = slice(block * size, (block + 1) * size)
            assert rows[own, column].tolist() == distances(net, block * size + cell)[own].tolist()


def test_the_papers_rule_is_a_mean_times_the_length_of_a_step():
    costs = np.array([[[1, 3], [5, 9]]])
    graph = atlas(costs, edges="paper")
    weights = dict(zip(zip(graph.sources.tolist(), graph.indices.tolist(), strict=True), graph.weights, strict=True))
    assert weights[0, 1] == 2.0
    assert weights[0, 3] == 5 * np.sqrt(2)
    assert weights[2, 1] == 4 * np.sqrt(2)


@given(st.lists(st.floats(1e-6, 1e6), min_size=16, max_size=16))
def test_costs_become_integers_whose_distances_fit_four_bytes(values):
    whole, clipped = whole_costs(np.array(values).reshape(1, 4, 4))
    most = largest_cost(4)
    assert whole.min() >= 1
    assert whole.max() <= most
    assert clipped == sum(not 1 <= round(SCALE * value) <= most for value in values)
    assert 2 * 16 * most < 2**31
    assert atlas(whole).integral


def test_tenths_and_fine_units_are_exact():
    assert whole_costs(np.full((1, 4, 4), 0.8))[0][0, 0, 0] == 8 * 1024
    assert whole_costs(np.full((1, 4, 4), 2.0**-11))[0][0, 0, 0] == 5


def test_a_cost_below_one_is_refused():
    with pytest.raises(DataError, match="Map 1 has a cost below 1"):
        atlas(np.array([np.ones((3, 3)), np.zeros((3, 3))], dtype=int))


@pytest.mark.parametrize("mode", ["uniform", "hotspot", "powerlaw"])
def test_queries_stay_on_their_map_and_do_not_depend_on_later_maps(mode):
    few, many = (atlas(np.ones((count, 4, 4), dtype=int)) for count in (3, 9))
    short, long = random_queries(few, 5, mode, 7), random_queries(many, 5, mode, 7)
    assert len(short) == 15
    assert (short.sources // 16 == np.repeat([0, 1, 2], 5)).all()
    assert (short.sources // 16 == short.targets // 16).all()
    assert (short.sources != short.targets).all()
    assert short.digest == long.take(slice(15)).digest
    assert random_queries(few, 5, mode, 8).digest != short.digest


def test_hotspots_are_the_same_cells_on_every_map():
    queries = random_queries(atlas(np.ones((50, 6, 6), dtype=int)), 20, "hotspot", 1)
    counts = np.sort(np.bincount(queries.targets % 36, minlength=36))
    assert counts[-8:].sum() > 0.8 * counts.sum()


def test_the_corner_query_goes_from_the_first_cell_to_the_last():
    queries = corner_queries(atlas(np.ones((2, 5, 5), dtype=int)))
    assert queries.sources.tolist() == [0, 25]
    assert queries.targets.tolist() == [24, 49]


def test_other_graphs_have_no_queries_on_maps():
    from aacbench.errors import UsageError
    from aacbench.graphs import from_arcs

    graph = from_arcs(3, [0, 1], [1, 0], [1, 1], name="odd")
    with pytest.raises(UsageError, match="'odd' is not made of maps of one size"):
        random_queries(graph, 1)


def test_true_optima_are_those_of_a_search():
    costs = np.random.default_rng(1).integers(1, 9, (3, 5, 5))
    graph = atlas(costs)
    queries = random_queries(graph, 6)
    found = dijkstra(network(graph), queries.sources, queries.targets).cost
    flat = costs.reshape(-1)
    wanted = (found + flat[queries.sources] + flat[queries.targets]) // 2
    assert true_optima(costs, queries).tolist() == wanted.tolist()
    assert len(sample(graph, 4)) == 4  # the usual sampler takes one map
