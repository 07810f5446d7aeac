"""Canonical JSON: one spelling for each value, and digests of it."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from aacbench.errors import DataError


def canonical(value: Any) -> bytes:
    """The value as JSON with sorted keys and no spaces; equal numbers, such as 1 and 1.0, are spelt alike."""
    return spelt(value, separators=(",", ":"))


def digest(value: Any, tag: str) -> str:
    """The sha256 of the canonical value; the tag keeps digests of different things apart."""
    return hashlib.sha256(tag.encode() + b"\0" + canonical(value)).hexdigest()


def spelt(value: Any, **layout: Any) -> bytes:
    """The plain value as UTF-8 JSON with sorted keys, in the layout that `json.dumps` is asked for."""
    try:
        return json.dumps(plain(value), sort_keys=True, ensure_ascii=False, allow_nan=False, **layout).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"the text {error.object[error.start : error.end]!r} has no UTF-8 form.") from error
    except ValueError as error:  # Python refuses to print whole numbers of thousands of digits
        raise DataError(f"a number is too long to be written: {error}.") from error
    except RecursionError as error:
        raise DataError("a value that holds itself, or is nested too deeply, cannot be written as JSON.") from error


def plain(value: Any, where: str = "the value") -> Any:
    """The value as dicts, lists, strings, numbers, booleans and None alone; whole floats become integers."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return _number(value, where)
    if isinstance(value, list | tuple):
        return [plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {_name(key, where): plain(item, f"{where}[{key!r}]") for key, item in value.items()}
    raise DataError(f"{where} is a {type(value).__name__}, which has no place in JSON.")


def _number(value: float, where: str) -> int | float:
    if not math.isfinite(value):
        raise DataError(f"{where} is {value}, which JSON cannot hold; give it as text.")
    return int(value) if value.is_integer() else float(value)


def _name(key: Any, where: str) -> str:
    if not isinstance(key, str):
        raise DataError(f"{where} has the key {key!r}, and a key must be a string.")
    return str(key)
