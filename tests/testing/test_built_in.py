"""Every built-in method keeps its claims; a new one is checked without being named here."""

import pytest

from aacbench.plugins.in_workers import PluginSources, WholeMethodOf
from aacbench.plugins.manager import load_plugins
from aacbench.testing import check_method, zoo
from aacbench.testing.zoo import REPRESENTATIVE

PARTS = {"a": "alt", "b": "alt-pool[K0=12]"}  # of every method made of two others
SETTINGS = {"hybrid": PARTS, "hybrid-half": PARTS, "hybrid-double": PARTS}
METHODS = list(load_plugins(environment={"AACBENCH_PLUGINS": ""}).methods())

# Nearly all the time goes into compiling the search, once for each type of weights and labels and each kind of
# heuristic. These graphs have three of the six combinations, and every feature of the zoo but huge weights.
FEW = [
    "single-vertex",
    "no-arcs",
    "one-way-streets",
    "components",
    "one-way-components",
    "zero-weights",
    "parallel-arcs",
    "float-one-way",
    "grid",
]


def check_conformance(name, graphs):
    settings = SETTINGS.get(name, {})
    locate = WholeMethodOf(PluginSources(), name, settings)
    report = check_method(locate(), settings=settings, locate=locate, graphs=graphs)
    assert report.ok, report.text()
    assert report.ran == report.due, report.text()


@pytest.mark.parametrize("name", METHODS)
def test_a_built_in_method_conforms(name):
    check_conformance(name, [zoo()[graph] for graph in FEW])


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", METHODS)
def test_a_built_in_method_conforms_on_the_whole_zoo(name):
    check_conformance(name, zoo().values())


def test_the_few_graphs_are_enough_for_every_check():
    assert len(REPRESENTATIVE & set(FEW)) >= 4
