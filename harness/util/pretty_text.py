"""Reading what `pretty` wrote: the values, whether they are spelt as it spells them, and their canonical spelling.

Files of many cells mostly have the same members, so each distinct member is parsed and checked once, and its value is
shared by all that have it: do not write into what is returned.
"""

import json
import re
from sys import intern
from typing import Any

from aacbench.errors import AacbenchError
from aacbench.util.canonical import canonical, indented, pretty

LONGEST_SHARED = 40  # characters of a text; longer ones are mostly digests, which no two cells share
MOST_MEMBERS = 4096  # that are remembered at each depth
MOST_VALUES = 256  # of one name that are shared; a name with more has mostly a value of its own in every file
_PLAIN = re.compile(r"[ !#-\[\]-~]*").fullmatch  # a text that is spelt the same everywhere
_Member = tuple[str, Any, str]  # the name, the value, and both in canonical JSON
_KNOWN: dict[str, dict[str, _Member]] = {}  # by how a line at that depth begins, then by what is written
_SHARED: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {}  # by the same, by name, then by what is written
_decode = json.JSONDecoder().raw_decode


class UnusualError(ValueError):
    """The text is not spelt as `pretty` spells it, or has names beyond ASCII."""


def read_pretty(data: bytes) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the members of an object, and each with its name in canonical JSON, in canonical order.

    Raise ValueError unless these are the bytes that `pretty` writes for them.
    """
    try:
        text = data.decode()
        if not text.endswith("\n"):
            raise UnusualError
        members = _members(text[:-1], "\n")
        return {name: value for name, value, _ in members}, {name: spelt for name, _, spelt in members}
    except (UnusualError, RecursionError):
        return read_plainly(data)


def read_plainly(data: bytes) -> tuple[dict[str, Any], dict[str, str]]:
    """The same for any names, by writing all of it once more."""
    try:
        record = json.loads(data)
        if not isinstance(record, dict) or pretty(record, parsed=True) != data:
            raise UnusualError
        names = sorted(record, key=lambda name: name.encode("utf-16-be"))
        return record, {name: canonical({name: record[name]}, parsed=True).decode()[1:-1] for name in names}
    except (AacbenchError, RecursionError) as error:
        raise ValueError(str(error)) from error


def read_again(data: bytes) -> dict[str, Any]:
    """Return the same members, twice as fast, from bytes that `read_pretty` is known to accept: nothing is checked."""
    if b"\\" in data or not data.startswith(b"{\n"):  # a name may hold a quote, or there is none
        found: dict[str, Any] = json.loads(data)
        return found
    return _object(data.decode()[:-1], "\n")


def _object(text: str, line: str) -> dict[str, Any]:
    inner = line + " "
    names, found = _SHARED.setdefault(line, {}), {}
    for written in text[len(inner) + 2 : -len(line) - 1].split("," + inner + '"'):
        name, _, spelt = written.partition('": ')
        known = names.get(name)
        if known is None:
            known = names[name] = intern(name), {}
        name, shared = known
        value = shared.get(spelt, shared)
        if value is shared:  # not among them
            value = _object(spelt, inner) if spelt.startswith("{\n") else _decode(spelt)[0]
            if len(shared) < MOST_VALUES:
                shared[spelt] = value
        found[name] = value
    return found


def _members(text: str, line: str) -> list[_Member]:
    """The members of an object; `line` is how a line of its depth begins."""
    inner = line + " "
    begin, end = "{" + inner + '"', line + "}"
    if not (text.startswith(begin) and text.endswith(end)):
        raise UnusualError
    known, last = _KNOWN.setdefault(line, {}), ""
    members: list[_Member] = []
    # Texts hold no line ends, so this divides where a member of this depth begins and nowhere else.
    for written in text[len(begin) : -len(end)].split("," + inner + '"'):
        member = known.get(written)
        if member is None:
            member = _member(written, inner)
            if len(known) >= MOST_MEMBERS:
                known.clear()
            known[written] = member
        if member[0] <= last and members:
            raise UnusualError
        last = member[0]
        members.append(member)
    return members


def _member(written: str, line: str) -> _Member:
    name, between, text = written.partition('": ')
    if not between or not _PLAIN(name):
        raise UnusualError
    value, spelt = _value(text, line)
    return intern(name), value, f'"{name}":{spelt}'


def _value(text: str, line: str) -> tuple[Any, str]:
    if text[:1] == '"' and text[-1:] == '"' and len(text) > 1 and _PLAIN(text[1:-1]):
        return intern(text[1:-1]) if len(text) < LONGEST_SHARED else text[1:-1], text
    if text.startswith("{\n"):
        members = _members(text, line)
        return {name: value for name, value, _ in members}, "{" + ",".join([spelt for _, _, spelt in members]) + "}"
    if text.startswith("[\n"):
        return _items(text, line)
    try:
        value = json.loads(text)
        if (repr(value) if type(value) in (int, float) else indented(value, line)) != text:
            raise UnusualError
        return value, canonical(value, parsed=True).decode() if "e" in text else text
    except (ValueError, AacbenchError) as error:
        raise UnusualError from error


def _items(text: str, line: str) -> tuple[list[Any], str]:
    inner = line + " "
    if not text.startswith("[" + inner) or not text.endswith(line + "]"):
        raise UnusualError
    # Lines of greater depth begin with a further space.
    parts = re.split(f",{inner}(?! )", text[len(inner) + 1 : -len(line) - 1])
    items = [_value(part, inner) for part in parts]
    return [value for value, _ in items], "[" + ",".join([spelt for _, spelt in items]) + "]"
