"""A heuristic in any of its three forms gives one bound and one search; junk is refused with a sentence."""

import types
from dataclasses import replace

import forms
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import all_pairs, example_count, graphs_to_compile_for

from aacbench.bundle import store
from aacbench.bundle.deploy import TIERS, deploy
from aacbench.bundle.evidence import Sample, check_evidence, other_forms, take_evidence
from aacbench.bundle.inventory import inventory
from aacbench.contract.method import BatchHeuristic, LabelHeuristic, ScalarHeuristic
from aacbench.errors import AacbenchError, DisagreementError, UsageError
from aacbench.graphs import from_arcs
from aacbench.labels import label_rows, of_landmarks
from aacbench.search import network, search


@st.composite
def labelled(draw):
    """A graph, rows of true labels for it, and how many columns serve both directions and how many forward."""
    net = network(draw(graphs_to_compile_for()))
    vertex = st.integers(0, net.graph.vertices - 1)
    pool = of_landmarks(net, draw(st.lists(vertex, min_size=1, max_size=3)), threads=1)
    return (net, label_rows(pool), len(pool), 0) if pool.symmetric else (net, label_rows(pool), 0, len(pool))


@given(labelled())
@example_count(60)
def test_all_forms_agree_and_search_alike(case):
    net, rows, both, forward = case
    deployed = [deploy(form, net) for form in forms.every_form(rows, both, forward)]
    assert [one.tier for one in deployed] == ["compiled", "compiled", "batch", "scalar"]
    rows = [Sample(net.graph.vertices, seed=3).bounds(one) for one in deployed]
    assert all(np.array_equal(rows[0], row) for row in rows)
    sources, targets = all_pairs(net.graph)
    first, *rest = (search(net, one.searched, sources, targets).columns() for one in deployed)
    for answers in rest:
        assert {name: column.tolist() for name, column in answers.items()} == {
            name: column.tolist() for name, column in first.items()
        }


def test_a_batch_is_asked_in_blocks_and_only_for_the_latest_target(monkeypatch):
    monkeypatch.setattr("aacbench.bundle.deploy._BLOCK", 4)
    asked = []

    def many(arrays, us, t):
        asked.append((us.tolist(), t))
        return us * 100 + t

    net = network(from_arcs(10, [0], [1], [1]))
    h = deploy(BatchHeuristic({}, many), net).searched
    assert [h(5, 1), h(6, 1), h(9, 1), h(5, 2), h(4, 2), h(5, 1)] == [501, 601, 901, 502, 402, 501]
    assert asked == [([4, 5, 6, 7], 1), ([8, 9], 1), ([4, 5, 6, 7], 2), ([4, 5, 6, 7], 1)]


@numba.njit
def does_not_compile(labels, u, t):
    return labels.missing[u]


def closing_over(offset):
    return numba.njit(lambda labels, u, t: labels.rows[u, 0] + offset)


def of_no_module():
    plain = types.FunctionType(forms.kernel.py_func.__code__, {})
    plain.__module__ = "never_imported"
    return numba.njit(plain)


ROWS = np.zeros((3, 2), dtype=np.int32)
JUNK = {
    "no heuristic": None,
    "a function": lambda u, t: 0,
    "no mapping": LabelHeuristic([ROWS], "differential"),
    "unknown kernel": LabelHeuristic({"rows": ROWS}, "cleverest"),
    "kernel of another kind": LabelHeuristic({"rows": ROWS}, 7),
    "kernel not compiled": LabelHeuristic({"rows": ROWS}, lambda labels, u, t: 0),
    "kernel that does not compile": LabelHeuristic({"rows": ROWS}, does_not_compile),
    "kernel that closes over something": LabelHeuristic({"rows": ROWS}, closing_over(7)),
    "kernel of a module that is not there": LabelHeuristic({"rows": ROWS}, of_no_module()),
    "array under another name": LabelHeuristic({"labels": ROWS}, "differential"),
    "one array too many": LabelHeuristic({"rows": ROWS, "more": ROWS}, "differential"),
    "a list": LabelHeuristic({"rows": ROWS.tolist()}, "differential"),
    "objects": LabelHeuristic({"rows": ROWS.astype(object)}, "differential"),
    "texts": BatchHeuristic({"rows": np.array(["a"])}, forms.many),
    "records": BatchHeuristic({"rows": np.zeros(3, dtype=[("a", int)])}, forms.many),
    "complex numbers": BatchHeuristic({"rows": np.zeros(3, dtype=complex)}, forms.many),
    "foreign bytes": BatchHeuristic({"rows": np.zeros(3, dtype=">i4")}, forms.many),
    "a name that is no identifier": BatchHeuristic({"../rows": ROWS}, forms.many),
    "a name that is no text": BatchHeuristic({3: ROWS}, forms.many),
    "no function": BatchHeuristic({"rows": ROWS}, "many"),
    "no scalar function": ScalarHeuristic(0),
    "too few rows": LabelHeuristic({"rows": ROWS[:2]}, "differential"),
    "one dimension": LabelHeuristic({"rows": ROWS[:, 0]}, "differential"),
    "unsigned rows": LabelHeuristic({"rows": ROWS.astype(np.uint32)}, "differential"),
    "half floats": LabelHeuristic({"rows": ROWS.astype(np.float16)}, "differential"),
    "infinite rows": LabelHeuristic({"rows": ROWS + np.inf}, "differential"),
    "unknown setting": LabelHeuristic({"rows": ROWS}, "differential", {"sideways": 1}),
    "more columns than there are": LabelHeuristic({"rows": ROWS}, "differential", {"both": 2, "forward": 1}),
    "fractional columns": LabelHeuristic({"rows": ROWS}, "differential", {"both": 1.5}),
    "negative columns": LabelHeuristic({"rows": ROWS}, "differential", {"both": -1}),
    "negative margin": LabelHeuristic({"rows": ROWS}, "differential", {"margin": -1}),
    "margin that integers would round away": LabelHeuristic({"rows": ROWS}, "differential", {"margin": 0.5}),
    "setting of text": LabelHeuristic({"rows": ROWS}, "differential", {"both": "2"}),
    "setting beyond eight bytes": LabelHeuristic({"rows": ROWS}, "differential", {"both": 2**70}),
    "setting not finite": LabelHeuristic({"rows": ROWS}, "differential", {"margin": float("nan")}),
    "settings no mapping": LabelHeuristic({"rows": ROWS}, "differential", [2]),
    "array and setting of one name": LabelHeuristic({"rows": ROWS}, forms.kernel, {"rows": 2}),
}


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK)
def test_junk_is_refused_with_one_sentence(junk):
    with pytest.raises(AacbenchError) as refused:
        deploy(junk, network(from_arcs(3, [0, 1], [1, 2], [1, 1])))
    text = str(refused.value)
    assert text.endswith(".")
    assert "\n" not in text


