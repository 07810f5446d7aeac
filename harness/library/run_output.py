"""What a run prints: its plan, and its progress.

Progress is a bar on a terminal, a line that changes in a notebook, and lines in a log.
"""

import sys
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from aacbench.contract.budget import GraphInfo
from aacbench.library.time_left import TimeLeft
from aacbench.reports.formatting import (
    LONGEST_REASON,
    aligned,
    conditions,
    file_notes,
    graph_names,
    graph_notes,
    setting_text,
    short_settings,
    switches,
)
from aacbench.run.layout import SHORT_DIGITS
from aacbench.run.plan import CellPlan, estimated_work
from aacbench.run.records import BASELINE, CANDIDATE, CHOSEN, CONTEXT, ENCODE, Study
from aacbench.search.policy import parse
from aacbench.util.compiling import SENTENCE, tell_within
from aacbench.util.text import one_line

Planned = tuple[CellPlan, str]
QUIET_SECONDS = 5.0  # of a log, before it shows how far a build is
_ROLES = {CANDIDATE: " (a candidate)", CHOSEN: " (chosen)"}


def plan_text(
    study: Study,
    root: Path,
    cells: Collection[Planned],
    infos: Mapping[str, GraphInfo],
    existing: Collection[str],
    defaults: Mapping[str, Mapping[str, Any]],
) -> str:
    """Return the plan as a table, with totals and unsupported cells below it."""
    names = graph_names([*infos, *(searched.name for searched in study.searched_graphs())])
    usual = switches(parse(study.search).name)

    def switched(cell: CellPlan) -> str:
        return setting_text({key: value for key, value in switches(cell.policy).items() if usual.get(key) != value})

    estimates = estimated_work(study, (cell for cell, _ in cells), infos)
    work = {name: most for (_, name), most in zip(cells, estimates, strict=True)}
    groups: dict[tuple[str, str, str, float, str], list[Planned]] = {}
    for cell, name in cells:
        settings = " ".join(filter(None, (short_settings(cell.method, cell.params, defaults), switched(cell))))
        groups.setdefault((cell.variant, cell.graph, cell.label, cell.budget, settings), []).append((cell, name))
    rows = [
        {
            "graph": names[graph],
            "method": label,
            "variant": variant,
            "nominal B/v": "" if group[0][0].method == BASELINE else f"{budget:g}",
            "settings": settings,
            "seeds": str(len({cell.seed for cell, _ in group})),
            "cells": str(len(group)),
            "there": str(sum(name in existing for _, name in group) or ""),
            "work": f"{sum(work[name] for _, name in group):.3g}",
        }
        for (variant, graph, label, budget, settings), group in groups.items()
    ]
    done = sum(name in existing for _, name in cells)
    left = sum(work[name] for _, name in cells if name not in existing)
    if study.kind == CONTEXT:
        return "\n".join([aligned(rows, ("graph", "method", "settings")), "", _searches(study, root, len(cells), done)])
    lines = [
        f"{len(cells)} cells into {root}, of which {done} {'is' if done == 1 else 'are'} there already.",
        f"Estimated work for the others: at most {left:.3g} vertices to search (vertices x queries).",
        conditions(study.record()),
    ]
    if choices := {cell.group for cell, _ in cells if cell.group}:
        more = f"{len(choices)} more {'cell' if len(choices) == 1 else 'cells'} on test queries"
        split = "test queries themselves" if study.selection == "retrospective" else "validation queries"
        lines.append(f"{more} will follow, with settings chosen on the {split}.")
    refused = {
        f"not run: {cell.label} on {names[cell.graph]}: {one_line(reason, LONGEST_REASON)}"
        for cell, _ in cells
        if (reason := cell.unsupported or (f"{cell.failure}: {cell.failed}" if cell.failed else ""))
    }
    table = aligned(rows, ("graph", "method", "variant", "settings"))
    return "\n".join([table, "", *lines, *graph_notes(names), *file_notes(study.graphs), *sorted(refused)])


def _searches(study: Study, root: Path, encoders: int, there: int) -> str:
    """Say what follows the cells of the encoders, whose predictions make the graphs that methods are run on."""
    methods = ", ".join(choice.label for choice in study.methods)
    budgets = ", ".join(f"{budget:g}" for budget in study.budgets)
    return (
        f"{encoders} cells of encoders into {root}, of which {there} {'is' if there == 1 else 'are'} there already. "
        f"On what each predicts, {methods} will be run at {budgets} B/v.\n{conditions(study.record())}"
    )


def _named(plan: CellPlan) -> str:
    variant = f" ({plan.variant})" if plan.variant else ""
    name = f"{plan.setting or plan.label}{variant}{_ROLES.get(plan.role, '')}"
    if plan.role == ENCODE:
        return f"{plan.graph} {name}, seed {plan.seed}"
    return f"{plan.graph} {name} at {plan.budget:g} B/v, seed {plan.seed}"


