"""The sections that plugins add to the page of a study, each made behind an error boundary."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aacbench.library.plugins import load_files
from aacbench.plugins.loader import any_foreign, boundary
from aacbench.plugins.records import (
    LoadedReport,
    Origin,
    PluginError,
    Section,
    SectionFigure,
    SectionTable,
    StudyTables,
)
from aacbench.reports.figures import Drawing, stem_of
from aacbench.reports.page import PluginSection
from aacbench.reports.page_parts import LONGEST_TEXT, Sheet
from aacbench.run.study import StudyContents
from aacbench.util.text import one_line
from aacbench.util.timeouts import at_most

if TYPE_CHECKING:
    from aacbench.library.study import OpenStudy

SECONDS = 60.0  # that a report may take
MOST_ROWS = 1000  # of a table on a page
WIDE = 5.0  # inches from which on a figure has a line of its own
SHORT = 12  # digits of a digest


def plugin_sections(files: Iterable[Path], root: Path, contents: StudyContents) -> list[PluginSection]:
    """Make the reports of all plugins, installed and from these files; one that fails is a section that says why."""
    files = list(files)
    declared = load_files(files).reports() if files or any_foreign(os.environ) else ()
    if not declared:
        return []
    from aacbench.library.study import OpenStudy  # imports a compiler, which reading a study does not need

    study = OpenStudy(root, contents)
    sections = [_made(loaded, study) for loaded in declared]
    for section in sections:
        if section.problem:
            click.echo(f"aacbench: {section.origin}: {section.problem}", err=True)
    return sections


def _made(loaded: LoadedReport, study: "OpenStudy") -> PluginSection:
    from aacbench.reports.figures.style import styled

    report, origin = loaded.report, _origin(loaded.origin)
    tables = StudyTables(study.path.absolute().name, study.cells.copy(), study.queries.copy(), study.table())
    try:
        with boundary(f"The report {report.name!r} failed"), at_most(SECONDS):
            return _section(loaded, origin, styled(report.make)(tables))
    except PluginError as problem:
        return PluginSection(report.name, report.title, origin, problem=str(problem))


def _origin(origin: Origin) -> str:
    version = f" {origin.version}" if origin.version else ""
    return f"plugin {origin.plugin}{version} ({origin.where}), source {origin.digest[:SHORT]}"


def _section(loaded: LoadedReport, origin: str, made: Any) -> PluginSection:
    """Return what the page shows. Figures are drawn here, since drawing one may fail, too."""
    name = loaded.report.name
    if type(made) is not Section:
        raise PluginError(f"The report {name!r} must return a Section, not {type(made).__name__}.")
    if not isinstance(made.text, str):
        raise PluginError(f"The text of report {name!r} must be text, not {type(made.text).__name__}.")
    paragraphs = [one_line(part, LONGEST_TEXT) for part in made.text.split("\n\n") if part.strip()]
    sheets = [_sheet(name, table) for table in made.tables]
    return PluginSection(
        name, loaded.report.title, origin, tuple(paragraphs), tuple(sheets), tuple(_drawings(name, made.figures))
    )


def _sheet(report: str, table: SectionTable) -> Sheet:
    import pandas as pd

    if type(table) is not SectionTable or not isinstance(table.data, pd.DataFrame):
        raise PluginError(f"The tables of report {report!r} must be SectionTable records of pandas tables.")
    columns = tuple((str(name), _is_number(kind)) for name, kind in table.data.dtypes.items())
    rows = tuple(tuple(_text(value) for value in row) for row in table.data.head(MOST_ROWS).itertuples(index=False))
    left_out = len(table.data) - MOST_ROWS
    notes = [str(table.note)] if table.note else []
    notes += [f"{left_out} more rows are not shown."] if left_out > 0 else []
    return Sheet(str(table.title), columns, rows, tuple(notes))


def _is_number(kind: Any) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return is_numeric_dtype(kind) and not is_bool_dtype(kind)


def _text(value: Any) -> str:
    if value is None or value != value:  # which is so for nan
        return ""
    return f"{value:.6g}" if isinstance(value, float) else one_line(str(value), LONGEST_TEXT)


def _drawings(report: str, figures: Iterable[SectionFigure]) -> Iterator[Drawing]:
    from matplotlib.figure import Figure

    for number, one in enumerate(figures, 1):
        if type(one) is not SectionFigure or not isinstance(one.figure, Figure):
            raise PluginError(f"The figures of report {report!r} must be SectionFigure records of matplotlib figures.")
        if not isinstance(one.alt, str) or not one.alt.strip():
            raise PluginError(f"A figure of report {report!r} has no text for those who cannot see it (alt).")
        wide = one.figure.get_figwidth() > WIDE
        drawing = Drawing("plugin", f"report-{stem_of(report)}-{number}", str(one.title), one.alt, one.figure, wide)
        _ = drawing.svg, drawing.pdf  # now, behind the boundary; later they are at hand
        yield drawing
