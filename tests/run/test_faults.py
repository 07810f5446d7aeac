"""Methods that misbehave in one study: each gets its outcome, and the others finish."""

import json
import os
from pathlib import Path

import numpy as np
import psutil
import pytest
import small_studies as studies

from aacbench.graphs.load import load
from aacbench.processes.pool import GIB, Limits
from aacbench.run.driver import run_study
from aacbench.run.exit_codes import exit_code
from aacbench.run.rows import read_queries
from aacbench.run.store import commit
from aacbench.search import network

LIMIT = 6  # seconds, for those that hang; the others have all the time they need, however busy the machine is

OVERWRITTEN = ("weights", "arcs", "and-ask-for-a-pool", "and-raise", "later")
HANGING = {
    "hang": ("timeout", f"longer than its limit of {LIMIT} seconds; raise it with --time-limit"),
    "hang-and-hold-on": ("timeout", f"longer than its limit of {LIMIT} seconds; raise it with --time-limit"),
    "start-a-child": ("timeout", f"longer than its limit of {LIMIT} seconds; raise it with --time-limit"),
}
FATAL = {
    "leave-at-once": ("error", "exit code 0"),
    "kill-itself": ("error", "signal 9"),
    # The graph is mapped from a file, read-only, so the system ends whoever writes to it.
    **{f"overwrite-{what}": ("error", "which is read-only") for what in OVERWRITTEN},
}
RAISED = {
    "allocate": ("out-of-memory", "more memory than its limit of 4 GiB; raise it with --memory-limit"),
    "raise-at-query-57": ("error", "ZeroDivisionError: query 57"),
    "raise-odd-text": ("error", r"ValueError: not text: \ud800"),
    "raise-interrupt": ("error", "KeyboardInterrupt"),
    "raise-unreadable": ("error", "Unreadable"),
    "leave": ("error", "SystemExit: 0"),
    "not-a-number": ("error", "nan, which is not a finite number"),
    "not-a-number-in-arrays": ("error", "nan, which is not a finite number"),
    "set-flags": ("error", ""),
    "overwrite-queries": ("error", "changed the graph or the queries"),
    "replace-arrays": ("error", "changed the graph"),
    "keep-in-module": ("error", "KeyError: 'rows'"),
    "keep-in-closure": ("error", "top of"),
    "return-nothing": ("error", "NoneType"),
    "return-text": ("error", "str"),
}
TOLD = {"raise-store-error": ("error", "the method says that the disk is full")}
UNFIT = {
    "fit-raises": ("error", "fit failed: ValueError: no fit"),
    "fit-leaves": ("error", "fit failed: SystemExit: 3"),
    "fit-junk": ("error", "fit failed: It returned a str"),
    "fit-unwritable": ("error", "fit failed: "),
    "fit-odd-reason": ("unsupported", "this is beyond it: \\ud800"),
}
OVER_BUDGET = {
    "too-large": ("unsupported", "deploys 16384 bytes, but 16 bytes a vertex allow 1024"),
    "fit-too-large": ("unsupported", "deploys 16384 bytes"),
}
WRONG = {"doubled": "not admissible", "jagged": "not consistent"}
FINE = ("alt", "random-subset", "jagged-and-says-so", "print-much", "dijkstra")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """One study of them all; those that hang are from a run of their own, which alone has a short limit."""
    root = tmp_path_factory.mktemp("faults")
    os.environ["FAULT_CHILD"] = str(root / "child")
    fine = [name for name in FINE if name != "dijkstra"]
    study = studies.study(*HANGING, *FATAL, *RAISED, *TOLD, *UNFIT, *OVER_BUDGET, *WRONG, *fine)
    hanging = studies.study(*HANGING)
    run_study(hanging, studies.config(root / "hanging", workers=4, limits=Limits(LIMIT, 4 * GIB)))
    for name in HANGING:
        cell = studies.by_method(root / "hanging")[name]
        commit(root / "study", cell.cell_id, cell.record, cell.files)
    run_study(study, studies.config(root / "study", workers=4))
    return root / "study"


