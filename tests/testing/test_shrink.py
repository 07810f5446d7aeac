"""Counterexamples get smaller, still fail, and cost no more tries than were allowed."""

from hypothesis import given
from hypothesis import strategies as st
from support import graphs

from aacbench.testing.shrink import shrunk
from aacbench.testing.zoo import as_symmetric, zoo


@given(graphs(max_vertices=8), st.integers(0, 40))
def test_what_is_found_still_fails_and_is_no_larger(graph, steps):
    tries = []

    def fails(candidate):
        tries.append(candidate)
        return not candidate.symmetric

    found = shrunk(graph, fails, steps)
    assert len(tries) <= steps
    assert found is graph or not found.symmetric
    assert (found.vertices, found.arcs) <= (graph.vertices, graph.arcs) or found.vertices < graph.vertices


def test_one_way_streets_come_down_to_an_arc():
    found = shrunk(zoo()["one-way-streets"], lambda graph: not graph.symmetric)
    assert (found.vertices, found.arcs) == (2, 1)


def test_a_cycle_is_made_shorter_where_dropping_a_vertex_would_break_it():
    def has_a_cycle(graph):
        from aacbench.graphs import components

        return len(components.largest(graph)) > 1

    found = shrunk(zoo()["directed-cycle"], has_a_cycle)
    assert (found.vertices, found.arcs, found.weights.tolist()) == (2, 2, [1, 1])


def test_a_symmetric_graph_may_stay_symmetric():
    found = shrunk(zoo()["grid"], lambda graph: graph.symmetric and graph.arcs > 0)
    assert (found.vertices, found.arcs) == (2, 2)


def test_weights_are_rounded_as_far_as_it_still_fails():
    found = shrunk(zoo()["float-one-way"], lambda graph: (graph.weights > 2.5).any())
    (weight,) = found.weights.tolist()
    assert weight == round(weight)


def test_made_symmetric_every_arc_has_its_reverse():
    for graph in zoo().values():
        assert as_symmetric(graph).symmetric
