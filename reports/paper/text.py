"""The paper's exhibits as text: the list, one exhibit, printed beside replayed, and the claims."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aacbench.protocols.paper import Exhibit, PaperGraph, Printed, Reason
from aacbench.reports.formatting import aligned, without_markup
from aacbench.reports.paper.claims import FAILS, HOLDS, NOT_CHECKABLE, Verdict
from aacbench.reports.paper.columns import Found
from aacbench.reports.paper.comparison import Comparison
from aacbench.reports.paper.data import is_unchecked
from aacbench.reports.paper.studies import ReplayedStudy
from aacbench.reports.tables import rows_of

FAILED = ("skipped", "timeout", "out-of-memory", "error")  # outcomes that another run may mend
LEFT = ("graph", "method", "row", "column", "result", "why")
SMALL = 1e-2  # below it, numbers that are printed so have significant digits, not decimals


def table(comparisons: Sequence[Comparison]) -> str:
    """Return printed and replayed values side by side as a Markdown table."""
    rows = [
        {
            **_place(comparison.printed),
            "printed": comparison.printed.text(),
            "replayed": shown(comparison.replayed, comparison.printed),
            "difference": _signed(comparison),
            "in sd": "" if comparison.in_spreads is None else f"{comparison.in_spreads:+.1f}",
            "result": comparison.result,
            "published record": shown(comparison.record, comparison.printed),
            "measured/1, modern": shown(comparison.modern, comparison.printed),
            "why": comparison.why,
        }
        for comparison in comparisons
    ]
    return without_markup(aligned(rows, LEFT)) if rows else "No number is printed."


def printed_table(values: Sequence[Printed]) -> str:
    rows = [{**_place(value), "printed": value.text(), "note": str(value.beside.get("note", ""))} for value in values]
    return without_markup(aligned(rows, (*LEFT, "note"))) if rows else "No number is printed."


def summary(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {result}" for result, count in counted.items())


def shown(found: Found | None, printed: Printed) -> str:
    """Return a replayed value with one digit more than is printed."""
    if found is None:
        return ""
    if isinstance(found.value, bool):
        return "yes" if found.value else "no"
    if isinstance(found.value, str):
        return found.value
    if isinstance(found.value, tuple):
        return ", ".join(map(str, found.value))
    text = number(found.value, printed)
    return text if found.spread is None else f"{text} +- {number(found.spread, printed)}"


def number(value: float, printed: Printed) -> str:
    if printed.value is None or (0 < abs(printed.value) < SMALL and "E" in str(printed.value)):
        return f"{value:.3g}"
    decimals = max(0, -int(printed.unit_in_last_place.adjusted()))
    text = f"{value:.{decimals + 1}f}" if decimals or value != int(value) else f"{int(value)}"
    if not float(text) and abs(value) > 0 and decimals > 3:
        return f"{value:.2g}"
    return text if float(text) else text.removeprefix("-")


def _signed(comparison: Comparison) -> str:
    if comparison.difference is None:
        return ""
    text = number(comparison.difference, comparison.printed)
    return text if text.startswith("-") else f"+{text}"


def _place(printed: Printed) -> dict[str, str]:
    return {
        "graph": str(printed.row.get("graph", "")),
        "method": str(printed.row.get("method", "")),
        "budget": str(printed.row.get("budget_bytes", "")),
        "row": printed.name,
        "column": printed.column,
    }


def notes(exhibit: Exhibit, wanted: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return what a reader of the table must know: differences that are known, missing data, and other runs."""
    lines = [f"- known: {known}" for known in exhibit.known]
    lines += [f"- wanted: {sentence}." for sentence in wanted]
    return [*lines, *(f"- {other}" for other in others)]


