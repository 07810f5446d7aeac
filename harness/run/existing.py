"""What happens to a cell that a study already has: the meaning of `--existing`.

A cell that is missing is always run. For the others:

              | ok   | failed | damaged
keep          | skip | skip   | run       only what is sound is kept
retry-failed  | skip | run    | run
verify        | skip | skip   | report    nothing that exists is changed
replace       | run  | run    | run
"""

from pathlib import Path
from typing import Literal

from aacbench.errors import DamagedCellError
from aacbench.run.store import Cell, read_cell

Existing = Literal["keep", "retry-failed", "verify", "replace"]
State = Literal["missing", "ok", "failed", "damaged"]
Decision = Literal["run", "skip", "report"]

# A method that says it cannot do something has answered, and would say so again.
ANSWERED = ("ok", "unsupported")

_ELSE: dict[Existing, dict[State, Decision]] = {
    "keep": {"damaged": "run"},
    "retry-failed": {"failed": "run", "damaged": "run"},
    "verify": {"damaged": "report"},
    "replace": {"ok": "run", "failed": "run", "damaged": "run"},
}


def decide(existing: Existing, state: State) -> Decision:
    """Whether a cell in this state is run, skipped, or reported as damaged."""
    return "run" if state == "missing" else _ELSE[existing].get(state, "skip")


def state_of(found: Cell | DamagedCellError | None) -> State:
    """The state of what was found in the place of a cell."""
    if found is None:
        return "missing"
    if isinstance(found, DamagedCellError):
        return "damaged"
    return "ok" if found.outcome in ANSWERED else "failed"


def look(root: Path, name: str) -> Cell | DamagedCellError | None:
    """The cell, None, or what is wrong with it."""
    try:
        return read_cell(root, name)
    except DamagedCellError as damaged:
        return damaged
