"""Progress of a run: a bar on a terminal, lines in a log."""

import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from aacbench.reports.formatting import LONGEST_REASON
from aacbench.run.records import CANDIDATE, CHOSEN
from aacbench.util.text import one_line

_ROLES = {CANDIDATE: " (a candidate)", CHOSEN: " (chosen)"}


class Progress:
    """Count cells as they finish and show them on standard error."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bar: Bar | None = None
        self._task: Any = None
        self._total = self._done = self._failed = 0
        self._began = time.monotonic()

    def __enter__(self) -> "Progress":
        if sys.stderr.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Bar(*columns, console=self._console)
            self._bar.start()
            self._task = self._bar.add_task("cells", total=None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def notify(self, event: str, facts: Mapping[str, Any]) -> None:
        if event == "planned":
            self._total += facts["cells"]
            self._line(f"{self._total} cells")
        elif event == "graph":
            self._line(f"loading {facts['name']}")
        elif event == "progress" and self._bar is not None:
            self._bar.update(self._task, description=f"{facts['plan'].label}: {facts['text']}")
        elif event == "progress":
            self._line(f"{facts['plan'].graph} {facts['plan'].label}: {facts['text']}")
        elif event in ("timed", "untimed"):
            self._timing(event, facts)
        elif event in ("cell", "kept", "rebuilt"):
            self._done += event != "rebuilt"
            self._finished(facts)

    def _timing(self, event: str, facts: Mapping[str, Any]) -> None:
        key = facts["key"]
        place = f"{key['graph']} at {key['budget']:g} B/v"
        if event == "timed":
            self._line(f"timed {len(facts['cells'])} cells on {place}")
        else:
            text = f"not timed: {key['label']} on {place}: {one_line(facts['reason'], LONGEST_REASON)}"
            self._console.print(text, markup=False, soft_wrap=True)

    def _finished(self, facts: Mapping[str, Any]) -> None:
        outcome = facts.get("outcome", "kept")
        plan = facts["plan"]
        name = f"{plan.setting or plan.label}{_ROLES.get(plan.role, '')}"
        text = f"{plan.graph} {name} at {plan.budget:g} B/v, seed {plan.seed}: {outcome}"
        self._failed += outcome not in ("ok", "kept", "unsupported")
        if facts.get("reason"):
            text += f" ({one_line(facts['reason'], LONGEST_REASON)})"
        if self._bar is None:
            self._line(f"[{self._done}/{self._total}] {text}")
            return
        name = f"cells, {self._failed} failed" if self._failed else "cells"
        self._bar.update(self._task, total=self._total, completed=self._done, description=name)
        if facts.get("reason"):
            self._console.print(text, markup=False)  # alt[tie=fifo] is not markup

    def _line(self, text: str) -> None:
        if self._bar is None:
            click.echo(f"{time.monotonic() - self._began:7.1f} s  {text}", err=True)
