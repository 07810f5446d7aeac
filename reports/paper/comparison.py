"""Printed against replayed: each value of an exhibit beside what its replay has, the difference, and the reason."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aacbench.protocols.paper import Exhibit, Printed, replays
from aacbench.reports.paper.columns import COLUMNS, NOT_MEASURED, NOT_REPLAYED, Found, replayed
from aacbench.reports.paper.published import from_record
from aacbench.reports.paper.studies import ReplayedStudy, Shelf, failures

EQUAL, NEAR, DIFFERENT, NOT_COMPARED = "equal", "within 2 sd", "different", ""
BY_RECORD = " by the record"
NEAR_SPREADS = 2
ROUNDING = 1e-9  # relative; a mean over seeds is not exact
# The paper subtracts rounded numbers, so what it prints here may be one unit off.
DIFFERENCES = ("gap_to_ceiling_pp", "validation_minus_test_pp", "observed_gap_pp")
UNEXPLAINED = "no reason known"
SILENT = "not applicable"  # printed where the paper did not test


@dataclass(frozen=True, slots=True)
class Comparison:
    """A printed value, its replay, and how they compare; `in_spreads` is in the paper's standard deviations.

    `record` is what the published per-run record gives, which is compared where there is no replay.
    """

    printed: Printed
    replayed: Found | None
    modern: Found | None
    record: Found | None
    difference: float | None
    in_spreads: float | None
    result: str
    why: str


def compare(shelf: Shelf, exhibit: Exhibit) -> list[Comparison]:
    """Compare every printed value of an exhibit with its replay, if there is one."""
    studies, modern = shelf.studies(exhibit.id), shelf.studies(exhibit.id, modern=True)
    # One instruction per missing graph would fill the table; they are listed once below it.
    absent = set(shelf.missing(exhibit))
    planned = {replay.graph for replay in replays(shelf.paper, exhibit.id)}
    return [_compared(shelf, exhibit, printed, studies, modern, planned, absent) for printed in exhibit.values]


def results(comparisons: Sequence[Comparison]) -> dict[str, int]:
    """Count the compared values by result."""
    counted = Counter(comparison.result for comparison in comparisons)
    return {result: counted[result] for result in sorted(counted, key=_order) if result}


def _order(result: str) -> tuple[bool, int]:
    return result.endswith(BY_RECORD), [EQUAL, NEAR, DIFFERENT, NOT_COMPARED].index(result.removesuffix(BY_RECORD))


def _compared(
    shelf: Shelf,
    exhibit: Exhibit,
    printed: Printed,
    studies: Sequence[ReplayedStudy],
    modern: Sequence[ReplayedStudy],
    planned: set[str],
    absent: set[str],
) -> Comparison:
    found = replayed(exhibit, printed, studies)
    record = from_record(exhibit, printed, shelf.paper.records)
    difference = _difference(printed, found)
    spread = float(printed.spread) if printed.spread else None
    in_spreads = difference / spread if difference is not None and spread else None
    result = _result(printed, found, difference, in_spreads)
    graph = printed.row.get("graph", "")
    if found is None:
        result = _by_record(printed, record)
        why = _why_missing(printed, graph, studies, planned, absent)
    elif result in (EQUAL, NOT_COMPARED):
        why = ""
    else:
        known = [reason.says for reason in shelf.paper.reasons if reason.fits(exhibit.id, printed)]
        known += _of_graph(shelf, graph, studies)
        why = _reason(exhibit, printed, known, found, unexplained=result == DIFFERENT)
    under_modern = replayed(exhibit, printed, modern) if modern else None
    return Comparison(printed, found, under_modern, record, difference, in_spreads, result, why)


def _by_record(printed: Printed, record: Found | None) -> str:
    result = _result(printed, record, _difference(printed, record), None)
    return result + BY_RECORD if result else NOT_COMPARED


def _difference(printed: Printed, found: Found | None) -> float | None:
    if found is None or printed.value is None or isinstance(found.value, str | bool | tuple):
        return None
    return float(found.value) - float(printed.value)


def _result(printed: Printed, found: Found | None, difference: float | None, in_spreads: float | None) -> str:
    if found is None or printed.content.get("text") == SILENT:
        return NOT_COMPARED
    if difference is None:
        return EQUAL if _same(printed.content, found.value) else DIFFERENT
    bound = printed.beside.get("bound")
    if bound:
        return EQUAL if (difference <= 0) == (bound in ("<", "<=", "at most", "below")) else DIFFERENT
    units = 1 if printed.column in DIFFERENCES else 0.5
    if abs(difference) <= units * float(printed.unit_in_last_place) + ROUNDING * abs(float(found.value)):
        return EQUAL
    return NEAR if in_spreads is not None and abs(in_spreads) <= NEAR_SPREADS else DIFFERENT


def _same(content: Mapping[str, Any], value: Any) -> bool:
    if "set" in content:
        return tuple(sorted(content["set"])) == value
    return bool(value == content.get("flag", content.get("text")))


def _why_missing(
    printed: Printed, graph: str, studies: Sequence[ReplayedStudy], planned: set[str], absent: set[str]
) -> str:
    if printed.column in NOT_REPLAYED:
        return NOT_REPLAYED[printed.column]
    if printed.column not in COLUMNS:
        return NOT_MEASURED
    if outcomes := failures(studies, printed.row):
        return f"no result: {', '.join(outcomes)}"
    if graph in absent:
        return f"{graph} is not here"
    return "not replayed yet" if graph in planned else "no run gives it"


def _of_graph(shelf: Shelf, graph: str, studies: Sequence[ReplayedStudy]) -> list[str]:
    """Return that the graph is another than the paper's, if it is."""
    others = {study.graph for study in studies if study.replay.graph == graph != study.graph}
    if others:
        return [f"replayed on {', '.join(sorted(others))}"]
    note = shelf.paper.graphs[graph].note.partition(":")[0] if graph else ""
    return [note] if note else []


def _reason(exhibit: Exhibit, printed: Printed, known: Sequence[str], found: Found, *, unexplained: bool) -> str:
    """Return what is known about a difference: of this value, of a faithful run, of its replay and its graph."""
    reasons = [f"a faithful run has {other.text()}" for other in exhibit.reruns if _is_rerun(other, printed)]
    reasons += known
    reasons += [f"{found.wrong} cells have paths that are too long"] if found.wrong else []
    reasons = reasons or [UNEXPLAINED] * unexplained
    return "; ".join(([str(printed.beside["note"])] if "note" in printed.beside else []) + reasons)


def _is_rerun(other: Printed, printed: Printed) -> bool:
    return other.column == printed.column and all(
        printed.row.get(key, value) == value for key, value in other.row.items()
    )
