"""What `aacbench report` writes beside its output: a page, figures, and tables for papers and scripts."""

import os
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from aacbench.errors import AacbenchError
from aacbench.processes.beside import beside
from aacbench.reports import controls, latency, statistics, statistics_text, tables
from aacbench.reports.figures import Drawing, gallery, stem_of
from aacbench.reports.figures.style import settle
from aacbench.reports.formatting import table_notes, tabular
from aacbench.reports.page import Findings, PluginSection, Registered, html
from aacbench.run.layout import DERIVED, REGISTRATION
from aacbench.run.matched import bytes_per_vertex
from aacbench.run.records import BASELINE
from aacbench.run.study import StudyContents
from aacbench.util.atomic_io import make_folder, replace_file, storing

if TYPE_CHECKING:
    from aacbench.prereg.verify import Verification
    from aacbench.reports.comparison_page import Compared

PAGE, TEX, FIGURES = "report.html", "tables.tex", "figures"
LEAST_STORED = 1  # bytes per vertex: nothing is at matched memory beside a method that stores less
MOST_PAIRS = 8  # methods that a page tests against the first; the others wait for `aacbench stats`


def write_files(
    root: Path,
    contents: StudyContents,
    rows: Sequence[tables.Row],
    times: Sequence[latency.Latency],
    text: str,
    out: Path | None = None,
    maps: bool = False,
    plugins: Sequence[PluginSection] = (),
) -> Path:
    """Write everything into the study's own folder for it, or into `out`, and return the path of the page."""
    folder = out or root / DERIVED
    pairs, untested = _pairs(contents)
    drawings = list(gallery(contents, pairs, times, root if maps else None))
    registered = list(_registered(root)) if (root / REGISTRATION).exists() else []
    found = Findings(
        root=root,
        contents=contents,
        rows=rows,
        times=times,
        tables=pairs,
        drawings=drawings,
        registered=registered,
        plugins=plugins,
        untested=untested,
    )
    own = [row for row in rows if not row.variant]
    drawn = [*drawings, *(drawing for each in registered for drawing in each.drawings)]
    drawn += [drawing for section in plugins for drawing in section.drawings]
    for drawing in drawn:
        settle(drawing.figure)  # before the other process begins, which needs it too
    with storing(folder, "choose another folder with --out"):
        make_folder(folder / FIGURES)
        with beside(partial(_write_pdfs, folder / FIGURES, drawn)):  # half of the time of all that follows
            files = {
                PAGE: html(found).encode(),
                "results.md": (text + "\n").encode(),
                "results.csv": tables.csv_text(rows).encode(),
                TEX: _latex(own, pairs, times, table_notes(contents.plan), controls.controls_of(contents)).encode(),
                **{f"{FIGURES}/{drawing.stem}.svg": drawing.svg.encode() for drawing in drawn},
            }
            for name, data in files.items():
                replace_file(folder / name, data)
        if out is None:
            _remove_others(folder / FIGURES, {drawing.stem for drawing in drawn})
    return folder / PAGE


def write_comparison(found: "Compared", out: Path | None = None) -> Path:
    """Write the page of a comparison into the first study's own folder for it, or into `out`, and return its path."""
    from aacbench.reports.comparison_page import html as comparison_html

    folder = out or found.a.study / DERIVED
    page = folder / f"compare-{stem_of(found.names[0])}-{stem_of(found.names[1])}.html"
    data = comparison_html(found).encode()
    with storing(folder, "choose another folder with --out"):
        make_folder(folder)
        replace_file(page, data)
    return page


def _write_pdfs(folder: Path, drawings: Sequence[Drawing]) -> None:
    for drawing in drawings:
        replace_file(folder / f"{drawing.stem}.pdf", drawing.pdf)


def _remove_others(folder: Path, stems: Collection[str]) -> None:
    """Remove the figures of an earlier report."""
    for path in folder.iterdir():
        if path.suffix in (".svg", ".pdf") and path.stem not in stems:
            path.unlink()


def _pairs(contents: StudyContents) -> tuple[list[statistics.Table], str]:
    """Test each method against the study's first that stores labels, and say which were left out for want of time."""
    cells = [cell for cell in contents.own_cells() if cell.is_reported and cell.key["label"] != BASELINE]
    labels = list(dict.fromkeys(cell.key["label"] for cell in cells))
    stored = {cell.key["label"] for cell in cells if (bytes_per_vertex([cell]) or 0) >= LEAST_STORED}
    first = next((label for label in labels if label in stored), labels[0] if labels else "")
    others = [label for label in labels if label != first]
    tested = [statistics.analyse(contents, other, first, None, None, light=True) for other in others[:MOST_PAIRS]]
    rest = others[MOST_PAIRS:]
    return tested, f"Not tested here, see `aacbench stats`: {', '.join(rest)}." if rest else ""


