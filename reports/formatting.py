"""What all tables share: alignment, short names of graphs, marks of methods, notes, and no markup of plugins."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from string import ascii_lowercase
from typing import Any, TypeVar

from tabulate import tabulate

from aacbench.contract.budget import ROOM
from aacbench.contract.composite import ALTERNATIVE, PARTS, split_outside_brackets
from aacbench.contract.parameters import as_text
from aacbench.graphs.catalogue import FILE_PREFIX, name_and_file
from aacbench.run.records import FILE, SCENARIO, STRATA
from aacbench.run.store import Cell
from aacbench.util.text import one_line

Row = TypeVar("Row", bound=Any)  # a dataclass with a field `graph`

LONGEST_CELL, LONGEST_REASON = 200, 400  # characters of a plugin's text in a table, and in a line
WIDEST_LATEX = 100  # characters of a line that fit beside each other on a page
LARGEST_BOUND = 1e20
SHOWN = 0.1  # bytes per vertex, the last digit in tables: settings add a little to labels that fill a budget
UNMATCHED = "deploys more bytes than its budget, by design; compare it with methods that have as many."
WORK = "h_work: work per test query that a lazy heuristic reports of itself; it is not among the expansions."
ORACLE = "sees the test queries, so it cannot be deployed; use it only as a bound."
# The switches of the named search policies; a test compares them with the search, which is not imported here.
_POLICIES = {"modern": "reopen=on,tie=large-g,bpmx=off", "paper": "reopen=off,tie=fifo,bpmx=off"}
_LATEX = {character: "\\" + character for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "[": "{[}",  # at the beginning of a row it would be an option of the line end before it
}
# A pair of marks that opens and closes, and the marks to escape then; an underscore inside a word is none.
_EMPHASIS = {
    r"\*(?=[^\s*]).*[^\s*]\*": r"\*",
    r"~(?=[^\s~]).*[^\s~]~": "~",
    r"(?<![^\W_])_(?=[^\s_]).*[^\s_]_(?![^\W_])": r"(?<![^\W_])_|_(?![^\W_])",
}


def aligned(rows: Sequence[Mapping[str, str]], text_columns: Collection[str]) -> str:
    """Return a Markdown table with numbers to the right, without columns that are empty in every row."""
    columns = [name for name in rows[0] if any(row[name] for row in rows)]
    align = ["left" if name in text_columns else "right" for name in columns]
    body = [[_escaped(row[name]) for name in columns] for row in rows]
    return tabulate(body, headers=columns, tablefmt="pipe", colalign=align, disable_numparse=True)


def tabular(rows: Sequence[Mapping[str, str]], text_columns: Collection[str], notes: Iterable[str]) -> str:
    """Return a LaTeX table for the package booktabs, without empty columns; the notes are comments above it."""
    columns = [name for name in rows[0] if any(row[name] for row in rows)]
    align = "".join("l" if name in text_columns else "r" for name in columns)
    lines = [[_in_latex(row[name]) for name in columns] for row in rows]
    body = [" & ".join(line) + r" \\" for line in [[_in_latex(name) for name in columns], *lines]]
    comments = [f"% {one_line(note)}" for note in (r"Needs \usepackage{booktabs}.", *notes)]
    table = [rf"\begin{{tabular}}{{{align}}}", r"\toprule", body[0], r"\midrule", *body[1:], r"\bottomrule"]
    table.append(r"\end{tabular}")
    if sum(2 + max(len(name), *(len(row[name]) for row in rows)) for name in columns) > WIDEST_LATEX:
        table = [r"\resizebox{\textwidth}{!}{%", *table[:-1], table[-1] + "}"]
        comments.append(r"% As wide as the text; needs \usepackage{graphicx}.")
    return "\n".join([*comments, *table])


def _in_latex(text: str) -> str:
    """Return the text with every character that means something to LaTeX as itself."""
    return "".join(_LATEX.get(character, character) for character in one_line(text, LONGEST_CELL))


def literal(text: str) -> str:
    """Return a plugin's words for Markdown without emphasis, strikethrough or entities; most need no change."""
    text = re.sub(r"&(?=#?\w+;)", "&amp;", text)
    for pair, mark in _EMPHASIS.items():
        if re.search(pair, text):
            text = re.sub(rf"(\\*)({mark})", r"\1\1\\\2", text)
    return text