class _NotebookLine:
    """The progress of a run in the output of a notebook's cell, with the methods of rich's bar that are used here."""

    def __init__(self) -> None:
        from IPython.display import display

        self._handle = display(self._told("starting"), raw=True, display_id=True)
        self._text: dict[str, Any] = {"description": "cells", "completed": 0, "total": None, "left": ""}

    def start(self) -> None:
        """Nothing: the line is there."""

    def stop(self) -> None:
        """Nothing: the last line stays."""

    def add_task(self, description: str, total: float | None, left: str) -> int:
        return 0

    def update(self, task: int, **changes: Any) -> None:
        self._text |= changes
        now = self._text
        line = f"{now['description']} {now['completed']}/{now['total'] or '?'} {now['left']}".rstrip()
        self._handle.update(self._told(line), raw=True)

    @staticmethod
    def _told(text: str) -> dict[str, str]:
        return {"text/plain": text}


def _in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in shell.config


class Progress:
    """Count cells as they finish and show them on standard error."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bar: Bar | _NotebookLine | None = None
        self._task: Any = None
        self._planned = self._total = self._done = self._failed = 0
        self._began = self._spoke = time.monotonic()
        self._left = TimeLeft()
        self._told_compiling = False
        self._compilations = tell_within(self.compiling)

    def __enter__(self) -> "Progress":
        if _in_notebook():
            self._bar = _NotebookLine()
        elif sys.stderr is not None and sys.stderr.isatty():
            name, left = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[left]}")
            self._bar = Bar(name, BarColumn(), MofNCompleteColumn(), left, console=self._console)
            self._bar.start()
        if self._bar is not None:
            self._task = self._bar.add_task("cells", total=None, left="")
        self._compilations.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._compilations.__exit__(kind, error, trace)
        if self._bar is not None:
            self._bar.stop()

    def notify(self, event: str, facts: Mapping[str, Any]) -> None:
        if event == "planned":
            self._plan(facts)
        elif event == "graph":
            self._step(f"loading {facts['name']}")
        elif event == "cluster":
            self._tell(facts["text"])
        elif event == "progress":
            self._building(facts)
        elif event in ("timed", "untimed"):
            self._timing(event, facts)
        elif event in ("cell", "kept", "rebuilt"):
            self._done += event != "rebuilt"
            if event == "cell":
                self._left.done(facts["cell"])
            else:
                self._left.skip(facts["cell"])
            self._finished(facts)

    def compiling(self, sentence: str) -> None:
        """Say once in a run that kernels are compiled, in whichever of its processes."""
        if not self._told_compiling:
            self._told_compiling = True
            self._step(sentence)

    def _building(self, facts: Mapping[str, Any]) -> None:
        """Show what a worker says of its cell; in a log only where nothing else was said for some seconds."""
        if facts["text"] == SENTENCE:
            self.compiling(SENTENCE)
        elif self._bar is not None:
            self._bar.update(self._task, description=f"{facts['plan'].label}: {facts['text']}")
        elif time.monotonic() - self._spoke >= QUIET_SECONDS:
            self._line(f"{_named(facts['plan'])}: {facts['text']}")

    def _plan(self, facts: Mapping[str, Any]) -> None:
        """Count the cells to come, and those that will be chosen from them, so that the total stays what it is."""
        some = f"{facts['cells']} cells {facts['what']}" if self._planned else f"{facts['cells']} cells"
        self._planned += facts["cells"]
        self._total = self._planned + facts["later"]
        self._left.plan(facts["work"], facts["later"])
        chosen = f", and up to {facts['later']} chosen from their results" if facts["later"] else ""
        self._line(some + chosen)
        if self._bar is not None:
            self._bar.update(self._task, total=self._total, description="cells")

    def _step(self, text: str) -> None:
        """Show what the run does before there are cells to count."""
        self._line(text)
        if self._bar is not None:
            self._bar.update(self._task, description=text)

    def _tell(self, text: str) -> None:
        """Show a line that stays, also above a bar."""
        self._line(text)
        if self._bar is not None:
            self._console.print(text, markup=False, soft_wrap=True)

    def _timing(self, event: str, facts: Mapping[str, Any]) -> None:
        key = facts["key"]
        place = f"{key['graph']} at {key['budget']:g} B/v"
        if event == "timed":
            self._line(f"timed {len(facts['cells'])} cells on {place}")
        else:
            text = f"not timed: {key['label']} on {place}: {one_line(facts['reason'], LONGEST_REASON)}"
            self._console.print(text, markup=False, soft_wrap=True)

    def _finished(self, facts: Mapping[str, Any]) -> None:
        stored = facts.get("kept", "ok")
        outcome = facts.get("outcome", "kept" if stored == "ok" else f"kept: {stored}")
        plan = facts["plan"]
        text = f"{_named(plan)}: {outcome}"
        if outcome not in ("ok", "kept"):
            text = f"{facts['cell'][:SHORT_DIGITS]}: {text}"
        self._failed += facts.get("outcome", stored) not in ("ok", "unsupported")
        if facts.get("reason"):
            text += f" ({one_line(facts['reason'], LONGEST_REASON)})"
        if self._bar is None:
            left = self._left.text()
            self._line(f"[{self._done}/{self._total}{', ' + left if left else ''}] {text}")
            return
        name = f"cells, {self._failed} failed" if self._failed else "cells"
        left = self._left.text()
        self._bar.update(self._task, total=self._total, completed=self._done, description=name, left=left)
        if facts.get("reason"):
            self._console.print(text, markup=False)  # alt[tie=fifo] is not markup

    def _line(self, text: str) -> None:
        if self._bar is None:
            self._spoke = time.monotonic()
            click.echo(f"{self._spoke - self._began:7.1f} s  {text}", err=True)
