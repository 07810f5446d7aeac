"""Reading the paper's numbers, runs and claims from the files beside this one; a wrong key is named."""

import tomllib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any

from aacbench.errors import DataError
from aacbench.protocols.paper.records import (
    BESIDE,
    CONTENT,
    FACTS,
    NUMBERS,
    PLACE,
    SETTINGS,
    Claim,
    Exhibit,
    Paper,
    PaperGraph,
    PaperRun,
    Printed,
    Reason,
    SeedRecord,
)
from aacbench.protocols.reader import TOP

TABLES, RUNS, CLAIMS, RECORD = "tables.toml", "runs.toml", "claims.toml", "record.toml"
SCHEMAS = {
    TABLES: "aacbench.paper-tables/1",
    RUNS: "aacbench.paper-runs/1",
    CLAIMS: "aacbench.paper-claims/1",
    RECORD: "aacbench.paper-record/1",
}
RULES = (
    *("difference", "ratio", "above", "at-least", "equal", "difference-above"),
    *("values", "range", "spread", "count-below", "breakeven", "arithmetic", "run"),
)
VERDICTS = ("holds", "fails", "not printed")

_EXHIBIT = ("id", "kind", "title", "section", "claim", "replay", "replay_why")
_LISTS = ("graphs", "known", "caption")
_FACTS = (
    *("badge", "lines", "methods", "budgets", "seeds", "queries", "estimand", "plus_minus"),
    *("convention", "search", "selection", "profile", "columns"),
)
_RUN = ("stand_in", "compare", "prints", "seeds_of", "seed_draws")


@cache
def read_paper() -> Paper:
    """Return the paper as shipped."""
    folder = resources.files(__package__)
    return parse_paper({name: (folder / name).read_text(encoding="utf-8") for name in SCHEMAS})


def parse_paper(texts: Mapping[str, str]) -> Paper:
    """Return the paper that the files describe, by name."""
    tables, runs, claims, record = (_table(name, texts[name]) for name in (TABLES, RUNS, CLAIMS, RECORD))
    exhibits = _by_id(TABLES, (_exhibit(table) for table in tables["exhibit"]))
    graphs = _by_id(TABLES, (PaperGraph(**_frozen(table)) for table in tables["graph"]))
    paper = Paper(
        title=tables["paper"],
        graphs=graphs,
        exhibits=exhibits,
        runs=tuple(_run(table, runs["defaults"]) for table in runs["run"]),
        reasons=tuple(_reason(table) for table in runs["reason"]),
        claims=tuple(_by_id(CLAIMS, (_claim(table) for table in claims["claim"])).values()),
        records=tuple(SeedRecord(**_frozen(table)) for table in record["record"]),
    )
    _check(paper)
    return paper


def _table(name: str, text: str) -> dict[str, Any]:
    try:
        table = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{name} is not valid TOML: {error}.") from error
    if table.get("schema") != SCHEMAS[name]:
        raise DataError(f"{name}: schema must be {SCHEMAS[name]!r}, not {table.get('schema')!r}.")
    return table


def _exhibit(table: dict[str, Any]) -> Exhibit:
    where = f"{TABLES}: {table.get('id', 'an exhibit without id')}"
    _only(table, (*_EXHIBIT, *_LISTS, *_FACTS, "value", "rerun"), where)
    named: dict[str, Any] = {key: _given(table, key, where) for key in _EXHIBIT}
    named |= {key: tuple(_given(table, key, where)) for key in _LISTS}
    return Exhibit(
        **named,
        values=tuple(_printed(entry, where) for entry in _given(table, "value", where)),
        reruns=tuple(_printed(entry, where) for entry in table.get("rerun", ())),
        facts={key: table[key] for key in _FACTS if key in table},
    )


def _printed(entry: dict[str, Any], where: str) -> Printed:
    _only(entry, (*PLACE, *SETTINGS, *FACTS, "column", *CONTENT, *BESIDE), f"{where}: a value")
    numbers = {key: _number(entry[key]) for key in NUMBERS if key in entry}
    return Printed(
        row={key: value for key, value in entry.items() if key in (*PLACE, *SETTINGS, *FACTS)},
        column=_given(entry, "column", where),
        content={key: numbers.get(key, entry[key]) for key in CONTENT if key in entry},
        beside={key: entry[key] for key in BESIDE if key in entry},
    )


def _number(value: Any) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(value)


def _run(table: dict[str, Any], defaults: Mapping[str, Any]) -> PaperRun:
    name = table.get("name", "a run without name")
    where = f"{RUNS}: {name}"
    _only(table, ("name", "exhibits", *_RUN, *TOP), where)
    own = {key: value for key, value in table.items() if key in TOP}
    return PaperRun(
        name=name,
        exhibits={label: tuple(graphs) for label, graphs in _given(table, "exhibits", where).items()},
        protocol={**defaults, **own},
        **{key: _tuples(table[key]) for key in _RUN if key in table},
    )


def _reason(table: dict[str, Any]) -> Reason:
    _only(table, Reason.__slots__, f"{RUNS}: a reason")
    return Reason(**{key: _tuples(value) for key, value in table.items()})


def _claim(table: dict[str, Any]) -> Claim:
    where = f"{CLAIMS}: {table.get('id', 'a claim without id')}"
    _only(table, Claim.__slots__, where)
    return Claim(**_frozen(table))


def _frozen(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}


def _tuples(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _frozen(value)
    return tuple(value) if isinstance(value, list) else value


def _by_id(file: str, records: Iterable[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for record in records:
        if record.id in found:
            raise DataError(f"{file}: {record.id} is there twice.")
        found[record.id] = record
    return found


def _check(paper: Paper) -> None:
    """Refuse names that lead nowhere."""
    for exhibit in paper.exhibits.values():
        _known(exhibit.graphs, paper.graphs, f"{TABLES}: {exhibit.id}: graph")
        graphs = [value.row["graph"] for value in exhibit.values if "graph" in value.row]
        _known(graphs, paper.graphs, f"{TABLES}: {exhibit.id}: graph of a value")
    for run in paper.runs:
        _known(run.exhibits, paper.exhibits, f"{RUNS}: {run.name}: exhibit")
        _known(run.graphs, paper.graphs, f"{RUNS}: {run.name}: graph")
    for reason in paper.reasons:
        _known(reason.exhibits, paper.exhibits, f"{RUNS}: exhibit of a reason")
    for claim in paper.claims:
        _known(claim.exhibits, paper.exhibits, f"{CLAIMS}: {claim.id}: exhibit")
        _known([claim.rule], RULES, f"{CLAIMS}: {claim.id}: rule")
        _known([claim.on_printed], VERDICTS, f"{CLAIMS}: {claim.id}: on_printed")


def _known(names: Iterable[str], known: Iterable[str], what: str) -> None:
    for name in names:
        if name not in known:
            raise DataError(f"{what} {name!r} is unknown.")


def _only(given: Iterable[str], known: Iterable[str], where: str) -> None:
    for word in given:
        if word not in known:
            raise DataError(f"{where} has the unknown key {word!r}.")


def _given(table: Mapping[str, Any], key: str, where: str) -> Any:
    if key not in table:
        raise DataError(f"{where}: {key} is missing.")
    return table[key]