def without_markup(text: str) -> str:
    """Return Markdown in which a plugin's words begin no tag, link or image; our own text has none of them."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text).replace("](", "]\\(")


def _escaped(text: str) -> str:
    """Return the text as a cell of a table. Backslashes before a mark are doubled, or they would undo its own."""
    return re.sub(r"(\\*)([|`])", r"\1\1\\\2", without_markup(literal(one_line(text, LONGEST_CELL))))


def optional(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def with_spread(value: float | None, spread: float | None) -> str:
    return optional(value, ".2f") + ("" if spread is None else f" ± {spread:.2f}")


def switches(policy: str) -> dict[str, str]:
    """Return the switches of a search policy as a cell's key names it."""
    return dict(pair.split("=", 1) for pair in _POLICIES.get(policy, policy).split(",") if "=" in pair)


def bound(value: float, digits: int) -> str:
    """Return an end of an interval; below one degree of freedom it can exceed every count of expansions."""
    return f"{value:.{digits}f}" if abs(value) < LARGEST_BOUND else "unbounded"


def graph_names(graphs: Iterable[str]) -> dict[str, str]:
    """Return the names to show: for `file:` graphs, the shortest end of each path that no other graph has."""
    paths = {name: _path(name) for name in graphs}
    shown = {}
    for name, path in paths.items():
        others = [other for other in paths.values() if other != path]
        lengths = range(1, len(path) + 1)
        length = next((n for n in lengths if all(other[-n:] != path[-n:] for other in others)), len(path))
        prefix = FILE_PREFIX if name.startswith(FILE_PREFIX) else ""
        shown[name] = prefix + "/".join(path[-length:])
    return shown


def with_short_graphs(rows: Sequence[Row]) -> tuple[list[Row], list[str]]:
    """Return the rows with the graphs' names to show, and notes on those that are not the full ones."""
    names = graph_names(row.graph for row in rows)
    return [replace(row, graph=names[row.graph]) for row in rows], graph_notes(names)


def graph_notes(names: Mapping[str, str]) -> list[str]:
    return [f"{short}: {full.removeprefix(FILE_PREFIX)}" for full, short in names.items() if short != full]


def file_notes(graphs: Iterable[str]) -> list[str]:
    """Return the file of each graph that a study gives a short name."""
    pairs = map(name_and_file, graphs)
    return [f"{name}: {file.removeprefix(FILE_PREFIX)}" for name, file in pairs if file]


def _path(graph: str) -> list[str]:
    if not graph.startswith(FILE_PREFIX):
        return [graph]
    file, mark, options = graph.removeprefix(FILE_PREFIX).partition("?")
    *folders, last = file.split("/")
    return [*folders, last + mark + options]


def is_oracle(cells: Iterable[Cell]) -> bool:
    """Return whether the method of these cells claims to see the test queries; a cell that never ran has no claims."""
    return any(cell.claims.get("oracle", False) for cell in cells)


def is_matched(cells: Iterable[Cell]) -> bool:
    """Return whether no cell exceeds its budget by design, in the bytes that its convention charges."""
    return not any(_over_budget(cell) for cell in cells)


def _over_budget(cell: Cell) -> bool:
    if cell.claims.get("matched", True) or "bytes" not in cell.record:
        return False
    charged = "measured" if cell.key["convention"]["name"] == "measured" else "nominal"
    held: float = cell.record["bytes"][f"{charged}_per_vertex"]
    return held >= cell.key["budget"] + SHOWN / 2


def marked(method: str, oracle: bool, matched: bool = True) -> str:
    """Return the method's name with the marks that every table must show."""
    return method + (" (oracle)" if oracle else "") + ("" if matched else " (over budget)")


def mark_notes(oracle: bool, matched: bool = True) -> list[str]:
    notes = [f"(oracle): {ORACLE}"] if oracle else []
    return notes if matched else [*notes, f"(over budget): {UNMATCHED}"]


def warnings_of(plan: Mapping[str, Any] | None) -> list[str]:
    """Return why the numbers of a study are not what they seem."""
    if (plan or {}).get("study", {}).get("selection") == "retrospective":
        return ["Settings were chosen on the test queries themselves, so these numbers are too good."]
    return []


def study_notes(plan: Mapping[str, Any] | None) -> list[str]:
    """Return what a reader of any table of a study with this plan must know, one line each."""
    return [*warnings_of(plan), *file_notes((plan or {}).get("study", {}).get("graphs", ()))]


