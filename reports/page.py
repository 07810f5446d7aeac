"""The page of a study: one HTML file with everything inside, which opens from disk and asks no host for anything."""

import base64
import json
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FunctionLoader, StrictUndefined

from aacbench.reports import contextual, latency, statistics_text, tables
from aacbench.reports.figures import Drawing
from aacbench.reports.figures.style import for_page
from aacbench.reports.formatting import study_notes, with_short_graphs
from aacbench.reports.latency import Latency
from aacbench.reports.statistics import Table
from aacbench.reports.summary import two_sentences
from aacbench.reports.tables import Row
from aacbench.run.events import RUN_FILE
from aacbench.run.layout import RUNS
from aacbench.run.records import OUTCOMES, TEST
from aacbench.run.store import ANSWERED, Cell
from aacbench.run.study import StudyContents
from aacbench.util.text import one_line

TEMPLATES = resources.files("aacbench.reports").joinpath("templates")
SHORT, LONGEST_REASON = 12, 2000  # digits of a digest, and characters of a plugin's words


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of the page: its columns (name, whether numbers), its rows, what it means, and how to print it again."""

    title: str
    columns: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    command: str = ""


@dataclass(frozen=True, slots=True)
class Registered:
    """A registration that the study is bound to: its verdicts in words and as a table, or why there are none."""

    name: str
    heading: str
    sentences: tuple[str, ...]
    verdicts: tuple[Mapping[str, str], ...] = ()
    drawings: tuple[Drawing, ...] = ()
    command: str = ""


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
    untested: str = ""  # why some methods were not tested against each other


def html(found: Findings) -> str:
    """Return the page; every word of a plugin, a protocol or a file name is escaped by the template."""
    environment = Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    study = (found.contents.plan or {}).get("study", {})
    return environment.get_template("report.html").render(
        title=f"Study {found.root.absolute().name}",
        summary=": ".join(filter(None, [f"Protocol {study.get('protocol', 'unknown')}", study.get("summary", "")])),
        sentences=two_sentences(found.rows, found.tables),
        outcomes=_outcomes(found.contents),
        alarm=_alarm(found.contents),
        problems=_problems(found),
        notes=study_notes(found.contents.plan),
        results=_results(found),
        contextual=[sheet(part.title, part.rows, part.text, part.notes) for part in contextual.parts(found.contents)],
        comparisons=_comparisons(found),
        untested=found.untested,
        latencies=_latencies(found),
        figures=[_figure(drawing) for drawing in found.drawings],
        registered=[_registered(each) for each in found.registered],
        cells=_cells(found),
        provenance=_provenance(found.contents, study),
        runs=_runs(found.root),
        commands=_commands(found),
        style=_template("page.css"),
        script=_template("tables.js"),
    )


def _template(name: str) -> str:
    return TEMPLATES.joinpath(name).read_text(encoding="utf-8")


def sheet(
    title: str,
    rows: Sequence[Mapping[str, str]],
    text_columns: Collection[str],
    notes: Iterable[str] = (),
    command: str = "",
) -> Sheet:
    """Return a table without columns that are empty in every row."""
    names = [name for name in rows[0] if any(row[name] for row in rows)] if rows else []
    body = tuple(tuple(one_line(row[name], LONGEST_REASON) for name in names) for row in rows)
    return Sheet(title, tuple((name, name not in text_columns) for name in names), body, tuple(notes), command)


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
    """Return every cell that is not ok, worst first, with its reason and how to look into it."""
    bad = [cell for cell in found.contents.planned_cells() if cell.outcome != "ok"]
    bad.sort(key=lambda cell: -OUTCOMES.index(cell.outcome))
    if not bad:
        return None
    rows = [
        {
            "outcome": cell.outcome,
            **_place(cell),
            "reason": cell.record.get("reason") or "no reason given",
            "look into it": _replay(found.root, cell),
        }
        for cell in bad
    ]
    text = ("outcome", "graph", "method", "reason", "look into it")
    return sheet("Cells that are not ok", rows, text, command=f"aacbench status {_quoted(found.root)}")


def _results(found: Findings) -> Sheet:
    rows, graph_notes = with_short_graphs(found.rows)
    notes = [*tables.notes_of(rows), *graph_notes] if rows else ["No cells yet."]
    shown = [row.cells() for row in rows]
    return sheet("Results", shown, tables.TEXT_COLUMNS, notes, f"aacbench report {_quoted(found.root)} --csv")


def _comparisons(found: Findings) -> list[tuple[Sheet, list[str]]]:
    made = []
    for table in found.tables:
        command = f"aacbench stats {_quoted(found.root)} --a {_quoted(table.a)} --b {_quoted(table.b)}"
        title = f"{table.a} against {table.b}"
        rows, notes = statistics_text.rows(table), statistics_text.notes(table)
        sentences = [statistics_text.sentence(table, cell) for cell in table.cells]
        made.append((sheet(title, rows, statistics_text.TEXT_COLUMNS, notes, command), sentences))
    return made


def _latencies(found: Findings) -> Sheet | None:
    if not found.times:
        return None
    rows = [row.cells() for row in found.times]
    command = f"aacbench report {_quoted(found.root)} --json"
    return sheet("Times", rows, latency.TEXT_COLUMNS, latency.notes(found.times), command)


def _figure(drawing: Drawing) -> dict[str, Any]:
    data = base64.b64encode(for_page(drawing.svg).encode()).decode()
    width, height = (round(96 * inches) for inches in drawing.figure.get_size_inches())
    return {"drawing": drawing, "data": f"data:image/svg+xml;base64,{data}", "width": width, "height": height}


def _registered(each: Registered) -> dict[str, Any]:
    text = ("prediction", "contrast", "predicted", "interval rule", "point rule", "standing")
    notes = ["* the locked rule; the other rule decides nothing."]
    verdicts = sheet(f"Verdicts of {each.name}", each.verdicts, text, notes, each.command) if each.verdicts else None
    return {"one": each, "verdicts": verdicts, "figures": [_figure(drawing) for drawing in each.drawings]}


def _cells(found: Findings) -> Sheet:
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
        for cell in found.contents.planned_cells()
    ]
    return sheet("Cells", rows, ("graph", "method", "outcome", "cell", "recompute it"))


def _place(cell: Cell) -> dict[str, str]:
    return {"graph": cell.key["graph"], "budget": f"{cell.key['budget']:g}", "method": cell.key["label"]}


def _measured(cell: Cell) -> str:
    return f"{cell.record['bytes']['measured_per_vertex']:.1f}" if "bytes" in cell.record else ""


def _mean_test(cell: Cell) -> str:
    if cell.outcome != "ok" or TEST not in cell.key["splits"]:
        return ""
    expanded = cell.queries["expanded"][cell.queries["split"] == TEST]
    return f"{np.mean(expanded):.2f}" if len(expanded) else ""


def _replay(root: Path, cell: Cell) -> str:
    return f"aacbench replay {cell.cell_id[:SHORT]} --study {_quoted(root)}"


def _provenance(contents: StudyContents, study: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
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


def _runs(root: Path) -> list[str]:
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
    root = _quoted(found.root)
    return [
        ("This page, its tables and figures", f"aacbench report {root} --open"),
        ("The results with full precision", f"aacbench report {root} --csv"),
        ("A comparison of two methods, query by query", f"aacbench compare A B --study {root}"),
        ("Tests of two methods", f"aacbench stats {root} --a A --b B"),
        ("One cell, computed again", f"aacbench replay CELL --study {root}"),
        ("Every cell, checked against its digests", f"aacbench status {root}"),
    ]


def _quoted(value: object) -> str:
    return shlex.quote(str(value))
