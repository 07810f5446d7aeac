"""Records: the best known on a graph within so many bytes, made from a study and shipped with the version."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.errors import DataError, UsageError
from aacbench.reports.deployable import Deployable, deployables, is_baseline
from aacbench.run.records import TEST
from aacbench.run.store import Cell
from aacbench.util.atomic_io import replace_file, storing
from aacbench.util.canonical import pretty
from aacbench.version import VERSION

FORMAT = "aacbench.records/1"
REFERENCE = "alt"  # times are shown as multiples of its time in the same run


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A method on a graph at a budget: means per test query, bytes per vertex, and seconds of the build with its pools.

    `below` counts expansions with f below the cost of the path: those that no rule for ties can avoid. `time` is the
    mean time divided by that of `alt` at the same budget in the same run, on the machine that made the records.
    """

    graph: str
    budget: float
    method: str
    settings: str
    bytes: float
    expanded: float
    h_work: float
    below: float
    build_seconds: float
    mean_us: float | None = None
    p95_us: float | None = None
    time: float | None = None

    @property
    def total(self) -> float:
        return self.expanded + self.h_work

    @property
    def what(self) -> tuple[str, float, str]:
        return self.graph, self.budget, self.method


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What records on a graph hold for: the digests of graph and test queries, and the convention.

    `dijkstra` is its mean expansions. `path` is the floor: the mean number of vertices on the shortest paths that were
    found, of several the one with the fewest; a search that returns a path has expanded at least these.
    """

    graph: str
    graph_digest: str
    queries_digest: str
    convention: str
    queries: int
    dijkstra: float | None
    path: float

    def compares_with(self, other: "Setting | None") -> bool:
        """Whether records of both may stand in one table."""
        return other is not None and self._held_for == other._held_for

    @property
    def _held_for(self) -> tuple[str, str, str]:
        return self.graph_digest, self.queries_digest, self.convention


@dataclass(frozen=True, slots=True)
class Records:
    """All records, and what those on each graph hold for.

    `measured` has the graph, budget and method of all that a study measured, also of what may not hold a record.
    """

    settings: Mapping[str, Setting]
    records: tuple[Record, ...]
    version: str = VERSION
    measured: frozenset[tuple[str, float, str]] = field(default=frozenset(), compare=False)

    def best(self, graph: str, budget: float, by: str = "expanded") -> Record | None:
        """Return the record within so many bytes: also of methods that were given more or less and stay below.

        By time only those that were given this budget compete, since a time is a multiple of that of `alt` there.
        Of equal ones it is that with the fewest bytes, then the first: protocols have the simpler methods first.
        """
        fitting = [one for one in self.records if one.graph == graph and one.bytes <= budget + _ROOM]
        known = [one for one in fitting if by != "time" or (one.budget == budget and one.time is not None)]
        return min(known, key=lambda one: (getattr(one, by), round(one.bytes, 2)), default=None)

    def budgets(self, graph: str) -> list[float]:
        return sorted({one.budget for one in self.records if one.graph == graph})

    def joined(self, other: "Records") -> "Records":
        """Return these with the other records; a method that the other study found unsupported, say, is gone.

        Where the graph, its test queries or the convention are others, nothing of this graph is kept.
        """
        same = {graph for graph, one in self.settings.items() if one.compares_with(other.settings.get(graph))}
        gone = {one.graph for one in other.records} - same
        new = {one.what for one in other.records} | other.measured
        kept = (one for one in self.records if one.graph not in gone and one.what not in new)
        settings = {**self.settings, **other.settings}
        floors = {graph: min(self.settings[graph].path, other.settings[graph].path) for graph in same}
        settings |= {graph: replace(settings[graph], path=path) for graph, path in floors.items()}
        return Records(settings, (*kept, *other.records))


_ROOM = 0.05  # bytes per vertex: settings of a kernel are counted, but its first 64 bytes are free


def records_of(cells: Iterable[Cell]) -> Records:
    """Make the records of a study; its methods may be anything that can be deployed."""
    found = list(cells)
    by_id = {cell.cell_id: cell for cell in found}
    rows = deployables(found)
    if not any(not is_baseline(row) for row in rows):
        raise UsageError("The study has no method that can be deployed, so there are no records in it.")
    graphs = dict.fromkeys(row.graph for row in rows)
    settings = {graph: _setting(graph, rows, [by_id[name] for row in rows for name in row.ids]) for graph in graphs}
    times = {(row.graph, row.budget): row.mean_us for row in rows if row.method == REFERENCE}
    made = [
        _record(row, [by_id[name] for name in row.ids], times.get((row.graph, row.budget)))
        for row in rows
        if not is_baseline(row)
    ]
    measured = frozenset((cell.key["graph"], cell.key["budget"], cell.key["label"]) for cell in found)
    return Records(settings, tuple(made), measured=measured)


def _setting(graph: str, rows: Sequence[Deployable], cells: Sequence[Cell]) -> Setting:
    here = [cell for cell in cells if cell.key["graph"] == graph]
    key, charged = here[0].key, here[0].key["convention"]
    edges = np.min([_test_rows(cell, "path_edges") for cell in here], axis=0)
    reached = _test_rows(here[0], "cost") >= 0
    return Setting(
        graph=graph,
        graph_digest=key["graph_digest"],
        queries_digest=key.get("query_digests", {}).get(TEST, ""),
        convention=f"{charged['name']}/{charged['version']}",
        queries=len(edges),
        dijkstra=next((row.expanded for row in rows if row.graph == graph and is_baseline(row)), None),
        path=float(np.mean(np.where(reached & (edges > 0), edges + 1, 0))),
    )


def _record(row: Deployable, cells: Sequence[Cell], reference: float | None) -> Record:
    return Record(
        graph=row.graph,
        budget=row.budget,
        method=row.method,
        settings=row.settings,
        bytes=row.bytes,
        expanded=row.expanded,
        h_work=row.h_work,
        below=float(np.mean([_test_rows(cell, "below_optimum").mean() for cell in cells])),
        build_seconds=round(row.build_seconds, 3),
        mean_us=_rounded(row.mean_us),
        p95_us=_rounded(row.p95_us),
        time=None if row.mean_us is None or not reference else round(row.mean_us / reference, 3),
    )


def _test_rows(cell: Cell, column: str) -> Any:
    return cell.queries[column][cell.queries["split"] == TEST]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def shipped() -> Records:
    """Return the records that come with this version."""
    file = resources.files("aacbench.reports") / "records.json"
    return read(file.read_bytes(), str(file))


def read(data: bytes, where: str) -> Records:
    try:
        told = json.loads(data)
        if told["format"] != FORMAT:
            raise DataError(f"{where} has the format {told['format']}, and this version reads {FORMAT}.")
        settings = [Setting(**one) for one in told["graphs"]]
        records = tuple(Record(**one) for one in told["records"])
    except (ValueError, LookupError, TypeError) as error:
        raise DataError(f"{where} does not hold records; write it with `aacbench records --from STUDY`.") from error
    return Records({one.graph: one for one in settings}, records, told.get("version", ""))


def write(records: Records, path: Path) -> None:
    """Write records to a file; what is there stays unless this study measured the same method, graph and budget."""
    if path.exists():
        records = read(path.read_bytes(), str(path)).joined(records)
    told = {
        "format": FORMAT,
        "version": records.version,
        "graphs": [asdict(one) for one in records.settings.values()],
        "records": [asdict(one) for one in records.records],
    }
    with storing(path.parent, "name another file"):
        replace_file(path, pretty(told))
