"""`aacbench methods`: list the methods, or describe one: its claims, its parameters, and where to read more."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aacbench.cli.shared import AS_JSON, PLUGIN_FILES, echo_json, parse_method
from aacbench.library.plugins import warn
from aacbench.util.timeouts import at_most

if TYPE_CHECKING:
    from aacbench.contract.method import Claims, Method, Parameter
    from aacbench.plugins.manager import PluginManager
    from aacbench.plugins.records import LoadedMethod, Origin

WIDTH = 100
SEARCH_SECONDS = 10.0  # time limit of an author's `search`
# Each claim of a method in short and in words: where it is made, and where it is not.
CLAIMS = {
    "admissible": {
        True: ("admissible", "h never exceeds the distance, so every path is a shortest one"),
        False: ("not admissible", "h may exceed the distance, so a path may be longer than the shortest"),
    },
    "consistent": {
        True: ("consistent", "h falls by at most the weight of an arc along it, so no vertex is expanded twice"),
        False: ("not consistent", "vertices may be expanded again, so it is searched with reopening"),
    },
    "directed": {
        True: ("", "takes directed and undirected graphs"),
        False: ("undirected only", "takes only graphs in which every arc has a reverse of the same weight"),
    },
    "deterministic": {
        True: ("", "the seed changes nothing, so it runs with one seed only"),
        False: ("random", "depends on the seed, so it runs with every seed of the protocol"),
    },
    "oracle": {
        True: ("oracle", "sees the test queries while it builds: a bound on what is possible, not for deployment"),
        False: ("", "never sees the test queries"),
    },
    "matched": {
        True: ("", "stays within its budget of bytes per vertex"),
        False: ("unmatched", "need not stay within its budget, so it is left out of comparisons at matched memory"),
    },
}


@click.command()
@click.argument("name", required=False)
@PLUGIN_FILES
@AS_JSON
def methods(name: str | None, plugin_files: tuple[Path, ...], as_json: bool) -> None:
    """List all methods, or describe the one called NAME.

    \b
    aacbench methods                           name, summary, claims and origin of each
    aacbench methods alt                       claims in words, parameters, an example
    aacbench methods "alt[labels=u8]"          the same with this setting
    aacbench methods mine --plugin mine.py     a method of your own
    """
    from aacbench.plugins.manager import load_plugins

    manager = load_plugins(plugin_files)
    warn(manager)
    if name is not None:
        record = description(_with_settings(manager, name))
        if as_json:
            echo_json(record)
        else:
            click.echo(_text(record))
        return
    records = [description(found) for found in manager.methods().values()]
    if as_json:
        echo_json(records)
        return
    from tabulate import tabulate

    rows = [[record["name"], record["summary"], record["claims_in_short"], record["from"]] for record in records]
    click.echo(tabulate(rows, headers=("method", "summary", "claims", "from"), maxcolwidths=[None, 50, 30, None]))
    click.echo("\nrandom: depends on the seed. oracle: sees the test queries. unmatched: may exceed its budget.")
    click.echo("`aacbench methods NAME` shows claims in words, parameters and an example.")


def _with_settings(manager: "PluginManager", text: str) -> "LoadedMethod":
    """Return a method; one with settings has them as defaults, and the claims that it makes with them."""
    from aacbench.plugins.settings import resolve

    name, given = parse_method(text)
    found = manager.method(name)
    if not given:
        return found
    method, params = found.method, resolve(found.method, given)
    claims = replace(method.claims, **dict.fromkeys(method.waives(params), False))
    parameters = {key: replace(each, default=params[key]) for key, each in method.parameters.items()}
    return replace(found, method=replace(method, claims=claims, parameters=parameters))


def description(found: "LoadedMethod") -> dict[str, Any]:
    """Return everything there is to say about a method, as plain values."""
    method = found.method
    return {
        "name": method.name,
        "summary": method.summary,
        "claims": {claim: getattr(method.claims, claim) for claim in CLAIMS},
        "claims_in_short": claims_in_short(method.claims),
        "waived": _waived(method),
        "parts": method.made_of is not None,
        "parameters": parameter_records(method.parameters),
        "search": _preferred(method),
        "docs": method.docs,
        "from": origin_text(found.origin),
        "example": example(method, found.origin),
    }


def claims_in_short(claims: "Claims") -> str:
    return ", ".join(filter(None, (CLAIMS[claim][getattr(claims, claim)][0] for claim in CLAIMS)))


def parameter_records(parameters: "Mapping[str, Parameter]") -> list[dict[str, str]]:
    from aacbench.contract.parameters import accepted_values, as_text

    return [
        {"name": key, "default": as_text(each.default), "accepts": accepted_values(each), "help": each.help}
        for key, each in parameters.items()
    ]


def example(method: "Method", origin: "Origin") -> str:
    """Return a command that runs the method beside ALT, with one of its parameters set."""
    graph = "road-5000" if method.claims.directed else "grid-64"
    where = "--protocol context-quick --encoders true" if only_for_maps(method) else f"--graphs {graph}"
    chosen = with_a_setting(method.name, method.parameters)
    return f'aacbench run --methods "alt,{chosen}" {where} --budgets 32{plugin_option(origin)}'


def only_for_maps(method: "Method") -> bool:
    """Return whether the method takes families of maps, and refuses a graph."""
    from aacbench.contract.budget import Budget, GraphInfo
    from aacbench.contract.method import Unsupported

    if method.build_maps is None:
        return False
    defaults = {key: parameter.default for key, parameter in method.parameters.items()}
    plain = GraphInfo("grid-64", 4096, 16128, True, True, False, 4)
    try:
        with at_most(SEARCH_SECONDS):
            return isinstance(method.fit(Budget(32), plain, defaults), Unsupported)
    except (Exception, SystemExit):  # foreign code; `aacbench check` says what is wrong with it
        return False


def with_a_setting(name: str, parameters: "Mapping[str, Parameter]") -> str:
    """Return the name with one parameter set, to something else than its default if it has choices."""
    from aacbench.contract.parameters import as_text

    key = next((key for key in parameters if parameters[key].choices), next(iter(parameters), None))
    if key is None:
        return name
    default = parameters[key].default
    value = next((value for value in parameters[key].choices if value != default), default)
    return f"{name}[{key}={as_text(value) or key.upper()}]"


def plugin_option(origin: "Origin") -> str:
    return f" --plugin {origin.where}" if origin.kind == "file" else ""


def _preferred(method: "Method") -> dict[str, str]:
    """Return the search switches that the method prefers with its default settings; parts add theirs."""
    defaults = {key: parameter.default for key, parameter in method.parameters.items()}
    try:
        with at_most(SEARCH_SECONDS):
            switches: Mapping[str, Any] = dict(method.search(defaults))
    except (Exception, SystemExit):  # foreign code; `aacbench check` says what is wrong with it
        switches = {}
    reopening = {} if method.claims.consistent else {"reopen": True}
    return {key: _on_or_off(value) for key, value in {**switches, **reopening}.items()}


def _waived(method: "Method") -> dict[str, list[str]]:
    """Return the claims that the method does not make with some values of a parameter, each with these settings."""
    from aacbench.contract.parameters import as_text

    defaults = {key: parameter.default for key, parameter in method.parameters.items()}
    found: dict[str, list[str]] = {}
    for key, parameter in method.parameters.items():
        for value in parameter.choices:
            try:
                with at_most(SEARCH_SECONDS):
                    claims = tuple(method.waives({**defaults, key: value}))
            except (Exception, SystemExit):  # foreign code; `aacbench check` says what is wrong with it
                return {}
            for claim in (each for each in claims if getattr(method.claims, each)):
                found.setdefault(claim, []).append(f"{key}={as_text(value)}")
    return found


def _on_or_off(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def origin_text(origin: "Origin") -> str:
    if origin.kind == "built-in":
        return "built-in"
    return f"{origin.where} {origin.version}".strip()


def _text(record: Mapping[str, Any]) -> str:
    claims = [f"  {_word(claim, made)}: {CLAIMS[claim][made][1]}" for claim, made in record["claims"].items()]
    claims += [f"  but not {claim} with {', '.join(given)}" for claim, given in record["waived"].items()]
    switches = " ".join(f"{key}={value}" for key, value in record["search"].items())
    preferred = f"{switches}, unless you set it otherwise" if switches else "as the protocol says"
    lines = [f"{record['name']}: {record['summary']}", f"From: {record['from']}"]
    made = "Claims by itself; with its parts it makes those that all of them make" if record["parts"] else "Claims"
    lines += ["", f"{made}, all of which are checked:", *claims]
    lines += ["", *parameter_lines(record["parameters"])]
    lines += ["", f"Search: {preferred}{', with the switches of its parts' if record['parts'] else ''}"]
    lines += [f"Documented in: {record['docs']}"] if record["docs"] else []
    return "\n".join([*lines, f"Example: {record['example']}"])


def parameter_lines(parameters: Sequence[Mapping[str, str]]) -> list[str]:
    pairs = [(f"  {key['name']}={key['default']}  ({key['accepts']})", _help(key["help"])) for key in parameters]
    lines = [line for pair in pairs for line in pair if line]
    return ["Parameters with their defaults:" if lines else "It has no parameters.", *lines]


def _help(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)


def _word(claim: str, made: bool) -> str:
    return claim if made else f"not {claim}"
