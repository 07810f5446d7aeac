"""What a run says while it goes on: every line names one cell and no other."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import small_studies as studies

from aacbench.library.run_output import Progress
from aacbench.run.driver import run_study
from aacbench.run.records import MethodChoice


def test_candidates_are_told_apart_and_from_the_one_that_was_chosen(tmp_path: Path, capsys) -> None:
    study = studies.study(MethodChoice(name="alt", settings={"labels": "exact"}, grid={"K": (1, 2, 4)}))
    with Progress() as progress:
        run_study(study, studies.config(tmp_path, notify=progress.notify))
    said = [line.partition("] ")[2] for line in capsys.readouterr().err.splitlines() if "B/v" in line]
    assert sorted(said) == [
        "grid-8 alt[labels=exact,K=1] (a candidate) at 16 B/v, seed 1: ok",
        "grid-8 alt[labels=exact,K=2] (a candidate) at 16 B/v, seed 1: ok",
        "grid-8 alt[labels=exact,K=4] (a candidate) at 16 B/v, seed 1: ok",
        "grid-8 alt[labels=exact,K=4] (chosen) at 16 B/v, seed 1: ok",
        "grid-8 dijkstra at 16 B/v, seed 1: ok",
    ]


def test_a_notebook_shows_one_line_that_changes(monkeypatch, capsys) -> None:
    """A stand-in for IPython: a handle that notes what it is told to show."""
    shown: list[str] = []
    handle = SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.__dict__["get_ipython"] = lambda: SimpleNamespace(config={"IPKernelApp": {}})
    display.__dict__["display"] = lambda data, raw, display_id: handle
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    plan = SimpleNamespace(graph="p7", label="alt", setting="", role="single", budget=8.0, seed=1)
    with Progress() as progress:
        progress.notify("planned", {"cells": 2})
        progress.notify("cell", {"plan": plan, "outcome": "ok"})
        progress.notify("cell", {"plan": plan, "outcome": "error", "reason": ""})
    assert shown == ["cells 1/2", "cells, 1 failed 2/2"]
    assert capsys.readouterr().err == ""