def _latex(
    rows: Sequence[tables.Row],
    pairs: Sequence[statistics.Table],
    times: Sequence[latency.Latency],
    notes: Sequence[str],
    found: controls.Controls | None,
) -> str:
    """Return all tables; comments above each say what it is."""
    parts = [tables.latex(rows, notes)]
    for table in pairs:
        if table.cells:
            heading = f"{table.a} against {table.b}"
            parts.append(tabular(statistics_text.rows(table), statistics_text.TEXT_COLUMNS, [heading]))
    if times:
        parts.append(latency.latex(times))
    parts += [controls.latex(found)] if found else []
    return "\n\n".join(parts) + "\n"


def _registered(root: Path) -> Iterator[Registered]:
    """Verify the registrations that this study was run under; one that cannot be verified is told as such."""
    from aacbench.prereg.files import Files
    from aacbench.prereg.notes import noted_ledger, noted_lines
    from aacbench.prereg.verify import verify

    try:
        ledger, names = noted_ledger(root), dict.fromkeys(str(line.get("registration")) for line in noted_lines(root))
    except AacbenchError as problem:
        yield Registered("registration", "A registration that cannot be read", (str(problem),))
        return
    if ledger is None:
        return
    for name in names:
        files = Files(ledger.parent / f"{name}.toml")
        try:
            yield _verdicts(name, files.toml, verify(files, root))
        except AacbenchError as problem:
            yield Registered(name, name, (f"It cannot be verified: {problem}",))


def _verdicts(name: str, file: Path, found: "Verification") -> Registered:
    from aacbench.cli.prereg_verify import paragraph, verdict_rows
    from aacbench.prereg.verify import TIERS

    lock = f"lock {found.lock[:8]}" if found.lock else "no lock"
    failed = [f"{check.status}: {check.name}: {check.evidence}" for check in found.checks if check.status != "ok"]
    sentences = [
        f"{len(found.checks) - len(failed)} of {len(found.checks)} checks are ok. {found.tier}: {TIERS[found.tier]}.",
        *failed,
        *(f"Declared deviation in {sentence}" for sentence in found.declared),
        *found.notes,
        *([f"The registration was withdrawn: {found.withdrawn}"] if found.withdrawn else []),
        *(paragraph(judged, found.standing[judged.prediction.id]) for judged in found.judged),
    ]
    rows = [row for judged in found.judged for row in verdict_rows(judged, found.standing[judged.prediction.id])]
    heading = f"{name} ({found.registration.status}, {lock})"
    command = f"aacbench prereg verify {shlex.quote(os.path.relpath(file))}"
    return Registered(name, heading, tuple(sentences), tuple(rows), tuple(_forests(name, found, lock)), command)


def _forests(name: str, found: "Verification", lock: str) -> Iterator[Drawing]:
    """Draw the predictions of each estimand with their bands; a count has no interval."""
    from aacbench.prereg.evaluate import forest
    from aacbench.reports.figures import forest as plot
    from aacbench.stats import estimand

    judged = [one for one in found.judged if one.effects]
    for unit in dict.fromkeys(effect.estimand for one in judged for effect in one.effects.values()):
        these = [one for one in judged if all(effect.estimand == unit for effect in one.effects.values())]
        verdicts = {f"{one.prediction.id}: {name}": one.verdict for one in these for name in one.effects}
        # What was registered is drawn and judged; the profile's own margin would be a second one beside it.
        rows = [replace(row, label=verdicts[row.cell], margin=None) for row in forest(these)]
        study = found.registration.study
        seeds = ", ".join(map(str, study.seeds))
        caption = (
            f"{name}, {lock}; search {study.search}; {study.convention}; seeds {seeds}; "
            f"{study.queries.test} test queries; profile {found.registration.profile.label}."
        )
        drawn = plot.draw(rows, estimand(unit), "A", "B", caption)
        said = [f"{row.cell} {row.estimate:.2f}, {row.label}" for row in rows if row.estimate is not None]
        alt = f"Predicted bands and observed effects ({unit}): {'; '.join(said)}."
        yield Drawing("forest", f"verdicts-{stem_of(name)}-{unit}", f"Predictions of {name}", alt, drawn, wide=True)
