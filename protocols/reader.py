"""Protocols as TOML: read into studies, where an error names the file and the key, and written from them."""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from aacbench.contract.budget import convention
from aacbench.errors import UsageError
from aacbench.graphs.catalogue import name_and_file
from aacbench.maps.names import CELLS, EDGES
from aacbench.protocols import values
from aacbench.protocols.contextual import on_maps
from aacbench.protocols.values import Check, many, one_of, record_of, table_of, whole
from aacbench.run.records import (
    CONTEXT,
    FILE,
    KINDS,
    SCENARIO,
    STRATA,
    Certificates,
    MapSplits,
    MethodChoice,
    QueryPlan,
    Study,
    Variant,
)
from aacbench.util.input_file import read_input
from aacbench.util.paths import expanded

SELECTIONS = ("mean-expansions", "retrospective", "none")
MEASURES = ("count", "time", "audit")
SEED = whole(0, 2**32 - 1)

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def read_protocol(name_or_path: str | Path, extra: Mapping[str, Path] | None = None) -> Study:
    """Read a protocol into a study: a shipped one by name, a plugin's by name (`extra`), or a file by path.

    A relative path of a query file is relative to the protocol's file; the study has it relative to the current folder.
    """
    source, file = _find(str(name_or_path), extra or {})
    try:
        study = parse_protocol(_contents(source))
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from error
    if not study.queries.file or not isinstance(source, Path):
        return study
    path = source.parent / expanded(study.queries.file)
    return replace(study, queries=replace(study.queries, file=str(path)))


def parse_protocol(text: str) -> Study:
    return coherent(record_of(Study, parse_toml(text), TOP, ""))


def to_toml(study: Study) -> str:
    """Return the study as a protocol with every key, which reads back to the same study."""
    record = study.record()
    tables = {key: record.pop(key) for key in ("queries", "splits", "certificates") if key in record}
    lists = {"encoders": study.encoders, "methods": study.methods}
    variants = record.pop("variants", [])
    parts = [toml_lines({key: value for key, value in record.items() if key not in lists})]
    parts += [f"[{key}]\n" + toml_lines(table) for key, table in tables.items()]
    parts += [f"[[{key}]]\n" + toml_lines(method_table(choice)) for key, choices in lists.items() for choice in choices]
    parts += ["[[variants]]\n" + toml_lines(variant) for variant in variants]
    return "\n".join(parts)


def known_protocols(extra: Mapping[str, Path] | None = None) -> tuple[str, ...]:
    """Return the names that `read_protocol` knows: shipped protocols, then those of plugins."""
    shipped = sorted(file.name.removesuffix(".toml") for file in _shipped().iterdir() if file.name.endswith(".toml"))
    return (*shipped, *sorted(set(extra or {}) - set(shipped)))


def revised(study: Study, changes: Mapping[str, Any]) -> Study:
    """Return the study with some keys changed, each checked as in a file; errors call them `--key`."""
    return coherent(replace(study, **{key: TOP[key](value, f"--{key}") for key, value in changes.items()}))


def study_of(table: Mapping[str, Any], names: Mapping[str, str]) -> Study:
    """Return the study that a table describes; `names` maps its keys to their names in error messages."""
    checked = {key: TOP[key](value, names.get(key, key)) for key, value in table.items()}
    return coherent(Study(**checked))


def coherent(study: Study) -> Study:
    """Return the study, on maps with what its kind implies, or raise where its values contradict each other."""
    if study.kind == CONTEXT or study.maps or study.encoders or study.edges != CELLS:
        study = on_maps(study)
    elif not study.graphs:
        raise UsageError("graphs is missing.")
    if "count" not in study.measure:
        raise UsageError("measure must include count: only counted searches are timed and audited.")
    grids = [choice.name for choice in study.methods if choice.grid]
    if study.selection == "mean-expansions" and grids and not study.queries.validation:
        raise UsageError(
            f'queries.validation must be at least 1 where selection is "mean-expansions": '
            f"settings in the grid of {grids[0]} are chosen on validation queries."
        )
    for number, variant in enumerate(study.variants, 1):
        _queries(study.queries.record() | dict(variant.queries), f"variants #{number}.queries")
    if study.traffic and grids:
        raise UsageError(
            f"traffic cannot be used with the grid of {grids[0]}: its setting would be chosen after the weights rose. "
            "Give it one value."
        )
    return study


