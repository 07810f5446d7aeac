"""The page of a study: one HTML file with everything inside, which opens from disk and asks no host for anything."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aacbench.reports import contextual, controls, latency, statistics_text, tables
from aacbench.reports.figures import Drawing
from aacbench.reports.formatting import optional, table_notes, warnings_of, with_short_graphs
from aacbench.reports.latency import Latency
from aacbench.reports.page_parts import Sheet, picture, quoted, rendered, sheet
from aacbench.reports.statistics import Table
from aacbench.reports.summary import two_sentences
from aacbench.reports.tables import Row
from aacbench.run.events import RUN_FILE
from aacbench.run.layout import RUNS
from aacbench.run.records import OUTCOMES, TEST
from aacbench.run.store import ANSWERED, Cell
from aacbench.run.study import StudyContents

CONTROLS = "controls"  # the figure that has a place of its own
SHORT = 12  # digits of a digest
MOST_CELLS = 2000  # in a table of a page
MOST_PROBLEMS = 100  # rows about cells that are not ok


@dataclass(frozen=True, slots=True)
class Registered:
    """A registration that the study is bound to: its verdicts in words and as a table, or why there are none."""

    name: str
    heading: str
    sentences: tuple[str, ...]
    verdicts: tuple[Mapping[str, str], ...] = ()
    drawings: tuple[Drawing, ...] = ()
    command: str = ""


@dataclass(frozen=True, slots=True)
class PluginSection:
    """What a plugin reports of the study, or why it could not."""

    name: str
    title: str
    origin: str
    paragraphs: tuple[str, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a page is made from."""

    root: Path
    contents: StudyContents
    rows: Sequence[Row]
    times: Sequence[Latency]
    tables: Sequence[Table]
    drawings: Sequence[Drawing]
    registered: Sequence[Registered] = ()
    plugins: Sequence[PluginSection] = ()
    untested: str = ""  # why some methods were not tested against each other


def html(found: Findings) -> str:
    """Return the page of a study."""
    study = (found.contents.plan or {}).get("study", {})
    return rendered(
        "report.html",
        title=f"Study {found.root.absolute().name}",
        summary=": ".join(filter(None, [f"Protocol {study.get('protocol', 'unknown')}", study.get("summary", "")])),
        sentences=f"{contextual.lead(found.contents)} {_sentences(found)}".strip(),
        outcomes=_outcomes(found.contents),
        alarm=_alarm(found.contents),
        problems=_problems(found),
        controls=_controls(found),
        warnings=warnings_of(found.contents.plan),
        results=_results(found),
        contextual=[sheet(part.title, part.rows, part.text, part.notes) for part in contextual.parts(found.contents)],
        comparisons=_comparisons(found),
        untested=found.untested,
        latencies=_latencies(found),
        figures=[picture(drawing) for drawing in found.drawings if drawing.name != CONTROLS],
        registered=[_registered(each) for each in found.registered],
        plugins=[(each, [picture(drawing) for drawing in each.drawings]) for each in found.plugins],
        cells=_cells(found),
        provenance=provenance(found.contents),
        runs=runs(found.root),
        commands=_commands(found),
    )


def _sentences(found: Findings) -> str:
    rows = [row for row in found.rows if not row.variant]
    return two_sentences(rows, found.tables, contextual.places(found.contents))


def _outcomes(contents: StudyContents) -> list[tuple[str, int]]:
    """Return the number of cells by outcome, worst first; what is missing or damaged comes before all."""
    counted = contents.summary()
    worst_first = [(name, counted.outcomes[name]) for name in reversed(OUTCOMES) if name in counted.outcomes]
    ahead = [("damaged", len(counted.damaged)), ("missing", len(counted.missing))]
    return [(name, count) for name, count in ahead if count] + worst_first


def _alarm(contents: StudyContents) -> str:
    """Return what a reader must know before the result: cells that are wrong, failed, damaged or missing."""
    bad = [(name, count) for name, count in _outcomes(contents) if name not in ANSWERED]
    return (
        f"Not all cells are ok: {', '.join(f'{count} {name}' for name, count in bad)}; see the outcomes." if bad else ""
    )


def _problems(found: Findings) -> Sheet | None:
    """Return what is not ok, worst first; cells of a method that failed for the same reason are one row."""
    rows = [*_lost(found), *_failed(found)]
    if not rows:
        return None
    text = ("outcome", "graph", "budget", "method", "reason", "look into it")
    notes = ["A method of a plugin file is replayed with --plugin FILE."]
    if len(rows) > MOST_PROBLEMS:
        notes.append(f"The first {MOST_PROBLEMS} of {len(rows):,} are listed; `aacbench status --cells` has all.")
    command = f"aacbench status {quoted(found.root)} --cells"
    return sheet("Cells that are not ok", rows[:MOST_PROBLEMS], text, notes, command)


