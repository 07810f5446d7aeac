"""Changes of a study on the command line: lists such as `alt[tie=fifo],alt-pool[K0=32|64]`, queries, and the rest."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from aacbench.contract.composite import split_outside_brackets
from aacbench.errors import UsageError
from aacbench.protocols.reader import method_table, revised, same_method
from aacbench.protocols.values import LARGEST, NAME, same_value, shown, wrong
from aacbench.run.records import FILE, SCENARIO, MethodChoice, QueryPlan, Study
from aacbench.util.paths import expanded

# `True` and `False` too, as a label spells them.
_WORDS = {"true": True, "True": True, "false": False, "False": False}
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,15})")
_FLOAT = re.compile(r"-?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][+-]?[0-9]+)?")

QUERY_FILES = {".csv": FILE, ".csv.gz": FILE, ".scen": SCENARIO, ".scen.gz": SCENARIO}  # suffix: mode

Piece = tuple[int, str]  # its offset in the whole text, and its characters


def override(
    study: Study,
    *,
    methods: str | Sequence[MethodChoice] | None = None,
    graphs: str | Sequence[str] | None = None,
    budgets: str | Sequence[float] | None = None,
    seeds: str | Sequence[int] | None = None,
    queries: str | int | QueryPlan | None = None,
    search: str | None = None,
    convention: str | None = None,
    maps: str | Sequence[str] | None = None,
    encoders: str | Sequence[MethodChoice] | None = None,
    traffic: str | Sequence[str] | None = None,
) -> Study:
    """Return the study with these values instead of the protocol's, under the same checks.

    Lists in text are separated by commas. A method that the protocol describes keeps its settings and grid except where
    the text sets them; methods given as records are used as they are. `queries` is `V/T` for validation and test, a
    total that is cut in the protocol's own proportion, or the path of a query file, all of which is used.
    """
    changes = {
        "methods": None if methods is None else [method_table(choice) for choice in _chosen(study.methods, methods)],
        "encoders": None
        if encoders is None
        else [method_table(choice) for choice in _chosen(study.encoders, encoders)],
        "maps": _entries(maps, str),
        "graphs": _entries(graphs, str),
        "budgets": _entries(budgets, value_of),
        "seeds": _entries(seeds, value_of),
        "queries": None if queries is None else _query_plan(study.queries, queries).record(),
        "search": search,
        "convention": convention,
        "traffic": split_outside_brackets(traffic, ",") if isinstance(traffic, str) else traffic,
    }
    return revised(study, {key: value for key, value in changes.items() if value is not None})


def parse_methods(text: str) -> tuple[MethodChoice, ...]:
    """Parse a list of methods; `key=a|b` is a grid, and commas in nested brackets do not separate."""
    _check_brackets(text)
    choices: dict[object, MethodChoice] = {}
    for start, piece in _split((0, text), ","):
        choice = _choice(text, (start, piece))
        if same_method(choice) in choices:
            _fail(text, start, f"{choice.label} is repeated")
        choices[same_method(choice)] = choice
    return tuple(choices.values())


def spell(choice: MethodChoice) -> str:
    options = {key: (value,) for key, value in choice.settings.items()} | dict(choice.grid)
    inside = ",".join(f"{key}={'|'.join(map(_word, values))}" for key, values in options.items())
    return f"{choice.name}[{inside}]" if inside else choice.name


def value_of(text: str) -> bool | int | float | str:
    """Return true, false, a whole number or a decimal one where the text is clearly that; otherwise the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text) and abs(int(text)) <= LARGEST:
        return int(text)
    if _FLOAT.fullmatch(text) and abs(float(text)) != float("inf"):
        return float(text)
    return text


def _chosen(protocol: Sequence[MethodChoice], methods: str | Sequence[MethodChoice]) -> Sequence[MethodChoice]:
    if not isinstance(methods, str):
        return methods
    merged: dict[object, MethodChoice] = {}  # the text may make several settings of a method equal
    for wanted in parse_methods(methods):
        described = [choice for choice in protocol if choice.name == wanted.name]
        for base in described or [wanted]:
            settings = {key: value for key, value in base.settings.items() if key not in wanted.grid}
            grid = {key: options for key, options in base.grid.items() if key not in wanted.settings}
            choice = replace(wanted, settings={**settings, **wanted.settings}, grid={**grid, **wanted.grid})
            merged[same_method(choice)] = choice
    return list(merged.values())


def _entries(values: str | Sequence[Any] | None, read: Callable[[str], Any]) -> Sequence[Any] | None:
    return [read(part.strip()) for part in values.split(",")] if isinstance(values, str) else values


