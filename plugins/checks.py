"""Validate the records of a plugin; the first error is the reason to refuse the plugin."""

import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from aacbench.contract.composite import PARTS
from aacbench.contract.encoder import LEARNS_FROM, Encoder, EncoderClaims, MapSource
from aacbench.contract.method import Claims, Method, Parameter
from aacbench.contract.parameters import SEARCH_SWITCHES, problem_with
from aacbench.plugins.records import GraphSource, PluginError, ProtocolFile, Report

NAME = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*")
GRAPH_NAME = re.compile(rf"({NAME.pattern}:)?{NAME.pattern}")
KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
VALUES = (bool, int, float, str)


def check_method(method: Method) -> None:
    """Raise `PluginError` if a method could not be listed, planned or built."""
    what = _named("method", method.name, NAME)
    _line(what, "summary", method.summary)
    _function(what, "fit", method.fit, "(budget, info, params)")
    _function(what, "build", method.build, "(context)")
    _function(what, "search", method.search, "(params)")
    _function(what, "waives", method.waives, "(params)")
    _function(what, "check", method.check, "(params)")
    _claims(what, method.claims, Claims)
    _docs(what, method.docs)
    if method.made_of is not None:
        _function(what, "made_of", method.made_of, "(params)")
    if method.build_maps is not None:
        _function(what, "build_maps", method.build_maps, "(context)")
    _parameters(what, method.parameters)


def check_encoder(encoder: Encoder) -> None:
    """Raise `PluginError` if an encoder could not be listed, planned or trained."""
    what = _named("encoder", encoder.name, NAME)
    _line(what, "summary", encoder.summary)
    _function(what, "train", encoder.train, "(context)")
    _function(what, "inputs", encoder.inputs, "(params)")
    _function(what, "check", encoder.check, "(params)")
    if callable(encoder.learns_from):
        _function(what, "learns_from", encoder.learns_from, "(params)")
    elif encoder.learns_from not in LEARNS_FROM:
        known = ", ".join(LEARNS_FROM)
        raise PluginError(f"`learns_from` of {what} must be one of {known}, not {_short(encoder.learns_from)}.")
    _claims(what, encoder.claims, EncoderClaims)
    _docs(what, encoder.docs)
    _parameters(what, encoder.parameters)


def check_maps(maps: MapSource) -> None:
    """Raise `PluginError` if a map set could not be named or loaded."""
    what = _named("map set", maps.name, GRAPH_NAME)
    _line(what, "summary", maps.summary)
    _function(what, "load", maps.load, "()")


def check_graph(graph: GraphSource) -> None:
    """Raise `PluginError` if a graph could not be named or loaded."""
    what = _named("graph", graph.name, GRAPH_NAME)
    _line(what, "summary", graph.summary)
    _function(what, "load", graph.load, "()")


def check_protocol(protocol: ProtocolFile) -> None:
    """Raise `PluginError` if a protocol has no TOML file."""
    what = _named("protocol", protocol.name, NAME)
    path = protocol.path
    if not isinstance(path, Path) or path.suffix != ".toml" or not path.is_file():
        raise PluginError(f"The path of {what} must be the Path of an existing .toml file, not {_short(path)}.")


def check_report(report: Report) -> None:
    """Raise `PluginError` if a report could not be listed or made."""
    what = _named("report", report.name, NAME)
    _line(what, "title", report.title)
    _line(what, "summary", report.summary)
    _function(what, "make", report.make, "(study)")


def _named(kind: str, name: Any, pattern: re.Pattern[str]) -> str:
    if not isinstance(name, str) or not pattern.fullmatch(name):
        raise PluginError(f"The name of a {kind} must be letters, digits and hyphens, not {_short(name)}.")
    return f"{kind} {name!r}"


def _line(what: str, attribute: str, text: Any) -> None:
    if not isinstance(text, str) or not text.strip() or "\n" in text:
        raise PluginError(f"The {attribute} of {what} must be one line of text, not {_short(text)}.")


def _claims(what: str, claims: Any, kind: type[Claims] | type[EncoderClaims]) -> None:
    if type(claims) is not kind or any(type(getattr(claims, claim.name)) is not bool for claim in fields(kind)):
        raise PluginError(f"The claims of {what} must be {kind.__name__}(...) with values True and False.")


def _docs(what: str, docs: Any) -> None:
    if not isinstance(docs, str):
        raise PluginError(f"`docs` of {what} must be text, such as a URL, not {_short(docs)}.")


def _parameters(what: str, parameters: Any) -> None:
    if not isinstance(parameters, Mapping):
        raise PluginError(f"The parameters of {what} must be a mapping of names to Parameter(...).")
    for key, parameter in parameters.items():
        _parameter(what, key, parameter)


def _function(what: str, attribute: str, function: Any, arguments: str) -> None:
    if not callable(function):
        raise PluginError(f"`{attribute}` of {what} must be a function of {arguments}, not {_short(function)}.")
    if not _takes(function, 0 if arguments == "()" else arguments.count(",") + 1):
        raise PluginError(f"`{attribute}` of {what} must take {arguments}, but takes {inspect.signature(function)}.")


def _takes(function: Callable[..., Any], count: int) -> bool:
    try:
        signature = inspect.signature(function)
    except ValueError:  # a compiled function may have none
        return True
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def _parameter(what: str, key: Any, parameter: Any) -> None:
    if not isinstance(key, str) or not KEY.fullmatch(key):
        raise PluginError(f"A parameter of {what} is named {_short(key)}, which nobody can type as name=value.")
    if key in SEARCH_SWITCHES:
        raise PluginError(f"Parameter {key!r} of {what} has the name of a search switch; choose another name.")
    if key == PARTS:
        raise PluginError(f"Parameter {key!r} of {what} has a reserved name; choose another name.")
    which = f"Parameter {key!r} of {what}"
    if type(parameter) is not Parameter:
        raise PluginError(f"{which} must be Parameter(...), not {_short(parameter)}.")
    if type(parameter.default) not in VALUES:
        raise PluginError(
            f"{which} must have a number, text, True or False as default, not {_short(parameter.default)}."
        )
    _limits(which, parameter)
    if not isinstance(parameter.choices, tuple):
        raise PluginError(f"{which} must have a tuple of choices, not {_short(parameter.choices)}.")
    for value in (*parameter.choices, parameter.default):
        wrong = problem_with(parameter, value)
        if wrong:
            raise PluginError(f"{which} takes {wrong}, but itself declares {_short(value)}.")


def _limits(which: str, parameter: Parameter) -> None:
    for limit in (parameter.minimum, parameter.maximum):
        if limit is None:
            continue
        if type(parameter.default) not in (int, float):
            raise PluginError(f"{which} is not a number, so it cannot have a minimum or maximum.")
        if type(limit) not in (int, float) or not math.isfinite(limit):
            raise PluginError(f"{which} must have finite numbers as minimum and maximum, not {_short(limit)}.")


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