def _lost(found: Findings) -> Iterator[dict[str, str]]:
    """Yield a row for each cell that is damaged, or planned and not there."""
    counted = found.contents.summary()
    lost = [("damaged", reason) for reason in counted.damaged.values()]
    lost += [("missing", f"Cell {name[:SHORT]} is planned and not there.") for name in counted.missing]
    nowhere = {"cells": "1", "graph": "", "budget": "", "method": ""}
    for outcome, reason in lost:
        yield {"outcome": outcome, **nowhere, "reason": reason, "look into it": "Run the study again."}


def _failed(found: Findings) -> Iterator[dict[str, str]]:
    groups: dict[tuple[int, str, str], list[Cell]] = {}
    for cell in found.contents.planned_cells():
        if cell.outcome != "ok":
            key = -OUTCOMES.index(cell.outcome), _place(cell)["method"], str(cell.record.get("reason") or "")
            groups.setdefault(key, []).append(cell)
    for (_, method, reason), cells in sorted(groups.items(), key=lambda group: group[0][0]):
        yield {
            "outcome": cells[0].outcome,
            "cells": str(len(cells)),
            "graph": ", ".join(dict.fromkeys(cell.key["graph"] for cell in cells)),
            "budget": ", ".join(dict.fromkeys(f"{cell.key['budget']:g}" for cell in cells)),
            "method": method,
            "reason": reason or "no reason given",
            "look into it": _remedy(found.root, cells[0]),
        }


def _remedy(root: Path, cell: Cell) -> str:
    """Return what to do about a cell that is not ok; one without rows has nothing to replay."""
    if cell.outcome in tables.REMEDIES:
        return f"Run it again with --existing retry-failed; {tables.REMEDIES[cell.outcome]}."
    return "" if cell.outcome in ("unsupported", "skipped") else _replay(root, cell)


def _results(found: Findings) -> Sheet:
    in_controls = controls.controls_of(found.contents) is not None
    chosen = [row for row in found.rows if not (row.variant and in_controls)]
    rows, graph_notes = with_short_graphs(tables.with_told_work(chosen))
    notes = [*tables.notes_of(rows), *graph_notes] if rows else ["No cells yet."]
    warned = warnings_of(found.contents.plan)
    notes += [note for note in table_notes(found.contents.plan) if note not in warned]
    notes += (
        ["Rows of the variants are in the table of controls; the command below has them in full."]
        if in_controls
        else []
    )
    shown = [_outcome_first(row.cells()) for row in rows]
    return sheet("Results", shown, tables.TEXT_COLUMNS, notes, f"aacbench report {quoted(found.root)} --csv")


def _outcome_first(cells: Mapping[str, str]) -> dict[str, str]:
    """Put the outcome before the method, so that it is seen on a narrow page."""
    names = [name for name in cells if name != "outcome"]
    names.insert(names.index("method"), "outcome")
    return {name: cells[name] for name in names}


def _controls(found: Findings) -> dict[str, Any] | None:
    """Return what each variant is worth, as sentences, table and figure; None for a study without variants."""
    table = controls.controls_of(found.contents)
    if table is None:
        return None
    lines, notes = controls.rows(table)
    title = f"What each switch is worth beside {table.a} against {table.b}"
    made = sheet(title, lines, controls.TEXT_COLUMNS, notes, f"aacbench report {quoted(found.root)} --by variant")
    figures = [picture(drawing) for drawing in found.drawings if drawing.name == CONTROLS]
    return {"table": made, "sentences": controls.sentences(table), "figures": figures}


def _comparisons(found: Findings) -> list[tuple[Sheet, list[str]]]:
    made = []
    for table in found.tables:
        command = f"aacbench stats {quoted(found.root)} --a {quoted(table.a)} --b {quoted(table.b)}"
        title = f"{table.a} against {table.b}"
        rows, notes = statistics_text.rows(table), statistics_text.notes(table)
        sentences = [statistics_text.sentence(table, cell) for cell in table.cells]
        made.append((sheet(title, rows, statistics_text.TEXT_COLUMNS, notes, command), sentences))
    return made


def _latencies(found: Findings) -> Sheet | None:
    if not found.times:
        return None
    rows = [row.cells() for row in found.times]
    command = f"aacbench report {quoted(found.root)} --json"
    return sheet("Times", rows, latency.TEXT_COLUMNS, latency.notes(found.times), command)


def _registered(each: Registered) -> dict[str, Any]:
    text = ("prediction", "contrast", "predicted", "interval rule", "point rule", "standing")
    notes = ["* the locked rule; the other rule decides nothing."]
    verdicts = sheet(f"Verdicts of {each.name}", each.verdicts, text, notes, each.command) if each.verdicts else None
    return {"one": each, "verdicts": verdicts, "figures": [picture(drawing) for drawing in each.drawings]}


