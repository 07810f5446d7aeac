"""The cells a report is made of: those of a study's current plan, sound, and in its order."""

from pathlib import Path

from aacbench.errors import DamagedCellError
from aacbench.run.store import Cell, scan
from aacbench.run.study import read_plan

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
