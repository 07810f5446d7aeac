"""The meaning of `--existing`: which cells of a study are run, skipped, or reported as damaged.

A missing cell is always run. For the others:

              | ok   | failed | damaged
keep          | skip | skip   | run
retry-failed  | skip | run    | run
verify        | skip | skip   | report    existing cells are never changed
replace       | run  | run    | run
"""

from typing import Literal

from aacbench.errors import DamagedCellError
from aacbench.run.store import Cell

Existing = Literal["keep", "retry-failed", "verify", "replace"]
State = Literal["missing", "ok", "failed", "damaged"]
Decision = Literal["run", "skip", "report"]

# A method that answered `unsupported` would do so again, so the cell counts as done.
ANSWERED = ("ok", "unsupported")

_UNLESS_SKIPPED: dict[Existing, dict[State, Decision]] = {
    "keep": {"damaged": "run"},
    "retry-failed": {"failed": "run", "damaged": "run"},
    "verify": {"damaged": "report"},
    "replace": {"ok": "run", "failed": "run", "damaged": "run"},
}


def decide(existing: Existing, state: State) -> Decision:
    """Return what to do with a cell in this state."""
    return "run" if state == "missing" else _UNLESS_SKIPPED[existing].get(state, "skip")


def state_of(stored: Cell | DamagedCellError | None) -> State:
    """Return the state of what `read_or_damage` found."""
    if stored is None:
        return "missing"
    if isinstance(stored, DamagedCellError):
        return "damaged"
    return "ok" if stored.outcome in ANSWERED else "failed"
