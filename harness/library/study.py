"""A study opened from its folder, with its cells and queries as pandas tables."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aacbench.errors import DataError, UsageError
from aacbench.library.heuristic import GraphHeuristic, loaded
from aacbench.reports.formatting import LONGEST_REASON, cell_settings
from aacbench.reports.tables import rows_of
from aacbench.run.layout import PLAN
from aacbench.run.rebuild import stored_bundle
from aacbench.run.records import BASELINE, TEST, VALIDATION
from aacbench.run.run_config import plan_of
from aacbench.run.store import Cell
from aacbench.run.study import StudyContents, read_study
from aacbench.util.text import one_line

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from aacbench.graphs.record import Graph

MOST_FAILURES = 5  # that the summary of a study names


@dataclass(frozen=True, slots=True)
class CellCounterexample:
    """The smallest case found in which a cell's heuristic breaks a claim: where, and by which numbers.

    `bound` is h(u, target), or the cost of the path found where the claim is `optimal`; `limit` is what it must not
    exceed. `v` is the head of the arc for `consistent`, else -1. `sentence` says all of it.
    """

    claim: str
    graph: "Graph"
    u: int
    v: int
    target: int
    bound: float
    limit: float
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRow:
    """A row of `cells`; docs/library.md says what each column is."""

    cell: str
    graph: str
    method: str
    variant: str
    settings: str
    budget: float
    convention: str
    seed: int
    policy: str
    role: str
    splits: str
    outcome: str
    reason: str
    tier: str
    nominal: float | None
    measured: float | None
    build_seconds: float | None
    pool_seconds: float | None
    validation: float | None
    test: float | None
    reduction: float | None
    traffic: str


class OpenStudy:
    """A study as it was when it was first read; open it again to see what later runs added.

    `path` is its folder. `cells`, `queries` and `table()` are pandas tables, read and made when they are asked for.
    """

    def __init__(self, path: Path, contents: StudyContents | None = None) -> None:
        self.path = path
        if contents is not None:
            self.__dict__["contents"] = contents

    @cached_property
    def contents(self) -> StudyContents:
        """The plan, the undamaged cells by id, and what is wrong with each damaged one; every file is read once."""
        return read_study(self.path)

    @property
    def damaged(self) -> Mapping[str, str]:
        """The cells that are not as they were written, each with what is wrong."""
        return self.contents.damaged

    @property
    def missing(self) -> tuple[str, ...]:
        """The ids of planned cells that were not run yet."""
        return self.contents.summary().missing

    @cached_property
    def cells(self) -> "pd.DataFrame":
        """One row per cell of the plan; the mean expansions of a split are under its name."""
        import pandas as pd

        cells = self.contents.planned_cells()
        dijkstra = [cell for cell in cells if cell.key["method"] == BASELINE]
        base = {(cell.variant, cell.key["graph"]): _mean(cell, TEST) for cell in dijkstra}
        rows = [asdict(_cell_row(cell, base.get((cell.variant, cell.key["graph"])))) for cell in cells]
        return pd.DataFrame(rows, columns=list(CellRow.__slots__))

    @cached_property
    def queries(self) -> "pd.DataFrame":
        """One row per cell and query: the columns of queries.csv, after those that name the cell."""
        import pandas as pd

        tables = [_query_rows(cell) for cell in self.contents.planned_cells() if "queries.csv" in cell.files]
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()

    def table(self) -> "pd.DataFrame":
        """The table of `aacbench report`, in full precision."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in rows_of(self.contents.planned_cells())])

    def figure(self, name: str, **choices: Any) -> "Figure":
        """A figure of the study as a matplotlib object; docs/reports.md has the names and choices."""
        from aacbench.reports.figures import figure

        return figure(name, self.contents, root=self.path, **choices)

    def heuristic(self, cell: str) -> GraphHeuristic:
        """The heuristic of a cell, as it was measured; `cell` is an id or how one begins."""
        found = self._cell(cell)
        bundle = stored_bundle(self.path, found)
        if bundle is None:
            raise UsageError(
                f"The study holds no arrays of cell {found.cell_id}, which is {found.outcome}: it has none, or they "
                f"were deleted. Build it with aacbench.build."
            )
        return loaded(bundle, _graph(found, self.path) if plan_of(found.key).on_maps else None)

    def counterexample(self, cell: str) -> CellCounterexample | None:
        """What shows that a `wrong` cell breaks its claim, or None where nothing does; `cell` may be shortened."""
        found = self._cell(cell)
        claims = {**found.claims, "optimal": found.claims.get("admissible", True)}
        cases = [case for case in found.record.get("audit", {}).get("counterexamples", ()) if claims.get(case["claim"])]
        if not cases:
            return None
        numbers = {name: float(cases[0][name]) for name in ("bound", "limit")}
        return CellCounterexample(**{**cases[0], **numbers, "graph": _graph(found, self.path)})

    def _cell(self, beginning: str) -> Cell:
        fitting = [name for name in self.contents.cells if name.startswith(beginning)]
        if len(fitting) != 1 or not beginning:
            what = f"{len(fitting)} cells begin with" if fitting else "No cell begins with"
            raise UsageError(f"{what} {beginning!r} in {self.path}; its `cells` table has the ids.")
        return self.contents.cells[fitting[0]]

    def __repr__(self) -> str:
        summary = self.contents.summary()
        counts = [f"{count} {outcome}" for outcome, count in summary.outcomes.items()]
        counts += [f"{len(self.missing)} missing"] if self.missing else []
        counts += [f"{len(self.damaged)} damaged"] if self.damaged else []
        lines = [f"Study {self.path}: {summary.planned} cells ({', '.join(counts) or 'none'})", *self._failures()]
        return "\n".join([*lines, *self.damaged.values()])

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>" + self.table().drop(columns="reason", errors="ignore").to_html()

    def _failures(self) -> list[str]:
        failed = [cell for cell in self.contents.planned_cells() if cell.outcome not in ("ok", "unsupported")]
        lines = [
            f"  {cell.outcome}: {cell.key['label']} on {cell.key['graph']} at {cell.key['budget']:g} B/v, seed "
            f"{cell.key['seed']} (cell {cell.cell_id[:8]}): {one_line(cell.record['reason'], LONGEST_REASON)}"
            for cell in failed[:MOST_FAILURES]
        ]
        more = len(failed) - MOST_FAILURES
        return [*lines, f"  and {more} more; `cells` has all of them"] if more > 0 else lines


