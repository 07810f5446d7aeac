"""The cells of a study as a user names them: by the beginning of an id, or by what they are."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aacbench.errors import UsageError

if TYPE_CHECKING:
    from aacbench.run.store import Cell
    from aacbench.run.study import StudyContents

MOST_LISTED = 5


def find_id(root: Path, beginning: str) -> str:
    """Return the one id in the study that begins so; the cell itself may be damaged."""
    from aacbench.run.layout import CELLS, is_cell_id

    if not beginning:
        raise UsageError("Give the id of a cell, or its first letters.")
    names = sorted(path.name for path in (root / CELLS).glob("*/*") if is_cell_id(path.name))
    fitting = [name for name in names if name.startswith(beginning)]
    if not fitting:
        raise UsageError(f"No cell {beginning} in {root}. `aacbench status {root} --cells` lists all.")
    if len(fitting) > 1:
        listed = ", ".join(fitting[:MOST_LISTED])
        raise UsageError(f"{len(fitting)} cells begin with {beginning}: {listed}; give more digits.")
    return fitting[0]


def find_cell(root: Path, beginning: str) -> "Cell":
    """Return the one cell whose id begins so."""
    from aacbench.run.records import ENCODE
    from aacbench.run.store import read_cell

    found = read_cell(root, find_id(root, beginning))
    if found is None:  # a run replaced it just now
        raise UsageError(f"Cell {beginning} in {root} has just been removed; start the command again.")
    if found.key.get("role") == ENCODE:
        name = f"{found.key['label']} on {found.key['graph']}"
        raise UsageError(
            f"Cell {beginning} is that of the encoder {name}; name the cell of a method on its predictions."
        )
    return found


def find_reported(root: Path, method: str, graph: str | None, budget: float | None, seed: int | None) -> "Cell":
    """Return the one cell with results of a method, as written in a table, on a graph, at a budget, with a seed."""
    from aacbench.reports.formatting import graph_names
    from aacbench.run.layout import short_ids
    from aacbench.run.study import read_study

    contents = read_study(root)
    cells = [cell for cell in contents.own_cells() if cell.is_reported]  # those of variants are given by id
    shown = graph_names(cell.key["graph"] for cell in cells)
    fitting = [
        cell
        for cell in cells
        if cell.key["label"] == method
        and graph in (None, cell.key["graph"], shown[cell.key["graph"]])
        and budget in (None, cell.key["budget"])
        and seed in (None, cell.key["seed"])
    ]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        known = dict.fromkeys(cell.key["label"] for cell in cells)
        methods = "" if method in known else f" Its methods are {', '.join(known)}."
        raise UsageError(f"No cell of {method} in {root} fits.{methods} `aacbench status {root} --cells` lists all.")
    short = short_ids(contents.cells)
    listed = "; ".join(f"{short[cell.cell_id]}: {_place(cell)}" for cell in fitting[:MOST_LISTED])
    more = "" if len(fitting) <= MOST_LISTED else f"; and {len(fitting) - MOST_LISTED} more"
    raise UsageError(f"{len(fitting)} cells fit. Add --graph, --budget or --seed, or give an id: {listed}{more}.")


def _place(cell: "Cell") -> str:
    key = cell.key
    return f"{key['label']} on {key['graph']} at {key['budget']:g} B/v, seed {key['seed']}"


def cell_records(contents: "StudyContents") -> list[dict[str, Any]]:
    """Return what each cell is and how it went; damaged ones, of which nothing is sure, come last."""
    from aacbench.reports.formatting import cell_settings

    planned = set(contents.plan["cells"] if contents.plan is not None else ())
    in_plan = [cell.cell_id for cell in (*contents.encode_cells(), *contents.planned_cells())]
    others = [name for name in contents.cells if name not in planned]
    records = []
    for name in (*in_plan, *others):
        cell = contents.cells[name]
        key = cell.key
        records.append(
            {
                "id": name,
                "graph": key["graph"],
                "method": key["label"],
                "variant": cell.variant,
                "settings": cell_settings(cell),
                "budget": key["budget"],
                "seed": key["seed"],
                "role": key.get("role", ""),
                "outcome": cell.outcome,
                "reason": cell.record.get("reason", ""),
                "planned": name in planned,
            }
        )
    return records


def cell_table(records: Collection[dict[str, Any]], damaged: Iterable[str]) -> str:
    """Return the cells as a table, with the shortest beginnings of ids that the commands accept."""
    from tabulate import tabulate

    from aacbench.reports.formatting import graph_names
    from aacbench.run.layout import is_cell_id, short_ids
    from aacbench.run.records import SINGLE
    from aacbench.util.text import one_line

    unreadable = [name for name in damaged if is_cell_id(name)]
    short = short_ids([*(record["id"] for record in records), *unreadable])
    names = graph_names(record["graph"] for record in records)
    rows = [
        [
            short[record["id"]],
            names[record["graph"]],
            one_line(record["method"], 60),
            one_line(record["settings"], 60),
            f"{record['budget']:g}",
            record["seed"],
            record["outcome"],
            "" if record["role"] == SINGLE else record["role"],
            record["variant"],
            "" if record["planned"] else "not in the plan",
        ]
        for record in records
    ]
    rows += [[short[name], "", "", "", "", "", "damaged", "", "", ""] for name in unreadable]
    headers = ["cell", "graph", "method", "settings", "budget", "seed", "outcome", "role", "variant", "plan"]
    kept = [column for column in range(len(headers)) if column < 7 or any(row[column] for row in rows)]
    body = [[row[column] for column in kept] for row in rows]
    return tabulate(body, headers=[headers[column] for column in kept], disable_numparse=True)
