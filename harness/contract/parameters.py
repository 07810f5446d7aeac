"""Checks of parameter values, and their description for users."""

import sys
from typing import Any

from aacbench.contract.method import Parameter

_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}

# The fields of a search policy, which a user may also set per method. A test compares them with `Policy`.
SEARCH_SWITCHES = ("tie", "reopen", "bpmx", "vertex_order", "label_layout")
PREFERRED = ("tie", "reopen", "bpmx")  # those that a method may prefer: the others only change how fast it is


def problem_with(parameter: Parameter, value: Any) -> str:
    """Return an empty string if the parameter accepts the value, else a description of what it accepts."""
    kind = type(parameter.default)
    right_type = type(value) is kind or (kind is float and type(value) is int)
    return "" if right_type and _within(parameter, value) else accepted_values(parameter)


def _within(parameter: Parameter, value: Any) -> bool:
    finite = not isinstance(parameter.default, float) or abs(value) <= sys.float_info.max
    above = parameter.minimum is None or value >= parameter.minimum
    below = parameter.maximum is None or value <= parameter.maximum
    return finite and above and below and (not parameter.choices or value in parameter.choices)


def accepted_values(parameter: Parameter) -> str:
    """Describe the values a parameter accepts: `a whole number from 1 to 8`."""
    if parameter.choices:
        return f"one of {', '.join(map(as_text, parameter.choices))}"
    kind, low, high = _KINDS[type(parameter.default)], parameter.minimum, parameter.maximum
    if low is not None and high is not None:
        return f"{kind} from {low} to {high}"
    if low is not None:
        return f"{kind} from {low}"
    return f"{kind} up to {high}" if high is not None else kind


def as_text(value: Any) -> str:
    """Return the value as a user writes it on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
