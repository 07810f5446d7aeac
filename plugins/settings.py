"""Resolve the settings of a method or an encoder: defaults, conversion of text, refusals."""

from collections.abc import Mapping
from typing import Any

from aacbench.contract.encoder import Encoder
from aacbench.contract.method import Method, Parameter, Params
from aacbench.contract.parameters import accepted_values, problem_with
from aacbench.errors import UsageError
from aacbench.util.text import describe, suggestion
from aacbench.util.timeouts import at_most

CHECK_SECONDS = 10.0  # a method's own check of a few settings
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def resolve(method: Method | Encoder, settings: Mapping[str, Any]) -> Params:
    """Return every parameter with its value, in declared order; raise `UsageError` for a wrong one."""
    for key in settings:
        if key not in method.parameters:
            raise UsageError(_unknown(method, key))
    params = {
        key: _value(method, key, parameter, settings[key]) if key in settings else parameter.default
        for key, parameter in method.parameters.items()
    }
    problem = _check_together(method, params)
    if problem:
        raise UsageError(f"{_kind(method).capitalize()} {method.name!r}: {problem}")
    return params


def _kind(method: Method | Encoder) -> str:
    return "encoder" if isinstance(method, Encoder) else "method"


def _check_together(method: Method | Encoder, params: Params) -> str:
    try:
        with at_most(CHECK_SECONDS):
            problem = method.check(dict(params))
    except (Exception, SystemExit) as error:  # foreign code, run before any cell exists to record the failure in
        return f"its check of the settings failed with {describe(error)}."
    return problem if isinstance(problem, str) else f"its check of the settings must return text, not {problem!r}."


def _value(method: Method | Encoder, key: str, parameter: Parameter, given: Any) -> bool | int | float | str:
    value = _converted(parameter, given)
    wrong = problem_with(parameter, value)
    if wrong:
        raise UsageError(f"Parameter {key!r} of {_kind(method)} {method.name!r} takes {wrong}, not {given!r}.")
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


def _unknown(method: Method | Encoder, key: str) -> str:
    what = f"{_kind(method).capitalize()} {method.name!r}"
    if not method.parameters:
        return f"{what} has no parameter {key!r}; it has no parameters."
    known = "; ".join(f"{name} ({accepted_values(parameter)})" for name, parameter in method.parameters.items())
    return f"{what} has no parameter {key!r}{suggestion(key, method.parameters)} It has {known}."