def _named_by(full_name: Callable[[str], str]) -> Check:
    """Return a check of texts that `full_name` understands and writes out."""

    def check(value: Any, key: str) -> str:
        text = values.text(value, key)
        try:
            return full_name(text)
        except UsageError as error:
            raise UsageError(f"{key}: {error}") from error

    return check


def _policy_name(text: str) -> str:
    from aacbench.search.policy import parse  # imports numba

    return parse(text).name


def _policy_changes(value: Any, key: str) -> str:
    _named_by(_policy_name)(value, key)
    return values.text(value, key)


def _traffic_name(text: str) -> str:
    from aacbench.graphs.traffic import parse_traffic  # imports NumPy

    return parse_traffic(text).name


def _mode(value: Any, key: str) -> str:
    from aacbench.queries.sampling import MODES

    return one_of((*MODES, STRATA, SCENARIO, FILE))(value, key)


def _analysis(value: Any, key: str) -> str:
    from aacbench.stats.profiles import PROFILES  # imports scipy

    return one_of(tuple(PROFILES))(value, key)


def _queries(value: Any, key: str) -> QueryPlan:
    plan = record_of(QueryPlan, value, QUERIES, key)
    if plan.mode == FILE and not plan.file:
        raise UsageError(f'{key}.file is missing; with mode = "file" it names a CSV file of queries.')
    if plan.file and plan.drawn:
        raise UsageError(f'{key}.file needs mode = "file" or mode = "scenario", not {values.shown(plan.mode)}.')
    if plan.shuffle and plan.mode != FILE:
        raise UsageError(f'{key}.shuffle needs mode = "file", not {values.shown(plan.mode)}.')
    return plan


def _method(value: Any, key: str) -> MethodChoice:
    choice = record_of(MethodChoice, value, METHOD, key)
    both = next((word for word in choice.settings if word in choice.grid), None)
    if both is not None:
        raise UsageError(f"{key} has {both} both in settings and in grid; give it once.")
    return choice


def _methods(value: Any, key: str) -> tuple[MethodChoice, ...]:
    if isinstance(value, Mapping):
        raise UsageError(f"{key} must be a list of tables; write [[{key}]] above each.")
    return many(_method, same=same_method)(value, key)


def _variant(value: Any, key: str) -> Variant:
    variant = record_of(Variant, value, VARIANT, key)
    if variant.methods and not variant.settings:
        raise UsageError(f"{key}.methods says for which methods settings are, so {key}.settings is needed too.")
    if not variant.record().keys() - {"name", "factor"}:
        raise UsageError(f"{key} changes nothing; set one of {', '.join(list(VARIANT)[2:])}.")
    return variant


def _variants(value: Any, key: str) -> tuple[Variant, ...]:
    if isinstance(value, Mapping):
        raise UsageError(f"{key} must be a list of tables; write [[{key}]] above each.")
    return many(_variant, same=lambda variant: variant.name)(value, key)


def _some_queries(value: Any, key: str) -> dict[str, Any]:
    """Check single values of queries; whether they go together shows once they are put in."""
    given = values.table(value, key)
    values.only(given, QUERIES, key)
    return {word: QUERIES[word](entry, f"{key}.{word}") for word, entry in given.items()}


def _graphs(value: Any, key: str) -> tuple[str, ...]:
    graphs: tuple[str, ...] = many(values.text)(value, key)
    names: list[str] = []
    for number, graph in enumerate(graphs, 1):
        name, _ = name_and_file(graph)
        if name in names:
            other = names.index(name) + 1
            raise UsageError(f"{key} #{number} has the name {name!r} of {key} #{other}; name each graph differently.")
        names.append(name)
    return graphs


def same_method(choice: MethodChoice) -> object:
    """Return what identifies an entry: its name and settings, in any order."""
    # The grid does not count: results are labelled by name and settings.
    return choice.name, frozenset((key, type(value), value) for key, value in choice.settings.items())


