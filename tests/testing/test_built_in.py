"""Every built-in method keeps its claims; a new one is checked without being named here."""

from functools import cache

import pytest

from aacbench.library.map_check import check_on_maps, only_on_maps
from aacbench.plugins.in_workers import PluginSources, WholeMethodOf
from aacbench.plugins.manager import load_plugins
from aacbench.testing import CHECKS, Report, zoo
from aacbench.testing.process_checks import build_in_another_process
from aacbench.testing.runners import subject_of
from aacbench.testing.suite import checks_for, run_check

PARTS = {"a": "alt", "b": "alt-pool[K0=12]"}  # of every method made of two others
SETTINGS = {"hybrid": PARTS, "hybrid-half": PARTS, "hybrid-double": PARTS}
SETTINGS["best"] = {"candidates": "alt;fastmap;greedy-train"}  # others would compile every kernel once more
FEW_EPOCHS = {"aac": {"epochs": 20}, "aac-tuned": {"epochs": 20}}  # training takes most of their time
FOUND = load_plugins(environment={"AACBENCH_PLUGINS": ""}).methods()
DEFAULTS = {
    name: {key: parameter.default for key, parameter in found.method.parameters.items()}
    for name, found in FOUND.items()
}
ON_MAPS = [name for name, found in FOUND.items() if only_on_maps(found.method, DEFAULTS[name])]
METHODS = [name for name in FOUND if name not in ON_MAPS]

# Nearly all the time goes into compiling the search, once for each type of weights and labels and each kind of
# heuristic. These graphs have three of the six combinations, and every feature of the zoo but huge weights.
FEW = (
    "single-vertex",
    "no-arcs",
    "one-way-streets",
    "components",
    "one-way-components",
    "zero-weights",
    "parallel-arcs",
    "float-one-way",
    "grid",
)


GROUP = 5  # methods; a process for each method would cost two seconds, and one for all would be built by every worker


@cache
def group_of_subjects(names, graphs):
    """Methods that are built in one other process together."""
    subjects = {}
    for name in names:
        settings = {**SETTINGS, **(FEW_EPOCHS if graphs == FEW else {})}.get(name, {})
        locate = WholeMethodOf(PluginSources(), name, settings)
        graphs_used = [zoo()[graph] for graph in graphs]
        subjects[name] = subject_of(locate(), settings=settings, locate=locate, graphs=graphs_used)
    build_in_another_process(subjects.values())
    return subjects


def check_conformance(name, names, graphs):
    first = names.index(name) // GROUP * GROUP
    subject = group_of_subjects(tuple(names[first : first + GROUP]), graphs)[name]
    checks = checks_for(subject.method)
    report = Report(name, tuple(run_check(subject, check) for check in checks))
    assert report.ok, report.text()
    assert report.ran == report.due, report.text()


# Variants, whose kernels take long to compile and whose code is nearly that of the methods they are named after.
VARIANTS = ("hybrid-half", "hybrid-double", "cdh-paper", "fastmap-paper")
OTHERS = [name for name in METHODS if name not in VARIANTS]


@pytest.mark.parametrize("name", OTHERS)
def test_a_built_in_method_conforms(name):
    check_conformance(name, OTHERS, FEW)


def test_a_built_in_method_for_maps_alone_conforms():
    assert ON_MAPS == ["hops", "chebyshev", "cells"]
    cells = check_on_maps(",".join(ON_MAPS), (), 60)
    assert [(cell.outcome, cell.record["reason"]) for cell in cells] == [("ok", "")] * 12


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", METHODS)
def test_a_built_in_method_conforms_on_the_whole_zoo(name):
    check_conformance(name, METHODS, tuple(zoo()))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_every_check_has_several_of_the_few_graphs(check):
    assert sum(check.on(zoo()[graph]) for graph in FEW) >= 4
