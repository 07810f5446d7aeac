"""The table of records, and a study held against it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from aacbench.reports.formatting import LONGEST_REASON, aligned, optional
from aacbench.reports.records import LeftOut, Record, Records, Setting
from aacbench.util.text import one_line

TEXT_COLUMNS = ("graph", "method", "settings", "record", "mark")
BEATEN = "beats the record"
_UNITS = {"expanded": "expansions", "total": "expansions + h_work", "time": "time"}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A method of a study beside the record within the same bytes; `why` says why the two cannot be compared."""

    mine: Record
    record: Record | None
    beats: bool
    why: str = ""

    def told(self) -> dict[str, Any]:
        record = None if self.record is None else self.record.told()
        return {**self.mine.told(), "record": record, "beats": self.beats, "why": self.why}


def table(records: Records, by: str = "expanded", graphs: Sequence[str] = (), everything: bool = False) -> str:
    """Return the record of every graph within every budget, or all that was measured, as a table."""
    found = rows(records, by, graphs, everything)
    if not found:
        return "There are no records here."
    lazy = any(one.h_work for _, one in found)
    body = aligned([_columns(budget, one, records.settings[one.graph], lazy) for budget, one in found], TEXT_COLUMNS)
    return "\n".join([body, "", *_notes(records, by, everything)])


def rows(records: Records, by: str, graphs: Sequence[str], everything: bool = False) -> list[tuple[float, Record]]:
    """Return budgets and the record within each, or all that was measured with the budget it was given."""
    shown = [graph for graph in records.settings if not graphs or graph in graphs]
    if everything:
        return [(one.budget, one) for graph in shown for one in records.records if one.graph == graph]
    found = [(budget, records.best(graph, budget, by)) for graph in shown for budget in records.budgets(graph)]
    return [(budget, one) for budget, one in found if one is not None]


def _columns(budget: float, one: Record, setting: Setting, lazy: bool) -> dict[str, str]:
    return {
        "graph": one.graph,
        "B/v at most": f"{budget:g}",
        "method": one.method,
        "settings": one.settings,
        "B/v": f"{one.bytes:.1f}",
        "expansions": f"{one.expanded:,.1f}",
        "h_work": f"{one.h_work:,.1f}" if one.h_work else "",
        "total": f"{one.total:,.1f}" if lazy else "",
        "f < C*": f"{one.below:,.1f}",
        "floor": f"{setting.path:,.1f}",
        "dijkstra": optional(setting.dijkstra, ",.0f"),
        "time / alt": _time(budget, one),
        "build s": f"{one.build_seconds:.1f}",
    }


def _time(budget: float, one: Record) -> str:
    at = "" if one.time is None or one.budget == budget else f" at {one.budget:g}"
    return optional(one.time, ".2f") + at


def _notes(records: Records, by: str, everything: bool) -> list[str]:
    what = (
        "All that was measured." if everything else f"The least {_UNITS[by]} measured within so many bytes per vertex."
    )
    counts = sorted({one.queries for one in records.settings.values()})
    queries = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    searches = ", ".join(sorted({one.search for one in records.settings.values()}))
    conventions = ", ".join(sorted({one.convention for one in records.settings.values()}))
    return [
        f"{what} Means over {queries} test queries; search {searches}; {conventions}.",
        "floor: vertices of a shortest path, all of them expanded. f < C*: expansions that no rule for ties avoids.",
        "time / alt: mean time divided by that of alt in one run on one machine, both given the row's budget, "
        "or with `at 16` both given 16 B/v.",
        *(["By time, only results that were given exactly the row's budget compete."] if by == "time" else []),
    ]


def compare(study: Records, known: Records, by: str = "expanded") -> list[Comparison]:
    """Hold each method of a study against the record on the same graph under the same conditions, within its budget.

    Not by time: times of different runs cannot be compared.
    """
    return [_compared(one, study.settings[one.graph], known, by) for one in study.records]


def _compared(one: Record, setting: Setting, known: Records, by: str) -> Comparison:
    theirs = known.settings.get(one.graph) or next(
        (each for each in known.settings.values() if each.graph_digest == setting.graph_digest), None
    )
    if theirs is None:
        return Comparison(one, None, False, "no record on this graph")
    if said := setting.differences(theirs):
        return Comparison(one, None, False, f"not comparable: {said}")
    record = known.best(theirs.graph, one.budget, by)
    return Comparison(one, record, record is None or getattr(one, by) < getattr(record, by))


def comparison_table(found: Sequence[Comparison], by: str = "expanded") -> str:
    if not found:
        return "No result of the study is on these graphs."
    lazy = any(each.mine.h_work for each in found)
    all_totals = by == "total" and (lazy or any(each.record.h_work for each in found if each.record is not None))
    rows = [
        {
            "graph": each.mine.graph,
            "B/v at most": f"{each.mine.budget:g}",
            "method": each.mine.method,
            "B/v": f"{each.mine.bytes:.1f}",
            "expansions": f"{each.mine.expanded:,.1f}",
            "h_work": f"{each.mine.h_work:,.1f}" if each.mine.h_work else "",
            "total": f"{each.mine.total:,.1f}" if lazy or all_totals else "",
            "record": "" if each.record is None else f"{each.record.method}, {each.record.bytes:.1f} B/v",
            "its expansions": "" if each.record is None else f"{each.record.expanded:,.1f}",
            "its h_work": f"{each.record.h_work:,.1f}" if each.record is not None and each.record.h_work else "",
            "its total": f"{each.record.total:,.1f}" if each.record is not None and all_totals else "",
            "mark": BEATEN if each.beats else each.why,
        }
        for each in found
    ]
    beaten = sum(row["mark"] == BEATEN for row in rows)
    held = sum(not row["mark"] or row["mark"] == BEATEN for row in rows)
    said = f"{beaten} of {held} comparable results beat the record, by {_UNITS[by]}." if held else "None is comparable."
    return f"{aligned(rows, TEXT_COLUMNS)}\n\n{said}"


def reasons(without: Iterable[LeftOut]) -> str:
    """Return a line for each method and graph that was left out for one reason, at whichever budgets."""
    budgets: dict[tuple[str, str, str], list[str]] = {}
    for one in without:
        budgets.setdefault((one.method, one.graph, one.why), []).append(f"{one.budget:g}")
    return "\n".join(
        f"- {method} on {graph} at {', '.join(at)} B/v: {one_line(why, LONGEST_REASON)}"
        for (method, graph, why), at in budgets.items()
    )
