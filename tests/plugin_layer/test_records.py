"""Checks of single records that no plugin file stands for, and what the built-in method deploys."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from aacbench.contract.budget import Budget
from aacbench.contract.method import Claims, Method, Parameter
from aacbench.graphs import from_arcs
from aacbench.plugins.checks import check_graph, check_method, check_report
from aacbench.plugins.manager import load_plugins
from aacbench.plugins.records import GraphSource, PluginError, Report

WHOLE = Method("whole", "nothing wrong", lambda budget, info, params: params, lambda context: None)


def test_a_whole_method_passes():
    parameters = {"K0": Parameter(8, choices=(4, 8), minimum=1), "rate": Parameter(1.0, choices=(1, 2.5))}
    check_method(replace(WHOLE, parameters=parameters))
    check_method(replace(WHOLE, build=max))  # a compiled function has no signature to look at


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": ""}, "name of a method"),
        ({"name": None}, "name of a method"),
        ({"name": "-alt"}, "name of a method"),
        ({"name": "alt\n"}, "name of a method"),
        ({"name": "ält"}, "name of a method"),
        ({"summary": "two\nlines"}, "summary"),
        ({"summary": None}, "summary"),
        ({"fit": None}, "`fit` of method 'whole' must be a function"),
        ({"fit": lambda budget: None}, "`fit` of method 'whole' must take"),
        ({"claims": Claims(admissible="yes")}, "claims"),
        ({"parameters": [("K0", Parameter(1))]}, "must be a mapping"),
        ({"parameters": {"K 0": Parameter(1)}}, "nobody can type"),
        ({"parameters": {1: Parameter(1)}}, "nobody can type"),
        ({"parameters": {"K0": Parameter(None)}}, "Parameter 'K0' of method 'whole' must have a number, text"),
        ({"parameters": {"K0": Parameter(float("nan"))}}, "takes a number, but itself declares nan"),
        ({"parameters": {"K0": Parameter(1, choices=[1, 2])}}, "must have a tuple"),
        ({"parameters": {"K0": Parameter(1, choices=(1, "2"))}}, "but itself declares '2'"),
        ({"parameters": {"K0": Parameter(1, choices=(1, True))}}, "but itself declares True"),
        ({"parameters": {"K0": Parameter(1, minimum=2)}}, "from 2, but itself declares 1"),
        ({"parameters": {"K0": Parameter(1, choices=(1, 9), maximum=8)}}, "but itself declares 9"),
        ({"parameters": {"K0": Parameter("a", minimum=2)}}, "cannot have a minimum"),
        ({"parameters": {"K0": Parameter(True, maximum=2)}}, "cannot have a minimum"),
        ({"parameters": {"K0": Parameter(1, minimum=float("nan"))}}, "must have finite numbers"),
    ],
)
def test_a_method_with_one_thing_wrong_is_refused_for_it(change, reason):
    with pytest.raises(PluginError, match=reason):
        check_method(replace(WHOLE, **change))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": "<b>"}, "name of a report must be letters"),
        ({"title": ""}, "The title of report 'sums' must be one line"),
        ({"summary": "two\nlines"}, "The summary of report 'sums' must be one line"),
        ({"make": None}, "`make` of report 'sums' must be a function"),
        ({"make": lambda: None}, r"`make` of report 'sums' must take \(study\)"),
    ],
)
def test_a_report_with_one_thing_wrong_is_refused_for_it(change, reason):
    whole = Report("sums", "Sums", "adds up", lambda study: None)
    check_report(whole)
    with pytest.raises(PluginError, match=reason):
        check_report(replace(whole, **change))


@pytest.mark.parametrize("name", ["own:", ":pair", "a:b:c", "file:a.gr", "a b", ""])
def test_a_graph_is_named_like_the_others(name):
    check_graph(GraphSource("own:pair-2", "two vertices", lambda: None))
    with pytest.raises(PluginError, match="name of a graph"):
        check_graph(GraphSource(name, "two vertices", lambda: None))


@pytest.mark.parametrize("weights", [[3], [3.5]])
def test_dijkstra_deploys_a_table_without_columns_within_any_budget(weights):
    method = load_plugins((), {"AACBENCH_PLUGINS": ""}).method("dijkstra").method
    graph = from_arcs(2, [0], [1], weights)
    assert method.fit(Budget(0.001), None, {}) == {}
    heuristic = method.build(SimpleNamespace(graph=graph))
    (table,) = heuristic.arrays.values()
    assert (heuristic.kernel, table.shape, table.nbytes) == ("differential", (2, 0), 0)
    assert table.dtype == (np.int32 if graph.integral else np.float64)
