"""What pages are made of: tables and figures as a template shows them, and the rendering of a page in one file."""

import base64
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from aacbench.reports.figures import Drawing
from aacbench.reports.figures.style import for_page
from aacbench.util.text import one_line

TEMPLATES = resources.files("aacbench.reports").joinpath("templates")
LONGEST_TEXT = 2000  # characters of a plugin's words


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of a page: its columns (name, whether numbers), its rows, what it means, and how to print it again."""

    title: str
    columns: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    command: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure of a page, inside it, with its size in pixels."""

    drawing: Drawing
    data: str
    width: int
    height: int


def sheet(
    title: str,
    rows: Sequence[Mapping[str, str]],
    text_columns: Collection[str],
    notes: Iterable[str] = (),
    command: str = "",
) -> Sheet:
    """Return a table without columns that are empty in every row."""
    names = [name for name in rows[0] if any(row[name] for row in rows)] if rows else []
    body = tuple(tuple(one_line(row[name], LONGEST_TEXT) for name in names) for row in rows)
    return Sheet(title, tuple((name, name not in text_columns) for name in names), body, tuple(notes), command)


def picture(drawing: Drawing) -> Picture:
    data = base64.b64encode(for_page(drawing.svg).encode()).decode()
    width, height = (round(96 * inches) for inches in drawing.figure.get_size_inches())
    return Picture(drawing, f"data:image/svg+xml;base64,{data}", width, height)


def rendered(template: str, **values: Any) -> str:
    """Return a page; every word of a plugin, a protocol or a file name is escaped by the template."""
    environment = Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found = environment.get_template(template)
    return found.render(style=_template("page.css"), script=_template("tables.js"), **values)


def quoted(value: object) -> str:
    """Return a word of a command, to paste into a shell."""
    return shlex.quote(str(value))


def _template(name: str) -> str:
    return TEMPLATES.joinpath(name).read_text(encoding="utf-8")
