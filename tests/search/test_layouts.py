"""Labels stored by landmark give the bounds and the counts of labels stored by vertex; policies name both."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import all_pairs, example_count, graphs_to_compile_for, true_distances

from aacbench.errors import UsageError
from aacbench.search import Policy, network, parse, search
from aacbench.search.bounds import bounds
from aacbench.search.layouts import ByLandmark, differential, knows_nothing
from aacbench.search.policy import LABEL_LAYOUTS


def plain_bound(rows, both, u, t):
    """The bound from lists: the first `both` columns serve both directions, the first half of the others d(l, v)."""
    found, turn = [0], both + (rows.shape[1] - both) // 2
    for k in range(rows.shape[1]):
        here, there = rows[u, k], rows[t, k]
        if here >= 0 and there >= 0:
            found += [there - here] if k < turn else []
            found += [here - there] if k < both or k >= turn else []
    return max(found)


@given(graphs_to_compile_for(), st.booleans())
@example_count(60)
def test_labels_by_landmark_give_the_bounds_and_counts_of_labels_by_vertex(graph, two):
    net, exact = network(graph), true_distances(graph)
    landmarks = [0, graph.vertices - 1]
    symmetric = graph.symmetric and not two
    rows = exact[landmarks].T if symmetric else np.concatenate((exact[landmarks].T, exact[:, landmarks]), axis=1)
    rows = rows.astype(np.int64) if graph.integral else rows
    columns = {"both": 2} if symmetric else {"forward": 2}
    by_vertex, by_landmark = (differential(net, rows, label_layout=layout, **columns) for layout in LABEL_LAYOUTS)
    assert isinstance(by_landmark.labels, ByLandmark)
    sources, targets = all_pairs(graph)
    one, other = (search(net, layout, sources, targets).columns() for layout in (by_vertex, by_landmark))
    assert all(np.array_equal(one[name], other[name]) for name in one)
    for t in range(graph.vertices):
        asked = bounds(net, by_landmark, np.arange(graph.vertices), t).tolist()
        assert asked == [plain_bound(rows, columns.get("both", 0), u, t) for u in range(graph.vertices)]


def test_no_labels_are_dijkstra_in_any_layout():
    from aacbench.graphs import from_arcs

    net = network(from_arcs(2, [0], [1], [1]))
    empty = np.empty((2, 0), dtype=np.int32)
    assert all(knows_nothing(differential(net, empty, label_layout=layout)) for layout in LABEL_LAYOUTS)


def test_a_policy_names_order_and_layout_only_where_they_are_set():
    assert parse("modern").name == "modern"
    assert parse("paper,bpmx=off").name == "paper"
    both = parse("paper,vertex_order=file,label_layout=landmark-major")
    assert both.name == "reopen=off,tie=fifo,bpmx=off,vertex_order=file,label_layout=landmark-major"
    assert parse(both.name) == both
    assert both.counted == parse("paper")


def test_changes_alone_are_those_of_the_base():
    assert parse("tie=lifo", parse("paper")) == Policy(reopen=False, tie="lifo")
    assert parse("modern,tie=lifo", parse("paper")) == Policy(tie="lifo")


@pytest.mark.parametrize(("text", "told"), [("vertex_order=bfs", "one of dfs, file"), ("layout=x", "label_layout=")])
def test_an_unknown_order_or_layout_is_refused(text, told):
    with pytest.raises(UsageError, match=told):
        parse(text)
