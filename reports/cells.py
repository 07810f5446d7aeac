"""The cells a report is made of: those of a study's current plan, sound, and in its order."""

from pathlib import Path

from aacbench.errors import DamagedCellError
from aacbench.run.store import Cell, scan
from aacbench.run.study import read_plan


def planned_cells(root: Path) -> list[Cell]:
    """Every cell of the plan that is there and undamaged."""
    plan = read_plan(root)
    if plan is None:
        return []
    cells = {name: cell for name, cell in scan(root) if not isinstance(cell, DamagedCellError)}
    return [cells[name] for name in plan["cells"] if name in cells]
