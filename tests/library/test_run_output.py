"""What a run says while it goes on: every line names one cell and no other."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numba
import small_studies as studies

from aacbench.library.run_output import Progress
from aacbench.run.driver import run_study
from aacbench.run.records import MethodChoice
from aacbench.run.run_config import plan_of
from aacbench.util.compiling import SENTENCE, Compilations

KEY = {
    "budget": 8,
    "convention": {"name": "measured", "version": 1},
    "seed": 1,
    "policy": "modern",
    "splits": ["test"],
    "role": "single",
}


def test_candidates_are_told_apart_and_from_the_one_that_was_chosen(tmp_path: Path, capsys) -> None:
    study = studies.study(MethodChoice(name="alt", settings={"labels": "exact"}, grid={"K": (1, 2, 4)}))
    with Progress() as progress:
        run_study(study, studies.config(tmp_path, notify=progress.notify))
    lines = [line for line in capsys.readouterr().err.splitlines() if SENTENCE not in line]
    said = [line.partition("] ")[2] for line in lines if "B/v" in line]
    assert any(line.endswith("  4 cells, and up to 1 chosen from their results") for line in lines)
    counts = [line.partition("[")[2].partition("]")[0].partition(",")[0] for line in lines if "] " in line]
    assert counts == [f"{done}/5" for done in range(1, 6)]  # the total does not change
    assert sorted(said) == [
        "grid-8 alt[labels=exact,K=1] (a candidate) at 16 B/v, seed 1: ok",
        "grid-8 alt[labels=exact,K=2] (a candidate) at 16 B/v, seed 1: ok",
        "grid-8 alt[labels=exact,K=4] (a candidate) at 16 B/v, seed 1: ok",
        "grid-8 alt[labels=exact,K=4] (chosen) at 16 B/v, seed 1: ok",
        "grid-8 dijkstra at 16 B/v, seed 1: ok",
    ]


def test_a_failure_begins_with_the_id_of_its_cell(capsys) -> None:
    plan = plan_of({**KEY, "graph": "p7", "method": "alt", "label": "alt", "params": {}})
    Progress().notify("cell", {"cell": "0123456789" * 2, "plan": plan, "outcome": "error", "reason": "it broke"})
    assert capsys.readouterr().err.endswith("] 01234567: p7 alt at 8 B/v, seed 1: error (it broke)\n")


def test_compilation_is_told_once_however_many_kernels_it_takes(monkeypatch) -> None:
    told: list[str] = []
    listener, now = Compilations(told.append), [100.0]
    monkeypatch.setattr("aacbench.util.compiling.time.monotonic", lambda: now[0])
    for _ in range(3):  # one after the other, each with one inside
        listener.on_start(None)
        listener.on_start(None)
        listener.on_end(None)
        listener.on_end(None)
    assert told == [SENTENCE]
    now[0] += 60
    listener.on_start(None)
    assert told == [SENTENCE] * 2


def test_a_kernel_that_is_compiled_is_told_where_the_progress_is_shown(capsys) -> None:
    with Progress():
        numba.njit(lambda number: number + 1)(1)
    assert SENTENCE in capsys.readouterr().err


def test_compilation_is_told_once_a_run_in_whichever_processes(capsys) -> None:
    progress = Progress()
    progress.compiling(SENTENCE)
    for seed in (1, 2):
        plan = plan_of({**KEY, "graph": "p7", "method": "alt", "label": "alt", "params": {}, "seed": seed})
        progress.notify("progress", {"cell": f"{seed}", "plan": plan, "text": SENTENCE})
    assert capsys.readouterr().err.count(SENTENCE) == 1


def test_a_log_shows_how_far_a_build_is_only_where_nothing_else_was_said(monkeypatch, capsys) -> None:
    now = [100.0]
    monkeypatch.setattr("aacbench.library.run_output.time.monotonic", lambda: now[0])
    progress, plan = Progress(), plan_of({**KEY, "graph": "p7", "method": "alt", "label": "alt", "params": {}})
    for start in range(13):
        now[0] = 100.0 + start
        progress.notify("progress", {"cell": "a", "plan": plan, "text": f"start {start}"})
    assert [line.split()[-1] for line in capsys.readouterr().err.splitlines()] == ["5", "10"]


def test_a_notebook_shows_one_line_that_changes(monkeypatch, capsys) -> None:
    """A stand-in for IPython: a handle that notes what it is told to show."""
    shown: list[str] = []
    handle = SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.__dict__["get_ipython"] = lambda: SimpleNamespace(config={"IPKernelApp": {}})
    display.__dict__["display"] = lambda data, raw, display_id: handle
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    plan = SimpleNamespace(graph="p7", label="alt", setting="", role="single", budget=8.0, seed=1, variant="")
    with Progress() as progress:
        progress.notify("planned", {"cells": 2, "later": 0, "work": {}})
        progress.notify("cell", {"cell": "a", "plan": plan, "outcome": "ok"})
        progress.notify("cell", {"cell": "b", "plan": plan, "outcome": "error", "reason": ""})
    assert shown == ["cells 0/2", "cells 1/2", "cells, 1 failed 2/2"]
    assert capsys.readouterr().err == ""
