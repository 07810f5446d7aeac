"""Checks of single values: each returns the value as a study has it, or raises an error that names the key."""

import inspect
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from aacbench.errors import UsageError
from aacbench.util.text import near_names

Check = Callable[[Any, str], Any]
Record = TypeVar("Record")

# Other characters have a meaning in a method list.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+:-]*")
LARGEST = 2**53 - 1  # JSON readers disagree on larger whole numbers, and so would digests


def wrong(key: str, must_be: str, value: object) -> UsageError:
    return UsageError(f"{key} must be {must_be}, not {shown(value)}.")


def shown(value: object, most: int = 40) -> str:
    """Return a value as a person would write it, cut to a readable length."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if isinstance(value, str | bool):
        written = json.dumps(value, ensure_ascii=False)
    elif isinstance(value, int) and abs(value) > LARGEST:
        written = "a number beyond 2^53"
    else:
        written = str(value)
    return written if len(written) <= most else written[:most] + "..."


def nearest(word: str, known: Iterable[str]) -> str:
    choices = list(known)
    close = near_names(word, choices)
    return f"did you mean {close[0]}?" if close else f"choose one of {', '.join(choices)}."


def text(value: Any, key: str) -> str:
    if not isinstance(value, str) or not value or value != value.strip():
        raise wrong(key, "a text without blanks at its ends", value)
    return value


def name(value: Any, key: str) -> str:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise wrong(key, "a name of letters, digits and _ . + : -", value)
    return value


def flag(value: Any, key: str) -> bool:
    if not isinstance(value, bool):
        raise wrong(key, "true or false", value)
    return value


def whole(minimum: int, maximum: int = LARGEST) -> Check:
    limits = f"of at least {minimum}" if maximum == LARGEST else f"between {minimum} and {maximum}"

    def check(value: Any, key: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
            raise wrong(key, f"a whole number {limits}", value)
        return value

    return check


def budget(value: Any, key: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= LARGEST:
        raise wrong(key, "a positive number of bytes per vertex", value)
    if float(f"{value:g}") != value:  # tables print six digits, and two budgets must not look the same
        raise wrong(key, "a number of at most six digits", value)
    return float(value)


def rate(value: Any, key: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < 1:
        raise wrong(key, "a number between 0 and 1", value)
    return float(value)


def setting(value: Any, key: str) -> bool | int | float | str:
    if isinstance(value, str):
        return text(value, key)
    if (isinstance(value, int) and abs(value) > LARGEST) or not isinstance(value, int | float):
        raise wrong(key, "true, false, a number or a text", value)
    if not math.isfinite(value):
        raise wrong(key, "a finite number", value)
    return value


def one_of(choices: tuple[str, ...]) -> Check:
    def check(value: Any, key: str) -> str:
        if not isinstance(value, str):
            raise wrong(key, f"one of {', '.join(choices)}", value)
        if value not in choices:
            raise UsageError(f"{key} cannot be {shown(value)}; {nearest(value, choices)}")
        return value

    return check


def same_value(value: Any) -> object:
    """Return an identity of a value: that of 1 and 1.0 is the same, that of 1 and true is not."""
    return isinstance(value, bool), value


def many(check: Check, same: Callable[[Any], object] = same_value) -> Check:
    """Return a check of lists with at least one value and no repeats; `same` returns a value's identity."""

    def check_all(values: Any, key: str) -> tuple[Any, ...]:
        if not isinstance(values, list | tuple) or not values:
            raise wrong(key, "a list with at least one entry", values)
        checked = tuple(check(value, f"{key} #{number}") for number, value in enumerate(values, 1))
        first: dict[object, int] = {}
        for number, value in enumerate(checked, 1):
            if same(value) in first:
                raise UsageError(f"{key} #{number} repeats {key} #{first[same(value)]}; give each entry once.")
            first[same(value)] = number
        return checked

    return check_all


def table(value: Any, key: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise wrong(key, "a table", value)
    return value


def tables(value: Any, key: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise UsageError(f"{key} must be a list of tables; write [[{key}]] above each.")
    return value


def record_of(kind: Callable[..., Record], value: Any, checks: Mapping[str, Check], key: str) -> Record:
    """Return a record of a table's values; keys without a default must be given."""
    given, prefix = table(value, key), f"{key}." if key else ""
    only(given, checks, key)
    for word, parameter in inspect.signature(kind).parameters.items():
        if parameter.default is parameter.empty and word not in given:
            raise UsageError(f"{prefix}{word} is missing.")
    return kind(**{word: checks[word](entry, f"{prefix}{word}") for word, entry in given.items()})


def only(given: Iterable[str], known: Iterable[str], key: str) -> None:
    words = list(known)
    for word in given:
        if word not in words:
            raise UsageError(f"Unknown key {shown(f'{key}.{word}' if key else word)}; {nearest(word, words)}")


def table_of(check: Check) -> Check:
    def check_all(value: Any, key: str) -> dict[str, Any]:
        entries = table(value, key).items()
        return {name(word, f"a name in {key}"): check(entry, f"{key}.{word}") for word, entry in entries}

    return check_all