ANSWERS = {
    "nothing": None,
    "a list": [0, 0],
    "too few": np.zeros(1),
    "a table": np.zeros((2, 1)),
    "truths": np.zeros(2, dtype=bool),
    "objects": np.array([0, None]),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_answers_that_are_no_numbers_are_refused(answer):
    net = network(from_arcs(3, [0, 1], [1, 2], [1, 1]))
    deployed = deploy(BatchHeuristic({}, lambda arrays, us, t: answer), net)
    with pytest.raises(AacbenchError, match="2 vertices"):
        deployed.many([0, 1], 2)
    with pytest.raises(AacbenchError, match="3 vertices"):
        search(net, deployed.searched, [0], [2])
    scalar = deploy(ScalarHeuristic(lambda u, t: "far"), net)
    with pytest.raises(AacbenchError, match="must be a number"):
        search(net, scalar.searched, [0], [2])


def test_vertices_that_are_not_in_the_graph_are_refused():
    net = network(from_arcs(3, [0, 1], [1, 2], [1, 1]))
    for form in forms.every_form(ROWS, 0, 2):
        deployed = deploy(form, net)
        assert deployed.many([], 0).shape == (0,)
        assert deployed.tier in TIERS
        for us, t in (([3], 0), ([-1], 0), ([0], 3), ([0.5], 0), ([[0]], 0)):
            with pytest.raises(AacbenchError, match="vert"):
                deployed.many(us, t)


def test_rounding_is_taken_off_by_the_margin():
    net = network(from_arcs(2, [0, 1], [1, 0], [1.0, 1.0]))
    rows = np.array([[0], [1]], dtype=np.float32)
    deployed = deploy(LabelHeuristic({"rows": rows}, "differential", {"both": 1, "margin": 0.25}), net)
    assert deployed.many([0, 1], 1).tolist() == [0.75, 0.0]


def test_other_forms_of_one_bound_are_compared_with_it():
    net, sample = network(from_arcs(3, [0, 1], [1, 2], [1, 1])), Sample(3)
    label, _, batch, scalar = forms.every_form(ROWS, 0, 2)
    honest = replace(label, many=lambda arrays, us, t: batch.many(batch.arrays, us, t), h=scalar.h)
    assert [deploy(form, net).tier for _, form in other_forms(honest)] == ["batch", "scalar"]
    check_evidence(honest, net, sample, take_evidence(honest, net, sample))
    lying = replace(label, h=lambda u, t: scalar.h(u, t) + 1)
    with pytest.raises(DisagreementError, match="in its function h"):
        check_evidence(lying, net, sample, take_evidence(lying, net, sample))
    assert other_forms(label) == other_forms(batch) == other_forms(scalar) == []


@numba.njit
def recursive(labels, u, t):
    return 0 if u == t else recursive(labels, t, t)


def test_a_recursive_kernel_is_refused():
    with pytest.raises(UsageError, match="The function recursive is recursive"):
        deploy(LabelHeuristic({"rows": ROWS}, recursive), network(from_arcs(3, [0, 1], [1, 2], [1, 1])))


def scaled(arrays, us, t):
    return np.abs(arrays["rows"][us, 0] - arrays["rows"][t, 0]) * arrays["scale"]


def test_a_batch_finds_its_settings_among_its_arrays(tmp_path):
    net = network(from_arcs(3, [0, 1], [1, 2], [1, 1]))
    batch = BatchHeuristic({"rows": ROWS}, scaled, settings={"scale": 3})
    assert deploy(batch, net).many([0, 1], 2).tolist() == (3 * np.abs(ROWS[:2, 0] - ROWS[2, 0])).tolist()
    assert inventory(batch, 3).settings_bytes == 8
    assert store.load(store.save(tmp_path, batch, net.graph)).settings == {"scale": 3}
    label = LabelHeuristic({"rows": ROWS}, "differential", {"scale": 3}, many=scaled)
    assert [form.settings for _, form in other_forms(label)] == [{"scale": 3}]


@pytest.mark.parametrize(
    ("settings", "reason"), [({"rows": 1}, "both an array and a setting"), ({"scale": "x"}, "finite number")]
)
def test_settings_of_a_batch_are_checked(settings, reason):
    with pytest.raises(UsageError, match=reason):
        deploy(BatchHeuristic({"rows": ROWS}, scaled, settings=settings), network(from_arcs(3, [0], [1], [1])))
