"""Methods conform with every label store, and each defect put into a store fails the check named beside it."""

from dataclasses import replace

import numpy as np
import pytest

from aacbench.plugins.in_workers import PluginSources, WholeMethodOf
from aacbench.testing import CHECKS, check_method, zoo
from aacbench.testing.report import FAILED

STORES = ("for16", "cover", "packed", "u16", "u8", "u6")
BUDGETS = {"u6": (256.0, 512.0)}  # whose levels take 1,008 bytes: too many for a small graph at less
FEW = ("single-vertex", "no-arcs", "one-way-streets", "one-way-components", "zero-weights", "grid")
# The other checks start processes or compile whole searches, which the exhaustive set does.
QUICK = (
    *("parameters", "builds", "zero-at-target", "numbers", "unreachable", "admissible", "consistent"),
    *("directed", "within-budget"),
)


def checked(store, name="alt", only=(), graphs=None):
    settings = {"labels": store, **({"epochs": 20} if name.startswith("aac") else {})}
    locate = WholeMethodOf(PluginSources(), name, settings)
    wanted = [check.name for check in CHECKS if check.claimed(locate().claims) and (not only or check.name in only)]
    budgets = BUDGETS.get(store, (8.0, 32.0))
    used = [zoo()[graph] for graph in graphs or zoo()]
    return check_method(locate(), settings=settings, locate=locate, graphs=used, only=wanted, budgets=budgets)


@pytest.mark.parametrize("store", STORES)
def test_alt_conforms_with_every_store(store):
    report = checked(store, only=QUICK, graphs=FEW)
    assert report.ok, report.text()


@pytest.mark.exhaustive
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("name", ["alt", "greedy-train", "aac", "aac-tuned"])
def test_methods_conform_with_every_store_on_the_whole_zoo(name, store):
    report = checked(store, name)
    assert report.ok, report.text()


@pytest.mark.parametrize("store", STORES)
def test_only_lossless_stores_claim_consistency(store):
    claims = WholeMethodOf(PluginSources(), "hybrid-half", {"a": f"alt[labels={store}]", "b": "alt"})().claims
    assert claims.consistent == (store not in ("u16", "u8", "u6"))


def with_defect(store, name, change):
    """ALT whose heuristics have one array changed."""
    method = WholeMethodOf(PluginSources(), "alt", {"labels": store})()

    def build(context):
        made = method.build(context)
        array = made.arrays[name].copy()
        change(array)
        return replace(made, arrays={**made.arrays, name: array})

    return replace(method, build=build)


def raise_last(array):
    """Raise the last number of the first column that is not the largest of its type, which stands for no path."""
    column = array.reshape(len(array), -1)[:, 0]
    largest = np.iinfo(array.dtype).max if array.dtype.kind in "iu" else np.inf
    column[np.flatnonzero(column < largest)[-1]] += 1


def raise_all(array):
    array += 1


def double(array):
    array *= 2


def raise_bases_of_one_cell(bases):
    bases[0] += 9


def leave_out_a_row(index):
    index[0, 0] &= index[0, 0] - type(index[0, 0])(1)  # clears the lowest bit


DEFECTS = [
    ("wrong-base", "for16", "bases", raise_bases_of_one_cell, "large-weights", "admissible"),
    ("offset-too-large", "for16", "offsets", raise_last, "path", "admissible"),
    ("offset-of-a-cover-too-large", "cover", "offsets", raise_last, "path", "admissible"),
    ("packed-offset-too-large", "packed", "offsets", raise_last, "path", "admissible"),
    ("missing-row", "cover", "index", leave_out_a_row, "grid", "builds"),
    ("label-too-large", "u8", "rows", raise_last, "path", "admissible"),
    ("step-too-large", "u8", "steps", raise_last, "path", "admissible"),
    ("u16-label-too-large", "u16", "rows", raise_last, "path", "admissible"),
    ("code-too-large", "u6", "rows", raise_last, "path", "admissible"),
    ("level-too-high", "u6", "low", raise_all, "path", "zero-at-target"),
    ("levels-stretched", "u6", "low", double, "path", "admissible"),
]


@pytest.mark.parametrize(
    ("store", "name", "change", "graph", "check"), [d[1:] for d in DEFECTS], ids=[d[0] for d in DEFECTS]
)
def test_each_defect_of_a_store_fails_the_check_named(store, name, change, graph, check):
    method = with_defect(store, name, change)
    budgets = BUDGETS.get(store, (8.0, 32.0))
    report = check_method(method, settings={"labels": store}, only=[check], graphs=[zoo()[graph]], budgets=budgets)
    (result,) = report.results
    assert result.status == FAILED, report.text()
