"""Records: the best of those tried on a graph within so many bytes, made from a study and shipped with the version."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.errors import DataError, UsageError
from aacbench.reports.deployable import Deployable, deployables, is_baseline, left_out
from aacbench.reports.formatting import LONGEST_REASON
from aacbench.reports.tables import rows_of
from aacbench.run.records import BASELINE, TEST
from aacbench.run.store import Cell
from aacbench.run.study import StudyContents
from aacbench.util.atomic_io import replace_file, storing
from aacbench.util.canonical import pretty
from aacbench.util.text import one_line
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

    def told(self) -> dict[str, Any]:
        return {**asdict(self), "total": self.total}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A method of a study that cannot hold a record, and why."""

    graph: str
    budget: float
    method: str
    why: str

    def told(self) -> dict[str, Any]:
        """Return it as a comparison is told, with null for what is not compared."""
        nothing = dict.fromkeys([*(each.name for each in fields(Record)), "total", "record"])
        return {**nothing, **asdict(self), "beats": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What records on a graph hold for: the digests of graph and test queries, the convention and the search policy.

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
    search: str = "modern"  # files written before the policy was kept have none, and are of this one

    def differences(self, other: "Setting") -> str:
        """Say in what this differs from the other; an empty text if results of both may stand in one table."""
        said = [
            "other graph file" if self.graph_digest != other.graph_digest else "",
            "other test queries" if self.queries_digest != other.queries_digest else "",
            f"convention {self.convention}, not {other.convention}" if self.convention != other.convention else "",
            f"search {self.search}, not {other.search}" if self.search != other.search else "",
        ]
        return "; ".join(filter(None, said))


@dataclass(frozen=True, slots=True)
class Records:
    """All records, and what those on each graph hold for.

    `measured` has the graph, budget and method of all that a study measured, also of what may not hold a record;
    `left_out` has the reasons.
    """

    settings: Mapping[str, Setting]
    records: tuple[Record, ...]
    version: str = VERSION
    measured: frozenset[tuple[str, float, str]] = field(default=frozenset(), compare=False)
    left_out: tuple[LeftOut, ...] = field(default=(), compare=False)

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
        """Return these with the other records; a method that the other study found unsupported, say, is gone."""
        new = {one.what for one in other.records} | other.measured
        kept = (one for one in self.records if one.what not in new)
        settings = {**self.settings, **other.settings}
        both = self.settings.keys() & other.settings.keys()
        floors = {graph: min(self.settings[graph].path, other.settings[graph].path) for graph in both}
        settings |= {graph: replace(settings[graph], path=path) for graph, path in floors.items()}
        return Records(settings, (*kept, *other.records))


_ROOM = 0.05  # bytes per vertex: settings of a kernel are counted, but its first 64 bytes are free


def records_of(contents: StudyContents) -> Records:
    """Make the records of a study; its methods may be anything that can be deployed, on graphs without traffic."""
    found = [cell for cell in contents.own_cells() if not cell.key.get("traffic")]
    by_id = {cell.cell_id: cell for cell in found}
    rows, without = deployables(found), tuple(_left_out(contents, found))
    if all(is_baseline(row) for row in rows):
        raise UsageError(f"There are no records in the study: {_why_none(contents, without)}.")
    graphs = dict.fromkeys(row.graph for row in rows)
    search = (contents.plan or {}).get("study", {}).get("search", "modern")
    cells = [by_id[name] for row in rows for name in row.ids]
    settings = {graph: _setting(graph, rows, cells, search) for graph in graphs}
    times = {(row.graph, row.budget): row.mean_us for row in rows if row.method == REFERENCE}
    made = [
        _record(row, [by_id[name] for name in row.ids], times.get((row.graph, row.budget)))
        for row in rows
        if not is_baseline(row)
    ]
    measured = frozenset((cell.key["graph"], cell.key["budget"], cell.key["label"]) for cell in found)
    return Records(settings, tuple(made), measured=measured, left_out=without)


def _left_out(contents: StudyContents, static: Iterable[Cell]) -> Iterator[LeftOut]:
    under_traffic = [cell for cell in contents.own_cells() if cell.key.get("traffic")]
    moved = [(row, "searched under traffic") for row in rows_of(under_traffic) if row.method != BASELINE]
    for row, why in [*left_out(static), *moved]:
        yield LeftOut(row.graph, row.budget, row.method, why)


def _why_none(contents: StudyContents, without: Sequence[LeftOut]) -> str:
    damaged, missing = len(contents.damaged), len(contents.summary().missing)
    if damaged or missing:
        return f"of its cells, {damaged} are damaged and {missing} not measured yet; see `aacbench status`"
    if without:
        first = without[0]
        return f"no method can hold one ({first.method} on {first.graph}: {one_line(first.why, LONGEST_REASON)})"
    return "no method was run besides dijkstra"


def _setting(graph: str, rows: Sequence[Deployable], cells: Sequence[Cell], search: str) -> Setting:
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
        search=search,
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
    try:
        return read(file.read_bytes(), str(file))
    except FileNotFoundError as error:
        raise DataError(f"{file}, which comes with aacbench, is not there; install aacbench again.") from error


def read(data: bytes, where: str) -> Records:
    try:
        told = json.loads(data)
        if told["format"] != FORMAT:
            raise DataError(f"{where} has the format {told['format']}, and this version reads {FORMAT}.")
        settings = [Setting(**one) for one in told["graphs"]]
        records = tuple(Record(**one) for one in told["records"])
        every: list[Setting | Record] = [*settings, *records]
        if not all(_fits(each.type, getattr(one, each.name)) for one in every for each in fields(one)):
            raise ValueError
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        raise DataError(f"{where} does not hold records; write it with `aacbench records --from STUDY`.") from error
    return Records({one.graph: one for one in settings}, records, told.get("version", ""))


def _fits(kind: Any, value: Any) -> bool:
    """Whether a field holds what it should: JSON has texts in the place of numbers, and Python reads NaN in it."""
    if kind is str:
        return isinstance(value, str)
    if value is None:
        return bool(kind == float | None)
    return isinstance(value, int | float) and math.isfinite(value)


def write(records: Records, path: Path) -> None:
    """Write records to a file; what is there stays unless this study measured the same method, graph and budget."""
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"{path} is a folder, or is in a folder that does not exist; name another file.")
    if path.exists():
        there = read(path.read_bytes(), str(path))
        _refuse_mixed(path, there, records)
        _refuse_untimed(path, there, records)
        records = there.joined(records)
    told = {
        "format": FORMAT,
        "version": records.version,
        "graphs": [asdict(one) for one in records.settings.values()],
        "records": [asdict(one) for one in records.records],
    }
    with storing(path.parent, "name another file"):
        replace_file(path, pretty(told))


def _refuse_mixed(path: Path, there: Records, new: Records) -> None:
    """Refuse results that cannot stand beside those on the same graph; all of a file have one convention and search."""
    for graph, setting in new.settings.items():
        for other in there.settings.values():
            same = other if other.graph == graph else replace(setting, convention=other.convention, search=other.search)
            if said := setting.differences(same):
                where = f"The study's results on {graph} cannot stand beside those on {other.graph} in {path}"
                raise UsageError(f"{where} ({said}). Nothing was written; name another file.")


def _refuse_untimed(path: Path, there: Records, new: Records) -> None:
    known = {one.what: one for one in there.records}
    for one in new.records:
        old = known.get(one.what, one)
        if any(getattr(old, name) is not None and getattr(one, name) is None for name in ("mean_us", "time")):
            what = f"{path} has times of {one.method} on {one.graph} at {one.budget:g} B/v, and the study has not"
            remedy = f"run it with --time and with {REFERENCE} among its methods, or name another file"
            raise UsageError(f"{what}. Nothing was written; {remedy}.")
