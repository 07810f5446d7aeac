"""All rows of a study in one Parquet file, each with the key of its cell: to be read by pandas, DuckDB or R."""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from aacbench.errors import DamagedCellError, UsageError
from aacbench.run.layout import QUERIES_FILE
from aacbench.run.rows import NUMBER, QUERIES, TEXT, ZERO_IF_ABSENT
from aacbench.run.store import Cell, read_or_damage
from aacbench.util.atomic_io import storing
from aacbench.util.canonical import canonical
from aacbench.util.cleanup import UNFINISHED, scratch_name

CELLS_AT_ONCE = 1000  # in memory
KEY_COLUMNS = {
    "cell": "string",
    "graph": "string",
    "method": "string",
    "label": "string",
    "params": "string",
    "budget": "double",
    "convention": "string",
    "seed": "int64",
    "policy": "string",
    "role": "string",
    "cell_outcome": "string",
    "measured_per_vertex": "double",
}


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: how many cells and rows, and the cells that are missing or damaged and so left out."""

    cells: int
    rows: int
    missing: int
    damaged: Mapping[str, str]


def pyarrow() -> Any:
    """Return pyarrow, or raise where it is not installed."""
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError:
        raise UsageError("Parquet files need pyarrow, which is not installed: pip install aacbench[parquet].") from None
    return pyarrow


def write_parquet(root: Path, names: Sequence[str], file: Path) -> Exported:
    """Write the rows of these cells of a study, in this order; a cell without rows has one, without a query.

    Costs are 64-bit integers, or floats if any cell has one. Only some cells are in memory at a time.
    """
    arrow = pyarrow()
    unfinished = file.with_name(scratch_name(UNFINISHED))
    with storing(file, "name another file"):
        try:
            try:
                found = _write(arrow, root, names, unfinished, arrow.int64())
            except arrow.ArrowInvalid:
                found = _write(arrow, root, names, unfinished, arrow.float64())
            unfinished.replace(file)
        finally:
            unfinished.unlink(missing_ok=True)
    return found


def _write(arrow: Any, root: Path, names: Sequence[str], file: Path, cost: Any) -> Exported:
    types = {TEXT: arrow.string(), NUMBER: cost}
    queries = {name: types.get(kind, arrow.int64()) for name, kind in QUERIES.items()}
    keys = {name: arrow.type_for_alias(kind) for name, kind in KEY_COLUMNS.items()}
    schema = arrow.schema({**keys, **queries})
    cells = rows = missing = 0
    damaged: dict[str, str] = {}
    remaining = iter(names)
    with arrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while some := list(islice(remaining, CELLS_AT_ONCE)):
            sound = []
            for name in some:
                cell = read_or_damage(root, name)
                if isinstance(cell, DamagedCellError):
                    damaged[name] = str(cell)
                elif cell is None:
                    missing += 1
                else:
                    sound.append(cell)
            for table in _tables(arrow, sound, schema, queries):
                writer.write_table(table)
                rows += table.num_rows
            cells += len(sound)
    return Exported(cells, rows, missing, damaged)


def _tables(arrow: Any, cells: Sequence[Cell], schema: Any, queries: Mapping[str, Any]) -> Iterator[Any]:
    """Yield tables of neighbouring cells whose files have the same columns; rows of many cells are parsed at once."""
    begin = 0
    for end in range(1, len(cells) + 1):
        if end == len(cells) or _header(cells[end]) != _header(cells[begin]):
            yield _table(arrow, cells[begin:end], schema, queries)
            begin = end


def _header(cell: Cell) -> bytes:
    return cell.files.get(QUERIES_FILE, b"").partition(b"\n")[0]


def _table(arrow: Any, cells: Sequence[Cell], schema: Any, queries: Mapping[str, Any]) -> Any:
    bodies = [cell.files.get(QUERIES_FILE, b"").partition(b"\n")[2] for cell in cells]
    counts = [body.count(b"\n") for body in bodies]
    header = _header(cells[0])
    if header:
        text = io.BytesIO(b"\n".join([header, b"".join(bodies)]))
        options = arrow.csv.ConvertOptions(column_types=queries, strings_can_be_null=False, null_values=[])
        parsed = arrow.csv.read_csv(text, convert_options=options)
        columns = {
            name: parsed[name] if name in parsed.column_names else _zeros(arrow, name, parsed.num_rows)
            for name in queries
        }
    else:
        counts = [1] * len(cells)
        columns = {name: arrow.nulls(len(cells), kind) for name, kind in queries.items()}
    keys = [_key(cell) for cell in cells]
    place = arrow.array([at for at, count in enumerate(counts) for _ in range(count)], arrow.int32())
    for name in KEY_COLUMNS:
        columns[name] = arrow.array([key[name] for key in keys], schema.field(name).type).take(place)
    return arrow.table([columns[name] for name in schema.names], schema=schema)


def _zeros(arrow: Any, name: str, count: int) -> Any:
    assert name in ZERO_IF_ABSENT, f"the column {name} is missing"
    return arrow.array([0] * count, arrow.int64())


def _key(cell: Cell) -> dict[str, Any]:
    key, convention = cell.key, cell.key["convention"]
    return {
        **{name: key.get(name) for name in ("graph", "method", "label", "seed", "policy", "role")},
        "cell": cell.cell_id,
        "params": canonical(key["params"]).decode(),
        "budget": float(key["budget"]),
        "convention": f"{convention['name']}/{convention['version']}",
        "cell_outcome": cell.outcome,
        "measured_per_vertex": cell.record.get("bytes", {}).get("measured_per_vertex"),
    }
