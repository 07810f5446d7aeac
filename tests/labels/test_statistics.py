"""Statistics of a selection equal those counted by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support import example_count, graphs, true_distances

from aacbench.graphs import components
from aacbench.labels import of_landmarks, subset
from aacbench.labels.statistics import selection_facts
from aacbench.search import network


@given(graphs(), st.data())
@example_count(60)
def test_facts_of_a_selection_are_those_counted_by_hand(graph, data):
    vertex = st.integers(0, graph.vertices - 1)
    pool = of_landmarks(network(graph), data.draw(st.lists(vertex, min_size=1, max_size=4, unique=True)))
    some = st.lists(st.integers(0, len(pool) - 1), min_size=1, max_size=4)
    forward, backward = data.draw(some), data.draw(some)
    facts = selection_facts(graph, pool, np.array(forward), np.array(backward))
    ahead, back = ({int(pool.landmarks[k]) for k in chosen} for chosen in (forward, backward))
    assert (facts["forward_labels"], facts["backward_labels"]) == (len(forward), len(backward))
    assert facts["distinct_landmarks"] == len(ahead | back)
    assert facts["both_directions"] == len(ahead & back)
    exact = true_distances(graph)
    apart = [
        min((max(exact[l, v], exact[v, l]) for l in ahead | back if min(exact[l, v], exact[v, l]) >= 0), default=None)
        for v in components.largest(graph)
    ]
    if None in apart:
        assert "covering_radius" not in facts
    else:
        assert facts["covering_radius"] == np.float64(max(apart)) or np.isclose(facts["covering_radius"], max(apart))


def test_a_label_for_both_directions_is_counted_once():
    from aacbench.graphs.load import load

    net = network(load("p7"))
    heuristic = subset(net, of_landmarks(net, [2, 4]), [0, 1])
    assert heuristic.facts == {"distinct_landmarks": 2, "covering_radius": 2}
