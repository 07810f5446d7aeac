"""The page of a comparison: A against B, query by query, in one HTML file like that of a study."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from aacbench.reports import comparison
from aacbench.reports.comparison import Comparison, Side
from aacbench.reports.figures import Drawing
from aacbench.reports.figures.scope import caption_of
from aacbench.reports.formatting import graph_names, study_notes, with_short_graphs
from aacbench.reports.page import provenance, runs
from aacbench.reports.page_parts import picture, rendered, sheet
from aacbench.run.matched import bytes_apart, self_reported
from aacbench.run.records import BASELINE
from aacbench.run.study import StudyContents

MOST_PAIRS = 3  # figures of single queries; the table has every graph and budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two sides as a reader calls them, their studies, and what was found."""

    a: Side
    b: Side
    names: tuple[str, str]
    contents: tuple[StudyContents, StudyContents]
    rows: Sequence[Comparison]
    differing: Mapping[str, tuple[str, str]]
    command: str


def html(found: Compared) -> str:
    rows, graph_notes = with_short_graphs(found.rows)
    a, b = found.names
    studies = list({side.study: (side, contents) for side, contents in _sides(found)}.values())
    notes = [
        comparison.legend(*comparison.marked_names(rows, a, b)),
        *comparison.notes(rows, a, b, found.differing),
        *graph_notes,
    ]
    notes += dict.fromkeys(
        note for contents in found.contents for note in (*study_notes(contents.plan), *comparison.left_out(contents))
    )
    return rendered(
        "compare.html",
        title=f"{a} against {b}",
        summary=f"In {'studies' if studies[1:] else 'study'} {' and '.join(str(side.study) for side, _ in studies)}",
        alarm=_alarm(found),
        sentences=" ".join([result(rows, a, b), *([memory(found)] if any(row.pairs for row in rows) else [])]),
        results=sheet("Comparison", comparison.table(rows), comparison.TEXT_COLUMNS, notes, found.command),
        figures=[picture(drawing) for drawing in drawings(found)],
        studies=[(str(side.study), provenance(contents), runs(side.study)) for side, contents in studies],
    )


def result(rows: Sequence[Comparison], a: str, b: str) -> str:
    """Return who expands less on average, and by how much, in a sentence."""
    ratios = [row.ratio_of_means for row in rows if not math.isnan(row.ratio_of_means)]
    if not ratios:
        return f"{a} and {b} answered no test query in common."
    if len(rows) == 1:
        (row,) = rows
        return (
            f"On {row.graph} at {row.budget:g} B/v, {a} expands {ratios[0]:.3g} times as many vertices per query as "
            f"{b}; it expands fewer on {100 * row.won:.0f} % of the pairs, and more on {100 * row.lost:.0f} %."
        )
    counts = {
        "lower": sum(ratio < 1 for ratio in ratios),
        "higher": sum(ratio > 1 for ratio in ratios),
        "equal": sum(ratio == 1 for ratio in ratios),
    }
    listed = ", ".join(f"{how} in {count}" for how, count in counts.items() if count)
    return (
        f"Against {b}, the mean expansions of {a} are {listed} of {len(ratios)} cases, each a graph at a budget; their "
        f"ratio is from {min(ratios):.3g} to {max(ratios):.3g}."
    )


def memory(found: Compared) -> str:
    """Return whether the two sides use the same memory, in a sentence."""
    if BASELINE in (found.a.method, found.b.method):
        return f"{BASELINE} stores no labels, so memory is not matched by design."
    declared = [
        name
        for side, name in zip((found.a, found.b), found.names, strict=True)
        if self_reported(cell for cell in side.planned if cell.key["label"] == side.method)
    ]
    if declared:
        return f"{' and '.join(declared)} self-reports memory, so it cannot be called matched."
    unlike = comparison.unlike_memory(with_short_graphs(found.rows)[0])
    if unlike:
        return unlike[0]
    apart = [bytes_apart(row.bytes_a, row.bytes_b) for row in found.rows if row.bytes_a and row.bytes_b]
    differ = f"measured bytes differ by at most {100 * max(apart):.2g} %" if any(apart) else "both have the same bytes"
    return f"Memory is matched: {differ}."


def drawings(found: Compared) -> Iterator[Drawing]:
    """Yield the ratios of all cases, and the queries of the first few."""
    from aacbench.reports.figures import ratios

    a, b = found.names
    shown = graph_names(dict.fromkeys(row.graph for row in found.rows))
    drawn = [row for row in found.rows if not math.isnan(row.ratio_of_means)]
    if not drawn:
        return
    cells = [cell for row in drawn for side in (found.a, found.b) for cell in comparison.cells_at(side, _place(row))]
    rows = [
        ratios.Ratio(f"{shown[row.graph]} {row.budget:g} B/v", row.ratio_of_means, row.geometric_mean_ratio)
        for row in drawn
    ]
    said = "; ".join(f"{row.place} {row.of_means:.3g} and {row.geometric:.3g}" for row in rows)
    alt = f"Ratios of expansions of {a} and {b}, of the means and geometric: {said}."
    figure = ratios.draw(rows, a, b, caption_of(cells))
    yield Drawing("ratios", "ratios", "Ratio of expansions, by graph and budget", alt, figure, wide=True)
    for row in drawn[:MOST_PAIRS]:
        yield from _queries(found, row, f"{shown[row.graph]} at {row.budget:g} B/v")


def _queries(found: Compared, row: Comparison, title: str) -> Iterator[Drawing]:
    from aacbench.reports.figures import pairs

    a, b = found.names
    of_graph = [cell for side in (found.a, found.b) for cell in side.planned if cell.key["graph"] == row.graph]
    cells_a, cells_b = (comparison.cells_at(side, _place(row)) for side in (found.a, found.b))
    paired = pairs.paired([cell for cell in of_graph if cell.is_reported], cells_a, cells_b, a, b)
    if len(paired.dijkstra):
        alt = f"Expansions of {a} and {b} on {len(paired.dijkstra)} queries of {title}, against those of {BASELINE}."
        figure = pairs.draw(paired, caption_of([*cells_a, *cells_b]), title)
        yield Drawing("pairs", f"pairs-{title}", f"Query by query: {title}", alt, figure)


def _place(row: Comparison) -> comparison.Place:
    return row.graph, row.budget


def _sides(found: Compared) -> list[tuple[Side, StudyContents]]:
    return list(zip((found.a, found.b), found.contents, strict=True))


def _alarm(found: Compared) -> str:
    """Return what is wrong with the cells that were compared, if anything."""
    bad = [
        cell
        for side in (found.a, found.b)
        for cell in side.planned
        if cell.key["label"] == side.method and cell.outcome not in ("ok", "unsupported")
    ]
    damaged = sum(len(contents.damaged) for contents in {id(one): one for one in found.contents}.values())
    parts = [f"{len(bad)} of their cells failed or are wrong"] if bad else []
    parts += [f"{damaged} cells of the study are damaged"] if damaged else []
    return f"Not all cells are ok: {'; '.join(parts)}. Their queries are left out." if parts else ""