@pytest.mark.parametrize("method", [*HANGING, *FATAL, *RAISED, *TOLD, *UNFIT, *OVER_BUDGET])
def test_a_fault_has_its_outcome_and_a_reason(folder: Path, method: str) -> None:
    cell = studies.by_method(folder)[method]
    outcome, reason = {**HANGING, **FATAL, **RAISED, **TOLD, **UNFIT, **OVER_BUDGET}[method]
    assert cell.outcome == outcome
    assert reason in cell.record["reason"]


@pytest.mark.parametrize("method", RAISED)
def test_what_a_method_raised_is_kept(folder: Path, method: str) -> None:
    assert b"Traceback" in studies.by_method(folder)[method].files["error.txt"]


@pytest.mark.parametrize("method", OVER_BUDGET)
def test_the_bytes_that_a_method_would_need_are_recorded(folder: Path, method: str) -> None:
    assert studies.by_method(folder)[method].record["bytes_needed"] == 16384


@pytest.mark.parametrize("method", FINE)
def test_the_others_finish(folder: Path, method: str) -> None:
    assert studies.by_method(folder)[method].outcome == "ok"


def test_the_others_are_not_misled(folder: Path, tmp_path: Path) -> None:
    """Neither a graph that was changed in their worker, nor a pool computed on it, reaches later cells."""
    alone = studies.study("alt", "random-subset")
    run_study(alone, studies.config(tmp_path))
    undisturbed = studies.by_method(tmp_path)
    for method in ("alt", "random-subset", "dijkstra"):
        assert studies.by_method(folder)[method].files == undisturbed[method].files


def test_the_exit_code_is_that_of_the_worst(folder: Path) -> None:
    outcomes = [cell.outcome for cell in studies.cells(folder).values()]
    assert exit_code(outcomes) == 3
    assert exit_code([outcome for outcome in outcomes if outcome != "wrong"]) == 1


def test_what_a_method_started_ends_with_it(folder: Path) -> None:
    assert not psutil.pid_exists(int((folder.parent / "child").read_text()))


@pytest.mark.parametrize("method", WRONG)
def test_a_false_claim_is_wrong_with_a_counterexample(folder: Path, method: str) -> None:
    cell = studies.by_method(folder)[method]
    assert cell.outcome == "wrong"
    assert cell.record["reason"].startswith(WRONG[method])
    broken = cell.record["reason"].removeprefix("not ").partition(":")[0]
    assert cell.record["audit"]["violations"][broken] > 0


def test_the_counterexample_to_admissibility_has_the_right_numbers(folder: Path) -> None:
    case = _case(folder, "doubled", "admissible")
    assert case["bound"] == _twice(case["u"], case["target"])
    assert case["limit"] == _distance(case["u"], case["target"])
    assert case["bound"] > case["limit"]


def test_the_counterexample_to_consistency_has_the_right_numbers(folder: Path) -> None:
    case = _case(folder, "jagged", "consistent")
    graph = load("grid-8")
    arc = slice(graph.indptr[case["u"]], graph.indptr[case["u"] + 1])
    weight = dict(zip(graph.indices[arc].tolist(), graph.weights[arc].tolist(), strict=True))[case["v"]]
    ahead = 0 if case["v"] % 2 else _twice(case["v"], case["target"]) // 2
    assert case["bound"] == _twice(case["u"], case["target"]) // 2
    assert case["limit"] == weight + ahead
    assert case["bound"] > case["limit"]


def test_an_honest_inconsistency_is_ok_and_recorded(folder: Path) -> None:
    cell = studies.by_method(folder)["jagged-and-says-so"]
    assert cell.record["audit"]["consistent"] is False
    assert [case["claim"] for case in cell.record["audit"]["counterexamples"]] == ["consistent"]
    columns = read_queries(cell.files["queries.csv"])
    assert np.array_equal(columns["cost"], columns["reference_cost"])


def _case(folder: Path, method: str, claim: str) -> dict:
    cases = studies.by_method(folder)[method].record["audit"]["counterexamples"]
    return next(case for case in json.loads(json.dumps(cases)) if case["claim"] == claim)


def _distance(u: int, t: int) -> int:
    from aacbench.search import dijkstra

    return int(dijkstra(network(load("grid-8")), [u], [t]).cost[0])


def _twice(u: int, t: int) -> int:
    from aacbench.labels.pool import farthest_points

    rows = farthest_points(network(load("grid-8")), 2).forward.astype(np.int64)
    return int(2 * np.abs(rows[:, u] - rows[:, t]).max())
