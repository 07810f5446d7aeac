"""best: deploys what expands least on validation, leaves out what does not fit, and tells what it tried."""

import numpy as np
import pytest
import small_studies as studies
from method_builds import method, plugins

from aacbench.contract.budget import Budget
from aacbench.contract.composite import assemble, nominal_bytes, resolve_parts
from aacbench.contract.method import Claims, LabelHeuristic, Method, Part, Unsupported
from aacbench.errors import UsageError
from aacbench.labels.graph_info import graph_info
from aacbench.plugins.settings import resolve
from aacbench.reports import tables
from aacbench.run.driver import run_study
from aacbench.run.loaded_graph import build_context, loaded_graph
from aacbench.run.records import MethodChoice, QueryPlan
from aacbench.run.shared import Pools
from aacbench.run.study import planned_cells

QUERIES = QueryPlan(validation=20, test=10)
LIST = "alt;alt[pool=avoid];greedy-train;fastmap"


def built(candidates, graph="road-500", budget=16, queries=QUERIES, **more):
    """The params and the heuristic of best on a graph."""
    best, loaded = plugins().method("best").method, loaded_graph(graph, queries)
    params = resolve_parts(best, resolve(best, {"candidates": candidates, **more}), method, resolve)
    whole = assemble(best, params, method)
    fitted = whole.fit(Budget(budget), graph_info(loaded.net), params)
    if isinstance(fitted, Unsupported):
        return fitted, None
    return fitted, whole.build(build_context(loaded, whole, fitted, 1, Pools(loaded.net)))


def test_it_deploys_the_candidate_with_the_fewest_expansions():
    params, heuristic = built(LIST)
    facts = dict(heuristic.facts)
    means = {
        int(name.removeprefix("expanded_")): value for name, value in facts.items() if name.startswith("expanded_")
    }
    assert set(means) == {0, 1, 2}  # fastmap does not support a directed graph
    assert "left_out" in params["parts"][3]
    assert means[facts["chosen"]] == min(means.values()) <= means[0]
    alone = built(["alt", "alt[pool=avoid]", "greedy-train"][facts["chosen"]])[1]
    assert np.array_equal(heuristic.arrays["rows"], alone.arrays["rows"])


def test_of_equals_the_first_is_deployed():
    assert built("alt;alt-pool[K0=64]")[1].facts["chosen"] == 0


def test_the_means_are_those_of_the_validation_rows(tmp_path):
    candidates = MethodChoice(name="best", settings={"candidates": "alt;greedy-train"})
    run_study(
        studies.study("alt", "greedy-train", candidates, graphs=("road-500",), queries=QUERIES),
        studies.config(tmp_path, plugins=()),
    )
    cells = {cell.key["label"]: cell for cell in planned_cells(tmp_path)}
    best = cells["best[candidates=alt;greedy-train]"]
    facts = best.record["build"]["facts"]
    means = [cells[name].record["means"]["validation"] for name in ("alt", "greedy-train")]
    assert [facts["expanded_0"], facts["expanded_1"]] == pytest.approx(means)
    assert best.record["means"]["validation"] == pytest.approx(min(means))
    assert best.record["bytes"]["nominal_per_vertex"] == 16
    assert best.record["bytes"]["measured_per_vertex"] < 16.1
    row = next(row for row in tables.rows_of(cells.values()) if row.method.startswith("best"))
    assert row.settings.startswith(("alt[K=", "greedy-train["))


def test_it_depends_on_the_seed_only_where_a_candidate_does():
    def claims(**given):
        best = plugins().method("best").method
        return assemble(best, resolve_parts(best, resolve(best, given), method, resolve), method).claims

    assert not claims().deterministic  # greedy-train is among the default candidates
    assert claims(candidates="alt;ch").deterministic


def test_without_validation_queries_or_candidates_it_is_refused():
    with pytest.raises(UsageError, match="needs validation queries"):
        built("alt", queries=QueryPlan(validation=0, test=10))
    with pytest.raises(UsageError, match="needs candidates"):
        built(";")


def test_where_nothing_fits_it_is_unsupported():
    refusal, _ = built("alt;greedy-train", budget=1)
    assert refusal.reason.startswith("none of its parts fits; alt at 1 B/v: ")


# What any method that chooses may rely on


def zeros(vertices):
    return LabelHeuristic({"rows": np.zeros((vertices, 1), dtype=np.int32)}, "differential", {"both": 1})


def choosing(*made):
    """A method that returns the first alternative that was built; each alternative is one of `made`."""
    named = {
        f"part-{at}": Method(f"part-{at}", "", lambda *given: given[2], lambda context, one=one: one, Claims())
        for at, one in enumerate(made)
    }

    def build(context):
        assert context.parts == ()
        assert [type(one) for one in context.alternatives] == [type(one) for one in made]
        return next((one for one in context.alternatives if not isinstance(one, Unsupported)), Unsupported("none"))

    outer = Method(
        "outer", "", lambda *given: given[2], build, made_of=lambda params: tuple(map(Part, named)), chooses=True
    )
    return outer, named.__getitem__


def test_alternatives_are_built_one_at_a_time_as_they_are_asked_for():
    """Many of them would not fit into memory together."""
    told = []
    first, second = (
        Method(name, "", lambda *given: given[2], lambda context, name=name: told.append(name) or zeros(7), Claims())
        for name in ("first", "second")
    )

    def build(context):
        told.append(len(context.alternatives))
        taken = context.alternatives[1]
        told.append("chosen")
        return taken

    parts = Part("first"), Part("second")
    outer = Method("outer", "", lambda *given: given[2], build, made_of=lambda params: parts, chooses=True)
    method_of = {"first": first, "second": second}.__getitem__
    loaded, params = loaded_graph("p7", QUERIES), resolve_parts(outer, {}, method_of, resolve)
    whole = assemble(outer, params, method_of)
    whole.build(build_context(loaded, whole, params, 1, Pools(loaded.net)))
    assert told == [2, "second", "chosen"]


def test_alternatives_that_turn_out_too_large_are_left_out():
    outer, method_of = choosing(Unsupported("too large", 10**9), zeros(7))
    params = resolve_parts(outer, {}, method_of, resolve)
    loaded = loaded_graph("p7", QUERIES)
    whole = assemble(outer, params, method_of)
    assert nominal_bytes(params, 8.0) == 8.0
    heuristic = whole.build(build_context(loaded, whole, params, 1, Pools(loaded.net)))
    assert isinstance(heuristic, LabelHeuristic)
