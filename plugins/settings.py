"""A method's parameters, resolved: defaults filled in, text from a command line converted, the rest refused."""

from collections.abc import Mapping
from typing import Any

from aacbench.contract.method import Method, Parameter, Params
from aacbench.contract.parameters import accepted_values, problem_with
from aacbench.errors import UsageError
from aacbench.util.text import suggestion
from aacbench.util.timeouts import at_most

CHECK_SECONDS = 10.0  # for a look at a few settings
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def resolve(method: Method, settings: Mapping[str, Any]) -> Params:
    """Every parameter of a method with its value, in the order it declares them."""
    for key in settings:
        if key not in method.parameters:
            raise UsageError(_unknown(method, key))
    params = {
        key: _value(method, key, parameter, settings[key]) if key in settings else parameter.default
        for key, parameter in method.parameters.items()
    }
    wrong = _objection(method, params)
    if wrong:
        raise UsageError(f"method {method.name!r}: {wrong}")
    return params


def _objection(method: Method, params: Params) -> str:
    try:
        with at_most(CHECK_SECONDS):
            said = method.check(dict(params))
    except (Exception, SystemExit) as error:  # a plugin's own code, run before there is a cell to put the failure in
        return f"its check of the settings failed with {type(error).__name__}: {error}"
    return said if isinstance(said, str) else f"its check of the settings must return a text, not {said!r}."


def _value(method: Method, key: str, parameter: Parameter, given: Any) -> bool | int | float | str:
    value = _converted(parameter, given)
    wrong = problem_with(parameter, value)
    if wrong:
        raise UsageError(f"parameter {key!r} of method {method.name!r} takes {wrong}, not {given!r}.")
    result: bool | int | float | str = type(parameter.default)(value)
    return result


def _converted(parameter: Parameter, given: Any) -> Any:
    kind = type(parameter.default)
    if kind is str and type(given) is int:  # a command line or a TOML file took text such as 10 for a number
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
        return f"method {method.name!r} has no parameter {key!r}; it has none at all."
    known = "; ".join(f"{name} ({accepted_values(parameter)})" for name, parameter in method.parameters.items())
    return f"method {method.name!r} has no parameter {key!r}; {suggestion(key, method.parameters)}it has {known}."
