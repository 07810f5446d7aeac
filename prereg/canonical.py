"""Canonical JSON (RFC 8785) and digests; what has no one spelling is refused by the name of its key."""

import hashlib
import math
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

import rfc8785

from aacbench.errors import UsageError

TAG = "aacbench.prereg/1"
LARGEST = 2**53 - 1  # beyond it JSON readers disagree on whole numbers, and so would digests


def digest(value: Any, tag: str = TAG) -> str:
    """The sha256 of the tag, a zero byte and the canonical value."""
    return hashlib.sha256(tag.encode() + b"\0" + canonical(value)).hexdigest()


def canonical(value: Any) -> bytes:
    """The value as RFC 8785 spells it: keys sorted, no white space, 1 and 1.0 alike."""
    return rfc8785.dumps(plain(value))


def plain(value: Any, key: str = "") -> Any:
    """The value in dictionaries, lists, texts, numbers, booleans and None, each of them with one spelling."""
    if isinstance(value, Mapping):
        return {_name(word, key): plain(inner, f"{key}.{word}" if key else word) for word, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, f"{key} #{number}") for number, inner in enumerate(value, 1)]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, key)
    if isinstance(value, int | float):
        return _number(value, key)
    if isinstance(value, date | datetime | time):
        raise UsageError(f"{key} is a date, which JSON does not have; write it in quotes, as text.")
    raise UsageError(f"{key} is a {type(value).__name__}, which has no place in a registration.")


def _number(value: int | float, key: str) -> int | float:
    if not math.isfinite(value):
        raise UsageError(f"{key} is {value}, and a registration holds finite numbers only.")
    if abs(value) > LARGEST:
        raise UsageError(f"{key} is a number of 2^53 or more, which not every reader keeps exactly; use text.")
    return value


def _text(value: str, key: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{key} holds a character that has no UTF-8 form.") from error
    return value


def _name(word: Any, key: str) -> str:
    if not isinstance(word, str):
        raise UsageError(f"{key or 'the registration'} has the key {word!r}, and a key must be text.")
    return _text(word, f"a key in {key}" if key else "a key")
