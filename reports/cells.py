"""The cells a report is made of: those of a study's current plan, sound, and in its order."""

from pathlib import Path

from aacbench.errors import DamagedCellError
from aacbench.run.store import Cell, scan
from aacbench.run.study import read_plan

UNMATCHED_MARK = " (over budget)"
UNMATCHED_SENTENCE = "deploys more than its budget by design, so it is no part of a comparison at matched memory."
UNMATCHED_NOTE = f"(over budget): {UNMATCHED_SENTENCE}"


def is_matched(cell: Cell) -> bool:
    """Whether a cell was held to its budget; one that was not must not stand beside others as if it were."""
    return bool(cell.record.get("claims", {}).get("matched", True))


ORACLE_MARK = " (oracle)"
ORACLE_NOTE = "(oracle): is shown the test queries, so it is a bound to compare with and cannot be deployed."


def claims_oracle(cell: Cell) -> bool:
    """Whether the method of a cell was shown the test queries."""
    return bool(cell.record.get("claims", {}).get("oracle"))


def planned_cells(root: Path) -> list[Cell]:
    """Every cell of the plan that is there and undamaged."""
    plan = read_plan(root)
    if plan is None:
        return []
    cells = {name: cell for name, cell in scan(root) if not isinstance(cell, DamagedCellError)}
    return [cells[name] for name in plan["cells"] if name in cells]