QUERIES: dict[str, Check] = {
    "mode": _mode,
    "seed": SEED,
    "train": whole(0),
    "validation": whole(0),
    "test": whole(1),
    "strict": values.flag,
    "file": values.text,
    "shuffle": values.flag,
    "random": whole(1),
}
CONVENTION = _named_by(lambda label: convention(label).label)
METHOD: dict[str, Check] = {
    "name": values.name,
    "settings": table_of(values.setting),
    "grid": table_of(many(values.setting)),
}
SPLITS: dict[str, Check] = {
    "train": whole(1),
    "validation": whole(1),
    "calibration": whole(1),
    "test": whole(1),
}
CERTIFICATES: dict[str, Check] = {"alpha": many(values.rate)}
VARIANT: dict[str, Check] = {
    "name": values.name,
    "factor": values.text,
    "search": _policy_changes,
    "convention": CONVENTION,
    "queries": _some_queries,
    "settings": table_of(values.setting),
    "methods": many(values.name),
    "seeds": many(SEED),
}
TOP: dict[str, Check] = {
    "protocol": values.name,
    "summary": values.text,
    "graphs": _graphs,
    "methods": _methods,
    "budgets": many(values.budget),
    "seeds": many(SEED),
    "queries": _queries,
    "search": _named_by(_policy_name),
    "convention": CONVENTION,
    "selection": one_of(SELECTIONS),
    "measure": many(one_of(MEASURES)),
    "analysis": _analysis,
    "kind": one_of(KINDS),
    "maps": many(values.text),
    "edges": one_of(EDGES),
    "splits": lambda value, key: record_of(MapSplits, value, SPLITS, key),
    "encoders": _methods,
    "certificates": lambda value, key: record_of(Certificates, value, CERTIFICATES, key),
    "variants": _variants,
    "traffic": many(_named_by(_traffic_name)),
}


# Every key, as in the documentation.
KEYS = (
    *TOP,
    *(f"queries.{key}" for key in QUERIES),
    *(f"methods.{key}" for key in METHOD),
    *(f"splits.{key}" for key in SPLITS),
    *(f"certificates.{key}" for key in CERTIFICATES),
    *(f"variants.{key}" for key in VARIANT),
)


def _shipped() -> Traversable:
    return resources.files("aacbench.protocols")


def _find(wanted: str, extra: Mapping[str, Path]) -> tuple[Path | Traversable, str]:
    """Return the file of a protocol, and its name in error messages."""
    if wanted in known_protocols():
        return _shipped() / f"{wanted}.toml", f"{wanted}.toml"
    if wanted in extra:
        return extra[wanted], str(extra[wanted])
    if wanted.endswith(".toml") or "/" in wanted or "\\" in wanted:
        return Path(wanted), wanted
    known = values.nearest(wanted, known_protocols(extra))
    raise UsageError(f"Unknown protocol {values.shown(wanted)}; {known} Give a file by its path, such as ./mine.toml.")


def _contents(source: Path | Traversable) -> str:
    try:
        data = read_input(source) if isinstance(source, Path) else source.read_bytes()
        return data.decode("utf-8").removeprefix("\ufeff")  # "utf-8-sig" would count bytes after the mark
    except OSError as error:
        raise UsageError(f"The protocol cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"Byte {error.start + 1} is not UTF-8; save the protocol as UTF-8 text.") from error


def parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        end = f"at line {text.count(chr(10)) + 1}, the end"
        raise UsageError(f"Not valid TOML: {str(error).replace('at end of document', end)}.") from error


def method_table(choice: MethodChoice) -> dict[str, Any]:
    tables = {"settings": choice.settings, "grid": choice.grid}
    return {"name": choice.name} | {key: dict(table) for key, table in tables.items() if table}


def toml_lines(table: dict[str, Any]) -> str:
    return "".join(f"{_key(key)} = {toml_value(value)}\n" for key, value in table.items())


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else toml_value(key)


def toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {toml_value(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, str):
        # JSON's escapes are valid in TOML, but TOML also wants the delete character escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value) if isinstance(value, bool) else repr(value)
