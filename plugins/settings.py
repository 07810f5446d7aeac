"""Resolve a method's settings: fill in defaults, convert text from a command line, refuse the rest."""

from collections.abc import Mapping
from typing import Any

from aacbench.contract.method import Method, Parameter, Params
from aacbench.contract.parameters import accepted_values, problem_with
from aacbench.errors import UsageError
from aacbench.util.text import describe, suggestion
from aacbench.util.timeouts import at_most

CHECK_SECONDS = 10.0  # a method's own check of a few settings
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def resolve(method: Method, settings: Mapping[str, Any]) -> Params:
    """Return every parameter of a method with its value, in declared order; raise `UsageError` for a wrong one."""
    for key in settings:
        if key not in method.parameters:
            raise UsageError(_unknown(method, key))
    params = {
        key: _value(method, key, parameter, settings[key]) if key in settings else parameter.default
        for key, parameter in method.parameters.items()
    }
    problem = _check_together(method, params)
    if problem:
        raise UsageError(f"Method {method.name!r}: {problem}")
    return params


def _check_together(method: Method, params: Params) -> str:
    try:
        with at_most(CHECK_SECONDS):
            problem = method.check(dict(params))
    except (Exception, SystemExit) as error:  # foreign code, run before any cell exists to record the failure in
        return f"its check of the settings failed with {describe(error)}."
    return problem if isinstance(problem, str) else f"its check of the settings must return text, not {problem!r}."


def _value(method: Method, key: str, parameter: Parameter, given: Any) -> bool | int | float | str:
    value = _converted(parameter, given)
    wrong = problem_with(parameter, value)
    if wrong:
        raise UsageError(f"Parameter {key!r} of method {method.name!r} takes {wrong}, not {given!r}.")
    result: bool | int | float | str = type(parameter.default)(value)
    return result


def _converted(parameter: Parameter, given: Any) -> Any:
    kind = type(parameter.default)
    if kind is str and type(given) is int:  # a command line or a TOML file reads text such as 10 as a number
        return str(given)
    if not isinstance(given, str) or kind is str:
        return given
    if kind is bool:
        return _WORDS.get(given.strip().lower(), given)
    try:
        return kind(given)
    except ValueError:
        return given


def _unknown(method: Method, key: str) -> str:
    if not method.parameters:
        return f"Method {method.name!r} has no parameter {key!r}; it has no parameters."
    known = "; ".join(f"{name} ({accepted_values(parameter)})" for name, parameter in method.parameters.items())
    return f"Method {method.name!r} has no parameter {key!r}{suggestion(key, method.parameters)} It has {known}."
