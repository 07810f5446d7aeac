"""The vertices that a search expands are as many as it counts, and the same in both tiers."""

import numpy as np
import pytest
from support import EVERY_POLICY, all_pairs, random_bound

from aacbench.graphs.generators.textbook import grid
from aacbench.search import network, search
from aacbench.search.expanded import expanded_vertices
from aacbench.search.layouts import differential, no_labels

GRAPH = grid(4)


@pytest.mark.parametrize("policy", EVERY_POLICY, ids=lambda policy: policy.name)
def test_the_list_has_as_many_vertices_as_were_counted(policy):
    net, bounds = network(GRAPH), random_bound(GRAPH, 3)
    for s, t in zip(*all_pairs(GRAPH), strict=True):
        listed, answers = expanded_vertices(net, lambda u, goal: bounds[u, goal], s, t, policy)
        assert len(set(listed.tolist())) == len(listed) == answers.expanded[0] - answers.reexpanded[0]
        assert set(answers.paths[0].tolist()) <= {*listed.tolist(), s}


def test_both_tiers_list_the_same():
    net = network(GRAPH)
    rows = search(net, no_labels(net), np.zeros(GRAPH.vertices, int), np.arange(GRAPH.vertices)).cost[:, None]
    layout = differential(net, rows, both=1)
    for s, t in zip(*all_pairs(GRAPH), strict=True):
        compiled, found = expanded_vertices(net, layout, s, t)
        plain, _ = expanded_vertices(net, lambda u, goal: abs(int(rows[u, 0]) - int(rows[goal, 0])), s, t)
        assert compiled.tolist() == plain.tolist()
        assert len(compiled) == found.expanded[0]
    everything, _ = expanded_vertices(net, layout, 0, 5)
    again, _ = expanded_vertices(net, layout, 0, 0)
    assert len(everything) > 1
    assert again.tolist() == []