def open_study(path: str | Path) -> OpenStudy:
    """Open a study by its folder; files are read when their content is asked for."""
    folder = Path(path).expanduser()
    if not (folder / PLAN).is_file():
        raise UsageError(f"{folder} is not a study: it has no {PLAN}. Give the folder of a study.")
    return OpenStudy(folder)


def _cell_row(cell: Cell, base: float | None) -> CellRow:
    key, record = cell.key, cell.record
    charged, test = key["convention"], _mean(cell, TEST)
    size, build = record.get("bytes", {}), record.get("build", {})
    return CellRow(
        cell=cell.cell_id,
        graph=key["graph"],
        method=key["label"],
        variant=cell.variant,
        settings=cell_settings(cell),
        budget=key["budget"],
        convention=f"{charged['name']}/{charged['version']}",
        seed=key["seed"],
        policy=key["policy"],
        role=key["role"],
        splits=",".join(key["splits"]),
        outcome=cell.outcome,
        reason=record["reason"],
        tier=record.get("tier", ""),
        nominal=size.get("nominal_per_vertex"),
        measured=size.get("measured_per_vertex"),
        build_seconds=build.get("seconds"),
        pool_seconds=build.get("pool_seconds"),
        validation=_mean(cell, VALIDATION),
        test=test,
        reduction=100 * (1 - test / base) if test is not None and base else None,
        traffic=key.get("traffic", ""),
    )


def _query_rows(cell: Cell) -> "pd.DataFrame":
    import pandas as pd

    key = cell.key
    named = {"cell": cell.cell_id, "graph": key["graph"], "method": key["label"], "variant": cell.variant}
    return pd.DataFrame({**named, "budget": key["budget"], "seed": key["seed"], **cell.queries})


def _mean(cell: Cell, split: str) -> float | None:
    """The mean expansions of a split; a cell that is not ok has none, as in every table."""
    return cell.record.get("means", {}).get(split) if cell.outcome == "ok" else None


def _graph(cell: Cell, root: Path) -> "Graph":
    from aacbench.graphs.load import load
    from aacbench.run.predictions import AtlasOf

    graph = AtlasOf(load, root.absolute())(plan_of(cell.key).graph_source)
    if graph.digest != cell.key["graph_digest"]:
        raise DataError(f"The graph {cell.key['graph']} is not the one that cell {cell.cell_id} was run on.")
    return graph