def _cells(found: Findings) -> Sheet:
    cells = found.contents.planned_cells()
    rows = [
        {
            **_place(cell),
            "seed": str(cell.key["seed"]),
            "outcome": cell.outcome,
            "measured B/v": _measured(cell),
            "test": _mean_test(cell),
            "cell": cell.cell_id[:SHORT],
            "recompute it": _replay(found.root, cell),
        }
        for cell in cells[:MOST_CELLS]
    ]
    return sheet("Cells", rows, ("graph", "method", "outcome", "cell", "recompute it"), _others(found, len(cells)))


def _others(found: Findings, count: int) -> list[str]:
    """Say where the cells are that a table leaves out: a browser cannot show a hundred thousand rows."""
    if count <= MOST_CELLS:
        return []
    return [f"The first {MOST_CELLS} of {count} cells; all are in `aacbench status {quoted(found.root)} --cells`."]


def _place(cell: Cell) -> dict[str, str]:
    method = cell.key["label"] + (f" ({cell.variant})" if cell.variant else "")
    return {"graph": cell.key["graph"], "budget": f"{cell.key['budget']:g}", "method": method}


def _measured(cell: Cell) -> str:
    return f"{cell.record['bytes']['measured_per_vertex']:.1f}" if "bytes" in cell.record else ""


def _mean_test(cell: Cell) -> str:
    if cell.outcome != "ok" or TEST not in cell.key["splits"]:
        return ""
    return optional(cell.mean(TEST), ".2f")


def _replay(root: Path, cell: Cell) -> str:
    return f"aacbench replay {cell.cell_id[:SHORT]} --study {quoted(root)}"


def provenance(contents: StudyContents) -> list[tuple[str, list[str]]]:
    """Return versions, digests and conditions of a study, by what they are of."""
    study = (contents.plan or {}).get("study", {})
    cells = contents.planned_cells()
    queries = study.get("queries", {})
    graphs = {cell.key["graph"]: cell.key for cell in cells}
    sources = {
        name: digest
        for cell in cells
        for name, digest in {
            cell.key["method"]: cell.key.get("plugin_digest", ""),
            **cell.key.get("part_digests", {}),
        }.items()
    }
    lines: list[tuple[str, list[str]]] = [
        ("aacbench", sorted({str(cell.record.get("version", "unknown")) for cell in cells})),
        ("protocol", [f"{study.get('protocol', '')}, digest {(contents.plan or {}).get('protocol_digest', '')}"]),
        ("analysis", [str(study.get("analysis", ""))]),
        ("search", [str(study.get("search", ""))]),
        ("bytes", [str(study.get("convention", ""))]),
        ("seeds", [", ".join(map(str, study.get("seeds", ())))]),
        ("queries", [", ".join(f"{key} {value}" for key, value in queries.items() if value)]),
        ("selection", [str(study.get("selection", ""))]),
        ("graphs", [f"{name}: {_digests(key)}" for name, key in graphs.items()]),
        ("methods", [f"{name}: source {digest[:SHORT]}" for name, digest in sources.items() if digest]),
        ("locks", sorted({str(cell.record["lock"]) for cell in cells if cell.record.get("lock")})),
    ]
    return [(name, [value for value in values if value]) for name, values in lines if any(values)]


def _digests(key: Mapping[str, Any]) -> str:
    tests = key.get("query_digests", {}).get(TEST, "")
    return f"digest {key['graph_digest'][:SHORT]}" + (f", test queries {tests[:SHORT]}" if tests else "")


def runs(root: Path) -> list[str]:
    """Return when each run was started and finished; a damaged log says nothing about the cells."""
    found = []
    for file in sorted((root / RUNS).glob(f"*/{RUN_FILE}")):
        try:
            record = json.loads(file.read_bytes())
            found.append(f"{record['run']}: started {record['started']}, finished {record.get('finished') or 'never'}")
        except (OSError, ValueError, LookupError, TypeError):
            found.append(f"{file.parent.name}: its log cannot be read")
    return found


def _commands(found: Findings) -> list[tuple[str, str]]:
    root = quoted(found.root)
    return [
        ("This page, its tables and figures", f"aacbench report {root} --open"),
        ("The results with full precision", f"aacbench report {root} --csv"),
        ("A comparison of two methods, query by query", f"aacbench compare A B --study {root}"),
        ("Tests of two methods", f"aacbench stats {root} --a A --b B"),
        ("One cell, computed again", f"aacbench replay CELL --study {root}"),
        ("Every cell, checked against its digests", f"aacbench status {root}"),
    ]