def record(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison for JSON; printed numbers are texts, so that their digits stay."""
    printed = comparison.printed
    return {
        "row": _row(printed),
        "column": printed.column,
        "printed": printed.text(),
        "replayed": _value(comparison.replayed),
        "spread": comparison.replayed.spread if comparison.replayed else None,
        "modern": _value(comparison.modern),
        "record": _value(comparison.record),
        "difference": comparison.difference,
        "in_spreads": comparison.in_spreads,
        "result": comparison.result,
        "why": comparison.why,
    }


def _value(found: Found | None) -> Any:
    return None if found is None else list(found.value) if isinstance(found.value, tuple) else found.value


def _row(printed: Printed) -> dict[str, Any]:
    return {key: value if isinstance(value, str | int) else str(value) for key, value in printed.row.items()}


def other_rows(
    studies: Sequence[ReplayedStudy], modern: Sequence[ReplayedStudy], graphs: Mapping[str, PaperGraph]
) -> list[str]:
    """Return what a reader must know of the studies: missing cells, other graphs, and rows that are not printed."""
    lines = []
    for study in (*studies, *modern):
        counted = study.contents.summary()
        if counted.missing or counted.damaged:
            count = len(counted.missing) + len(counted.damaged)
            lines.append(f"{study.root}: {count} of {counted.planned} cells are missing or damaged; run it again.")
        failed = {outcome: counted.outcomes[outcome] for outcome in FAILED if outcome in counted.outcomes}
        if failed:
            lines.append(f"{study.root}: cells without a result: {summary(failed)}; run it again.")
    for study in studies:
        lines += _other_graph(study, graphs)
        if study.replay.stand_in or not study.replay.run.compare:
            rows = [row for row in rows_of(study.cells) if row.reduction is not None and row.nominal is not None]
            shown = ", ".join(f"{row.method} at {row.budget:g} B/v {row.reduction:.2f} %" for row in rows)
            lines.append(f"not printed: {study.graph}: {shown}.")
    if modern:
        lines.append("measured/1, modern: the same methods where memory is measured and ties are broken by large g.")
    return list(dict.fromkeys(lines))


def _other_graph(study: ReplayedStudy, graphs: Mapping[str, PaperGraph]) -> list[str]:
    """Return a line where the graph may not be the paper's: a user's own, or a file that has no known digest."""
    size = ""
    if study.vertices is not None and study.replay.graph in graphs:
        size = f" It has {study.vertices:,} vertices, the paper's {graphs[study.replay.graph].size_printed}."
    if study.graph != study.replay.graph:
        return [f"{study.replay.graph} was replayed on {study.graph}.{size}"]
    return [f"{study.graph} is a file of yours that is not checked.{size}"] if is_unchecked(study.graph) else []


def exhibit_text(exhibit: Exhibit, reasons: Sequence[Reason], folders: Sequence[str], missing: Sequence[str]) -> str:
    parts = [
        f"{exhibit.id} ({exhibit.kind}, section {exhibit.section}): {exhibit.title}",
        exhibit.claim,
        f"Replay: {exhibit.replay}; {exhibit.replay_why}.",
    ]
    parts += ["\n".join(f"- {line}" for line in exhibit.caption)] if exhibit.caption else []
    parts += [printed_table(exhibit.values)]
    parts += ["\n".join(f"- known: {line}" for line in exhibit.known)] if exhibit.known else []
    parts += ["\n".join(f"- reason: {reason.says}" for reason in reasons)] if reasons else []
    parts += ["Studies: " + ", ".join(folders)] if folders else []
    parts += ["\n".join(f"- wanted: {sentence}." for sentence in missing)] if missing else []
    return "\n\n".join(parts)


def exhibit_record(exhibit: Exhibit) -> dict[str, Any]:
    return {
        "label": exhibit.id,
        "title": exhibit.title,
        "claim": exhibit.claim,
        "replay": exhibit.replay,
        "why": exhibit.replay_why,
        "graphs": list(exhibit.graphs),
        "known": list(exhibit.known),
        "values": [{"row": _row(entry), "column": entry.column, "printed": entry.text()} for entry in exhibit.values],
    }


def claims_text(verdicts: Mapping[str, Sequence[Verdict]], *, numbers: bool = False) -> str:
    """Return a line for each claim, with its verdicts in front; below it, if asked for, a remark and the numbers."""
    lines = ["".join(f"{kind:<18}" for kind in verdicts) + "claim"]
    for found in zip(*verdicts.values(), strict=True):
        kinds, claim = list(zip(verdicts, found, strict=True)), found[0].claim
        lines.append("".join(f"{_of_all(one):<18}" for one in found) + f"{claim.id}: {claim.says}")
        if numbers:
            lines += [f"  remark: {claim.remark}"] if claim.remark else []
            used = [f"  {kind}: {_numbers(one)}" for kind, one in kinds if one.used]
            lines += used or ([f"  by hand: {claim.how}"] if claim.how else [])
    for kind, judged in verdicts.items():
        counts = Counter(one.verdict for one in judged)
        lines.append(f"{kind}: " + ", ".join(f"{counts[word]} {word}" for word in (HOLDS, FAILS, NOT_CHECKABLE)) + ".")
    return "\n".join(lines) + ("" if numbers else "\n--numbers prints the numbers behind each.")


def _of_all(found: Verdict) -> str:
    """Return the verdict, and on how many of the printed values it rests if not on all."""
    partly = found.verdict != NOT_CHECKABLE and found.used < found.of
    return f"{found.verdict} ({found.used} of {found.of})" if partly else found.verdict


def _numbers(found: Verdict) -> str:
    return found.numbers if found.used == found.of else f"{found.numbers} ({found.used} of {found.of} values)"


def verdict_record(found: Verdict) -> dict[str, Any]:
    claim = found.claim
    return {
        "claim": claim.id,
        "says": claim.says,
        "rule": claim.rule,
        "verdict": found.verdict,
        "numbers": found.numbers,
        "values": found.used,
        "of": found.of,
        "remark": claim.remark,
    }