def _query_plan(plan: QueryPlan, wanted: str | int | QueryPlan) -> QueryPlan:
    if isinstance(wanted, QueryPlan):
        return wanted
    if isinstance(wanted, str) and wanted.lower().endswith(tuple(QUERY_FILES)):
        return _whole_file(plan, wanted)
    numbers = [value_of(part.strip()) for part in str(wanted).split("/")]
    if len(numbers) > 2 or not all(type(number) is int and number >= 0 for number in numbers):
        raise wrong(
            "--queries", "a number such as 200, validation/test such as 100/100, or a .csv or .scen file", str(wanted)
        )
    first, *rest = (int(number) for number in numbers)
    validation = first if rest else first * plan.validation // (plan.validation + plan.test)
    test = rest[0] if rest else first - validation
    if test < 1:
        raise wrong("--queries", "at least one test query, such as 100/100", str(wanted))
    return replace(plan, validation=validation, test=test)


def _whole_file(plan: QueryPlan, file: str) -> QueryPlan:
    """Return the plan with all queries of a file: the training queries, then the others in the plan's proportion."""
    from aacbench.queries.files import count_queries  # imports NumPy

    mode = next(mode for suffix, mode in QUERY_FILES.items() if file.lower().endswith(suffix))
    count = count_queries(expanded(file), mode, plan.strict) - plan.train
    if count < 1:
        raise UsageError(f"--queries: {file} has too few queries: the protocol trains on {plan.train}.")
    return _query_plan(replace(plan, mode=mode, file=file, shuffle=False), count)


def _word(value: bool | int | float | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _choice(text: str, piece: Piece) -> MethodChoice:
    start, body = _stripped(piece)
    name, bracket, _ = body.partition("[")
    if not NAME.fullmatch(name.strip()):
        _fail(
            text, start, f"{shown(name.strip())} is not a method name" if name.strip() else "a method name is missing"
        )
    if not bracket:
        return MethodChoice(name=body)
    inside = (start + len(name) + 1, body[len(name) + 1 : -1])
    _check_closed_at_end(text, (start, body))
    settings, grid = _settings(text, inside) if inside[1].strip() else ({}, {})
    return MethodChoice(name=name.strip(), settings=settings, grid=grid)


def _settings(text: str, inside: Piece) -> tuple[dict[str, Any], dict[str, tuple[Any, ...]]]:
    settings: dict[str, Any] = {}
    grid: dict[str, tuple[Any, ...]] = {}
    for start, piece in _split(inside, ","):
        key, options = _setting(text, (start, piece))
        if key in settings or key in grid:
            _fail(text, start, f"{key} is set twice")
        if len(options) > 1:
            grid[key] = options
        else:
            settings[key] = options[0]
    return settings, grid


def _setting(text: str, piece: Piece) -> tuple[str, tuple[Any, ...]]:
    (start, key), *rest = _split(piece, "=")
    start, key = _stripped((start, key))
    if not NAME.fullmatch(key):
        _fail(text, start, f"{shown(key)} is not a setting name" if key else "a setting name is missing")
    if not rest:
        _fail(text, start, f"{key} has no value; write {key}=VALUE")
    if len(rest) > 1:
        _fail(text, rest[1][0] - 1, "a setting has a second =")
    options: list[Any] = []
    for at, option in map(_stripped, _split(rest[0], "|")):
        if not option:
            _fail(text, at, f"a value of {key} is missing")
        value = value_of(option)
        if same_value(value) in map(same_value, options):
            _fail(text, at, f"{key} has the value {option} twice")
        options.append(value)
    return key, tuple(options)


def _split(piece: Piece, separator: str) -> list[Piece]:
    start, body = piece
    pieces = []
    for text in split_outside_brackets(body, separator):
        pieces.append((start, text))
        start += len(text) + 1
    return pieces


def _check_brackets(text: str) -> None:
    opened = []
    for at, sign in enumerate(text):
        if sign == "[":
            opened.append(at)
        elif sign == "]":
            if not opened:
                _fail(text, at, "] closes nothing")
            opened.pop()
    if opened:
        _fail(text, opened[-1], "[ is never closed")


def _check_closed_at_end(text: str, piece: Piece) -> None:
    start, body = piece
    depth = 0
    for at, sign in enumerate(body):
        depth += (sign == "[") - (sign == "]")
        if sign == "]" and depth == 0 and at < len(body) - 1:
            _fail(text, start + at + 1, "a comma is missing")


def _stripped(piece: Piece) -> Piece:
    start, body = piece
    return start + len(body) - len(body.lstrip()), body.strip()


def _fail(text: str, at: int, what: str) -> NoReturn:
    raise UsageError(f"Methods {shown(text, 400)}: {what} at character {at + 1}.")