def table_notes(plan: Mapping[str, Any] | None) -> list[str]:
    """Return the notes of a study, and what its means are taken over, for a table of results."""
    study = {} if plan is None else plan.get("study", {})
    return [*study_notes(plan), *([conditions(study)] if "queries" in study else [])]


def conditions(study: Mapping[str, Any]) -> str:
    """Return how many queries of which kind a study has, how it searches, and how it charges bytes."""
    queries = study["queries"]
    if queries.get("random") is not None:
        counts = f"{queries['random']} random queries on each test map ({queries['mode']}, seed {queries['seed']})"
        said = "A graph is a map set as one encoder predicts it."
        return f"{counts}; search {study['search']}; bytes by {study['convention']}, per vertex and map. {said}"
    each = " per stratum" if queries["mode"] == STRATA else ""
    drawn = f"{queries['mode']}, seed {queries['seed']}"
    origin = drawn if queries["mode"] not in (SCENARIO, FILE) else queries.get("file") or "each map's scenario"
    origin += f", shuffled by seed {queries['seed']}" if queries.get("shuffle") else ""
    counts = f"{queries['validation']} validation and {queries['test']} test queries{each} ({origin})"
    return f"{counts}; search {study['search']}; bytes by {study['convention']}."


def short_settings(
    method: str, params: Mapping[str, Any], defaults: Mapping[str, Mapping[str, Any]], said: Collection[str] = ()
) -> str:
    """Return settings that differ from the defaults, such as `K=8 labels=exact`, followed by those of the parts.

    Settings that are `said` elsewhere, as in the method's label, are left out, and so is the budget in bytes.
    """
    known = defaults.get(method, {})
    changed = {key: value for key, value in sorted(params.items()) if key not in known or known[key] != value}
    own = setting_text({key: value for key, value in changed.items() if key not in (PARTS, ROOM)}, said)
    parts = " ".join(
        _in_brackets(part["method"], short_settings(part["method"], part["params"], defaults))
        for part in params.get(PARTS, ())
        if ALTERNATIVE not in part  # there are many, and one of them is deployed
    )
    return f"{own}: {parts}" if own and parts else own or parts


def _in_brackets(method: str, settings: str) -> str:
    return f"{method}[{settings}]" if settings else method


def cell_settings(cell: Cell, known: bool = True, said: Collection[str] = ()) -> str:
    """Return a cell's settings as above, with those that only its build could choose.

    Those of a method which chooses another one are shown with the method that it has deployed.
    """
    key, build, defaults = cell.key, cell.record.get("build", {}), cell.record.get("defaults", {}) if known else {}
    parts, at, chosen = key["params"].get(PARTS, ()), build.get("facts", {}).get("chosen"), build.get("chosen", {})
    if at is None or at >= len(parts) or ALTERNATIVE not in parts[at]:
        return short_settings(key["method"], _with_chosen(key["params"], chosen), defaults, said)
    name = parts[at]["method"]
    inside = short_settings(name, {**parts[at]["params"], **chosen}, defaults)
    own = short_settings(key["method"], key["params"], defaults, said)
    return " ".join(filter(None, (own, _in_brackets(name, inside))))


def _with_chosen(params: Mapping[str, Any], chosen: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return settings with those that the build chose: `b.K` is the K of the second part, unless parts have parts."""
    parts = list(params.get(PARTS, ()))
    if not parts or any(PARTS in part["params"] for part in parts):
        return {**params, **chosen}
    inner: dict[str, dict[str, Any]] = {}
    for name, value in chosen.items():
        part, _, setting = name.rpartition(".")
        inner.setdefault(part, {})[setting] = value
    own = zip(ascii_lowercase, parts, strict=False)
    told = [{**part, "params": {**part["params"], **inner.get(letter, {})}} for letter, part in own]
    return {**params, PARTS: told}


def setting_text(values: Mapping[str, Any], said: Collection[str] = ()) -> str:
    pairs = [f"{key}={as_text(value)}" for key, value in values.items()]
    return " ".join(pair for pair in pairs if pair not in said)


def said_in(label: str) -> list[str]:
    """Return the settings that a method's label shows: `alt[tie=fifo]`."""
    inside = label.partition("[")[2].removesuffix("]")
    return [pair.strip() for pair in split_outside_brackets(inside, ",")]
