"""Which values a parameter takes, and how that is said to a person."""

import sys
from typing import Any

from aacbench.contract.method import Parameter

_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}

# Those of the search, which may stand among a method's settings; a test compares them with the policy.
SEARCH_SWITCHES = ("tie", "reopen", "bpmx")


def problem_with(parameter: Parameter, value: Any) -> str:
    """Empty for a value the parameter takes, else what it takes."""
    kind = type(parameter.default)
    of_kind = type(value) is kind or (kind is float and type(value) is int)
    return "" if of_kind and _within(parameter, value) else wanted(parameter)


def _within(parameter: Parameter, value: Any) -> bool:
    finite = not isinstance(parameter.default, float) or abs(value) <= sys.float_info.max
    above = parameter.minimum is None or value >= parameter.minimum
    below = parameter.maximum is None or value <= parameter.maximum
    return finite and above and below and (not parameter.choices or value in parameter.choices)


def wanted(parameter: Parameter) -> str:
    """What a parameter takes, in words."""
    if parameter.choices:
        return f"one of {', '.join(map(written, parameter.choices))}"
    kind, low, high = _KINDS[type(parameter.default)], parameter.minimum, parameter.maximum
    if low is not None and high is not None:
        return f"{kind} from {low} to {high}"
    if low is not None:
        return f"{kind} from {low}"
    return f"{kind} up to {high}" if high is not None else kind


def written(value: Any) -> str:
    """A value as it is written on a command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
