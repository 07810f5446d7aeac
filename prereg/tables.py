"""Tables of a registration: keys that must be there, that may be, and no others."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from aacbench.errors import UsageError
from aacbench.protocols.values import Check, nearest, shown, wrong


def only(given: Mapping[str, Any], known: Iterable[str], key: str) -> None:
    """Refuse a key that is not known, by its name."""
    words = list(known)
    for word in given:
        if word not in words:
            raise UsageError(f"there is no key {shown(_path(key, word))}; {nearest(word, words)}")


def required(given: Mapping[str, Any], word: str, key: str, check: Check) -> Any:
    """The value of a key that must be there."""
    if word not in given:
        raise UsageError(f"the key {_path(key, word)} is missing.")
    return check(given[word], _path(key, word))


def optional(given: Mapping[str, Any], word: str, key: str, check: Check, default: Any) -> Any:
    """The value of a key, or the default."""
    return check(given[word], _path(key, word)) if word in given else default


def number(value: Any, key: str) -> float:
    """Any finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise wrong(key, "a finite number", value)
    return float(value)


def _path(key: str, word: str) -> str:
    return f"{key}.{word}" if key else word
