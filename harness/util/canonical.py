"""Canonical JSON (RFC 8785): one spelling for each value, digests of it, and the indented form for files.

RFC 8785 leaves out whole numbers beyond 2^53; here they keep all their digits. `plain(..., portable=True)` refuses
them, for values that readers in other languages must be able to hash too.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from json.encoder import encode_basestring
from typing import Any

import rfc8785

from aacbench.errors import DataError

LONGEST_TEXT = 200  # characters of it in an error
MOST_SPELT = 4096  # members that are remembered
LARGEST = 2**53 - 1  # many JSON readers round larger whole numbers
_QUICK = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_EXPONENT = re.compile(r"[\[:,]-?[0-9.]+e")


def canonical(value: Any, *, parsed: bool = False) -> bytes:
    """The value as UTF-8 JSON with sorted keys and no white space; equal numbers, such as 1 and 1.0, look alike.

    `parsed` says that the value was read from what `pretty` wrote, so that it need not be made plain.
    """
    with _explained():
        value = value if parsed else plain(value)
        text = _QUICK.encode(value)
        # Exponents are spelt differently there, and keys beyond ASCII may be sorted differently.
        usual = text.isascii() and not isinstance(value, float) and not _EXPONENT.search(text)
        return (text if usual else _compact(value)).encode()


def digest(value: Any, tag: str, *, parsed: bool = False) -> str:
    """The sha256 of the tag, a zero byte and the canonical value; the tag separates digests of different things."""
    return digest_of(canonical(value, parsed=parsed), tag)


def digest_of(spelt: bytes, tag: str) -> str:
    """The digest of a value by its canonical spelling."""
    return hashlib.sha256(tag.encode() + b"\0" + spelt).hexdigest()


class Spelling:
    """The canonical JSON of objects with names in ASCII that share most of their members: each is spelt once.

    Values that are no text or number are known by being the same object, and must not change meanwhile.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], tuple[Any, bytes]] = {}

    def of(self, value: Mapping[str, Any]) -> bytes:
        return b"{" + b",".join([self._member(name, value[name]) for name in sorted(value)]) + b"}"

    def _member(self, name: str, value: Any) -> bytes:
        kind = type(value)
        same = (name, kind, value) if kind in (str, int, float) else (name, id(value))
        if same not in self._known:
            if len(self._known) >= MOST_SPELT:
                self._known.clear()
            self._known[same] = value, canonical({name: value})[1:-1]  # held here, so that no other has its id
        return self._known[same][1]


def pretty(value: Any, *, parsed: bool = False) -> bytes:
    """The value as indented UTF-8 JSON with sorted keys and a final newline, for files that people read."""
    with _explained():
        return (indented(value if parsed else plain(value), "\n") + "\n").encode()


def plain(value: Any, where: str = "", *, portable: bool = False) -> Any:
    """A copy made of dicts, lists, strings, finite numbers, booleans and None alone; whole floats become integers.

    `where` names the value in errors. `portable` refuses numbers that not every JSON reader keeps exactly.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None or (kind is int and not portable):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | float):
        return _number(value, where, portable)
    if isinstance(value, list | tuple):
        return [plain(item, f"{where} #{i}".lstrip(), portable=portable) for i, item in enumerate(value, 1)]
    if isinstance(value, Mapping):
        return {
            _key(key, where): plain(item, f"{where}.{key}" if where else str(key), portable=portable)
            for key, item in value.items()
        }
    raise DataError(f"{where or 'The value'} is a {type(value).__name__}, which JSON cannot hold; write it as text.")


def parse_json(data: bytes) -> Any:
    """Parse JSON; raise ValueError also where an object has a key twice, of which readers take one or the other."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("an object names a key twice")
        return found

    return json.loads(data, object_pairs_hook=unique)


def finite(value: Any) -> Any:
    """The value with None in place of NaN and infinities, which JSON does not have."""
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _compact(value: Any) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, dict):
        keys = sorted(value)
        if not "".join(keys).isascii():  # beyond the first plane, code points and UTF-16 sort differently
            keys.sort(key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join([f"{encode_basestring(key)}:{_compact(value[key])}" for key in keys]) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_compact, value)) + "]"
    if isinstance(value, float):
        text = repr(value)
        return rfc8785.dumps(value).decode() if "e" in text else text  # only exponents are spelt differently
    return _word(value)


def indented(value: Any, line: str) -> str:
    """The same as `json.dumps` with an indent of 1, which is ten times slower; `line` begins a line of this depth."""
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, dict) and value:
        inner = line + " "
        items = [f"{encode_basestring(key)}: {indented(value[key], inner)}" for key in sorted(value)]
        return "{" + inner + f",{inner}".join(items) + line + "}"
    if isinstance(value, list) and value:
        inner = line + " "
        return "[" + inner + f",{inner}".join([indented(item, inner) for item in value]) + line + "]"
    return _word(value)


def _word(value: Any) -> str:
    """The spelling of a number, true, false, null, or an empty list or dict."""
    if value is True or value is False:
        return "true" if value else "false"
    return "null" if value is None else repr(value)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except UnicodeEncodeError as error:
        begin, end = error.object.rfind('"', 0, error.start) + 1, error.object.find('"', error.end)
        text = error.object[begin:end][:LONGEST_TEXT]
        raise DataError(f"The text {text!r} has no UTF-8 form; if it is a file's name, rename the file.") from error
    except ValueError as error:  # Python refuses to print whole numbers of thousands of digits
        raise DataError(f"A number is too long to be written: {error}.") from error
    except RecursionError as error:
        raise DataError("A value that contains itself, or is nested too deeply, cannot be written as JSON.") from error


def _number(value: int | float, where: str, portable: bool) -> int | float:
    name = where or "The value"
    if isinstance(value, float) and not math.isfinite(value):
        raise DataError(f"{name} is {value}, which JSON cannot hold; give a finite number, or leave it out.")
    if portable and abs(value) > LARGEST:
        raise DataError(f"{name} is a number of 2^53 or more, which many readers round; use text.")
    return int(value) if isinstance(value, int) or value.is_integer() else float(value)


def _key(key: Any, where: str) -> str:
    if not isinstance(key, str):
        raise DataError(f"{where or 'The value'} has the key {key!r}; keys must be text.")
    return str(key)
