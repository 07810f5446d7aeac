"""The list of exhibits: what each shows, whether its data is here, and how far its replay is from print."""

from dataclasses import asdict, dataclass
from typing import Any

from aacbench.protocols.paper import Exhibit
from aacbench.reports.formatting import without_markup
from aacbench.reports.paper.comparison import DIFFERENT, Comparison, compare, results
from aacbench.reports.paper.studies import Shelf
from aacbench.reports.paper.text import summary

REDUCTION = "reduction_percent"


@dataclass(frozen=True, slots=True)
class Line:
    """One exhibit in the list."""

    label: str
    title: str
    replay: str
    why: str
    needs: tuple[str, ...]
    missing: tuple[str, ...]
    printed: int
    replayed: int
    results: dict[str, int]
    furthest: float | None  # in printed standard deviations
    furthest_points: float | None  # in percentage points, of reductions without a printed deviation
    last: str

    def cells(self) -> dict[str, str]:
        return {
            "exhibit": self.label,
            "shows": self.title,
            "replay": self.replay,
            "data": self._data(),
            "values": str(self.printed),
            "replayed": str(self.replayed or ""),
            "against print": summary(self.results),
            "furthest": self._furthest(),
            "last": self.last[:16].replace("T", " "),
        }

    def _furthest(self) -> str:
        parts = [] if self.furthest is None else [f"{self.furthest:.1f} sd"]
        return ", ".join(parts + ([f"{self.furthest_points:.2f} points"] if self.furthest_points else []))

    def _data(self) -> str:
        if not self.needs:
            return ""
        here = len(self.needs) - len(self.missing)
        return "here" if not self.missing else f"{here} of {len(self.needs)} graphs" if here else "missing"

    def record(self) -> dict[str, Any]:
        return asdict(self)


def lines(shelf: Shelf) -> list[Line]:
    return [_line(shelf, exhibit) for exhibit in shelf.paper.exhibits.values()]


def _line(shelf: Shelf, exhibit: Exhibit) -> Line:
    comparisons = compare(shelf, exhibit)
    finished = [study.finished for study in shelf.studies(exhibit.id)]
    return Line(
        label=exhibit.id,
        title=exhibit.title,
        replay=exhibit.replay,
        why=exhibit.replay_why,
        needs=exhibit.graphs,
        missing=tuple(shelf.missing(exhibit)),
        printed=len(exhibit.values),
        replayed=sum(comparison.replayed is not None for comparison in comparisons),
        results=results(comparisons),
        furthest=furthest(comparisons),
        furthest_points=furthest_points(comparisons),
        last=max(finished, default=""),
    )


def furthest(comparisons: list[Comparison]) -> float | None:
    """Return the largest difference in printed standard deviations, of the values that have one."""
    return max((abs(found.in_spreads) for found in comparisons if found.in_spreads is not None), default=None)


def furthest_points(comparisons: list[Comparison]) -> float | None:
    """Return the largest difference of the reductions that are different and have no printed deviation."""
    without = (found for found in comparisons if found.result == DIFFERENT and found.in_spreads is None)
    points = (found.difference for found in without if found.printed.column == REDUCTION)
    return max((abs(found) for found in points if found is not None), default=None)


def table(listed: list[Line]) -> str:
    from tabulate import tabulate

    rows = [line.cells() for line in listed]
    widths = [34 if name == "shows" else 24 if name == "against print" else None for name in rows[0]]
    text = tabulate([list(row.values()) for row in rows], list(rows[0]), maxcolwidths=widths, disable_numparse=True)
    return without_markup(text)
