"""The tables of a cell, `queries.csv` and `timings.csv`: fixed bytes when written, read by column name."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt

from aacbench.errors import DataError
from aacbench.graphs.record import Array
from aacbench.run.records import CORNER, TEST, VALIDATION

TEXT, WHOLE, NUMBER = "text", "whole number", "number"
OK, UNREACHABLE = "ok", "unreachable"  # the outcomes of queries
QUERIES = {
    "query": WHOLE,
    "split": TEXT,
    "source": WHOLE,
    "target": WHOLE,
    "outcome": TEXT,
    "cost": NUMBER,
    "reference_cost": NUMBER,
    "path_cost": NUMBER,
    "path_edges": WHOLE,
    "expanded": WHOLE,
    "reexpanded": WHOLE,
    "generated": WHOLE,
    "stale_pops": WHOLE,
    "h_calls": WHOLE,
    "h_source": NUMBER,
    "below_optimum": WHOLE,
    "on_optimum": WHOLE,
    "h_work": WHOLE,
}
ZERO_IF_ABSENT = ("h_work",)  # rows of older versions do not have it
TIMINGS = {"query": WHOLE, "repetition": WHOLE, "order": WHOLE, "wall_ns": WHOLE}

_WHOLE = re.compile(r"-?[0-9]+", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?|-?inf|nan", re.ASCII)
_SHORT_WHOLES = re.compile(r"(?:-?[0-9]{1,18}\n)*", re.ASCII)
_WORD = re.compile(r"[!#-+\--~]*")  # ASCII that needs no quotes in CSV
# In nearly all tables; the longest first, since one may be a part of another.
USUAL_WORDS = (UNREACHABLE, VALIDATION, CORNER, TEST, OK)
_USUAL_BYTES = tuple(word.encode() for word in USUAL_WORDS)
_WORDS = np.array(USUAL_WORDS, dtype=object)
MOST_DIGITS = 12  # of a number, so that sums of millions of them fit 64 bits
_TOO_LARGE = 10**18  # so that reading it may have gone beyond 64 bits
_INT32, _INT64 = np.iinfo(np.int32), np.iinfo(np.int64)


def write_queries(columns: Mapping[str, npt.ArrayLike]) -> bytes:
    """Return `queries.csv` from one array per column; costs are written as whole numbers if their array is integer."""
    return write_table(QUERIES, columns, "queries.csv")


def write_timings(columns: Mapping[str, npt.ArrayLike]) -> bytes:
    """Return `timings.csv` from one array per column, in the order of execution."""
    return write_table(TIMINGS, columns, "timings.csv")


def read_queries(data: bytes, where: str = "queries.csv") -> Mapping[str, Array]:
    """Return one array per column: str objects, int64 counts, and costs as int64 or, if any has a point, float64."""
    return read_table(QUERIES, data, where)


def read_timings(data: bytes, where: str = "timings.csv") -> Mapping[str, Array]:
    return read_table(TIMINGS, data, where)


def write_table(kinds: Mapping[str, str], columns: Mapping[str, npt.ArrayLike], name: str) -> bytes:
    """Return a table with the columns of these kinds as CSV."""
    if set(columns) != set(kinds):
        raise DataError(f"{name} must have the columns {', '.join(kinds)}, not {', '.join(columns)}.")
    arrays = {column: np.asarray(columns[column]) for column in kinds}
    if len({array.shape for array in arrays.values()}) > 1 or next(iter(arrays.values())).ndim != 1:
        raise DataError(f"The columns of {name} must have the same length.")
    texts = [_texts(arrays[column], kind, f"Column {column} of {name}") for column, kind in kinds.items()]
    lines = [",".join(kinds), *(",".join(row) for row in zip(*texts, strict=True))]
    return ("\n".join(lines) + "\n").encode()


def _texts(array: Array, kind: str, where: str) -> list[str]:
    if not array.size:
        return []
    values = array.tolist()
    types = {TEXT: (str,), WHOLE: (int,), NUMBER: (int, float)}[kind]
    for value in values:
        if not isinstance(value, types) or isinstance(value, bool):
            raise DataError(f"{where}: {value!r} is not a {kind}.")
        if isinstance(value, str) and not _WORD.fullmatch(value):
            raise DataError(f"{where}: {value!r} is not one plain word.")
    return values if kind == TEXT else [repr(value) for value in values]


def read_table(kinds: Mapping[str, str], data: bytes, where: str) -> Mapping[str, Array]:
    """Return one array per column of a table, found by its name."""
    return _read_wholes(kinds, data) or read_any(kinds, data, where)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The columns of a table: its first line, the place and kind of each, and how a usual line looks without digits."""

    header: bytes
    places: Mapping[str, tuple[int, str]]
    texts: int
    shapes: frozenset[bytes]


@cache
def _layout(kinds: tuple[tuple[str, str], ...]) -> _Layout:
    fields = [_USUAL_BYTES if kind == TEXT else (b"",) for _, kind in kinds]
    return _Layout(
        header=",".join(name for name, _ in kinds).encode(),
        places={name: (place, kind) for place, (name, kind) in enumerate(kinds)},
        texts=sum(kind == TEXT for _, kind in kinds),
        shapes=frozenset(b",".join(line) for line in product(*fields)),
    )


class _Wholes(Mapping[str, Array]):
    """A table of whole numbers and usual words, in one array: studies of very many cells are held in memory."""

    __slots__ = ("_numbers", "_places")

    def __init__(self, layout: _Layout, numbers: Array) -> None:
        self._places = layout.places
        self._numbers = numbers.astype(np.int32) if numbers.max() <= _INT32.max else numbers

    def __getitem__(self, name: str) -> Array:
        place, kind = self._places[name]
        column = self._numbers[:, place]
        return _WORDS[column] if kind == TEXT else column.astype(np.int64)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _read_wholes(kinds: Mapping[str, str], data: bytes) -> _Wholes | None:
    """Return a table as nearly all are, six times as fast; None if it has other columns or words, or no rows.

    Numbers must have no sign, and less than 64 bits.
    """
    layout = _layout(tuple(kinds.items()))
    header, _, body = data.partition(b"\n")
    *shape, rest = body.translate(None, b"0123456789").split(b"\n")
    if header != layout.header or rest or not shape or not layout.shapes.issuperset(shape):
        return None
    words = [(place, word) for place, word in enumerate(_USUAL_BYTES) if word in body]
    if sum(body.count(b",%s," % word) for _, word in words) != layout.texts * len(shape):
        return None  # a digit beside a word
    for place, word in words:
        body = body.replace(word, b"%d" % place)
    body = body.replace(b"\n", b",")
    if b",," in body or not body[:1].isdigit() or not body.endswith(b","):
        return None
    numbers = np.fromstring(body, dtype=np.int64, sep=",").reshape(-1, len(kinds))
    return _Wholes(layout, numbers) if numbers.max() < _TOO_LARGE else None


@dataclass(frozen=True, slots=True)
class _Joined:
    """The text of many usual `queries.csv`, where its fields end, and how many rows each table has."""

    text: Array
    ends: Array
    rows: Sequence[int]

    def wholes(self, name: str) -> Array | None:
        """Return the numbers of a column of all rows, or None if one is not of a few digits alone."""
        return _wholes_at(self.text, *self._fields(name))

    def are(self, name: str, word: str) -> Array:
        return _are_at(self.text, *self._fields(name), word.encode())

    def sums(self, values: Array) -> list[int]:
        """Return the sum of each table's values."""
        sums: list[int] = np.add.reduceat(values, np.cumsum([0, *self.rows[:-1]]), dtype=np.int64).tolist()
        return sums

    def _fields(self, name: str) -> tuple[Array, Array]:
        place, ends = list(QUERIES).index(name), self.ends.reshape(-1, len(QUERIES))
        before = ends[:, place - 1] if place else np.concatenate(([-1], ends[:-1, -1]))
        return before + 1, ends[:, place]


def _joined(tables: Sequence[bytes]) -> _Joined | None:
    """Return many `queries.csv` as one, without their first lines; None if any is unusual."""
    header, bodies = ",".join(QUERIES).encode() + b"\n", [table.partition(b"\n")[2] for table in tables]
    rows, joined = [body.count(b"\n") for body in bodies], b"".join(bodies)
    if not all(rows) or b'"' in joined or not all(t.startswith(header) and t.endswith(b"\n") for t in tables):
        return None
    text = np.frombuffer(joined, np.uint8)
    ends = np.flatnonzero((text == ord(",")) | (text == ord("\n")))
    if len(ends) != sum(rows) * len(QUERIES) or (text[ends[len(QUERIES) - 1 :: len(QUERIES)]] != ord("\n")).any():
        return None
    return _Joined(text, ends, rows)


def totals_of(
    tables: Sequence[bytes], splits: Sequence[str], columns: Sequence[str]
) -> list[dict[tuple[str, str], tuple[int, int]]] | None:
    """Return the sum of columns over each split and its queries, for many `queries.csv`, read at once.

    Return None if any is unusual. Columns must be of whole numbers.
    """
    if (joined := _joined(tables)) is None:
        return None
    values = [joined.wholes(column) for column in columns]
    totals = []
    for split in splits:
        inside = joined.are("split", split)
        sizes = joined.sums(inside)
        for value in values:
            if value is None:
                return None
            totals.append(zip(joined.sums(np.where(inside, value, 0)), sizes, strict=True))
    names = list(product(splits, columns))
    return [dict(zip(names, each, strict=True)) for each in zip(*totals, strict=True)]


def counts_of(tables: Sequence[bytes], split: str, column: str) -> list[tuple[Array, Array] | None]:
    """Return query, source and target of each row of a split, and its count, for many `queries.csv`, read at once.

    A table in which a query was not answered has None instead; so have all if any is unusual.
    """
    joined = _joined(tables)
    found = [joined.wholes(name) for name in ("query", "source", "target", column)] if joined else []
    columns = [values for values in found if values is not None]
    if joined is None or len(columns) < len(found):
        return [None] * len(tables)
    inside = joined.are("split", split)
    answered = [not missing for missing in joined.sums(inside & ~joined.are("outcome", OK))]
    *names, counts = (values[inside] for values in columns)
    places = np.cumsum(joined.sums(inside))[:-1]
    parts = zip(np.split(np.stack(names, axis=1), places), np.split(counts, places), strict=True)
    return [part if ok else None for ok, part in zip(answered, parts, strict=True)]


def _wholes_at(text: Array, begin: Array, end: Array) -> Array | None:
    """Return the numbers written between these places, or None if one is not of a few digits alone."""
    length = end - begin
    if length.min() < 1 or length.max() > MOST_DIGITS:
        return None
    found = np.zeros(len(begin), np.int64)
    for place in range(int(length.max())):
        inside = place < length
        digit = text[np.where(inside, begin + place, begin)].astype(np.int64) - ord("0")
        if ((digit < 0) | (digit > 9)).any():
            return None
        found = np.where(inside, 10 * found + digit, found)
    return found


def _are_at(text: Array, begin: Array, end: Array, word: bytes) -> Array:
    found = end - begin == len(word)
    for place, letter in enumerate(word):
        found &= text[np.where(found, begin + place, begin)] == letter
    return found


def read_any(kinds: Mapping[str, str], data: bytes, where: str) -> dict[str, Array]:
    """The same for any table, and an error that names the line where it is none."""
    lines, rows = _lines(data, where)
    header = rows[0] if rows else []
    for column in kinds:
        if header.count(column) != 1 and (column not in ZERO_IF_ABSENT or column in header):
            raise DataError(f"{where}, line 1: the column {column!r} must appear exactly once.")
    for line, row in zip(lines[1:], rows[1:], strict=True):
        if len(row) != len(header):
            raise DataError(f"{where}, line {line}: {len(row)} values where {len(header)} are expected.")
    by_name = dict(zip(header, zip(*rows[1:], strict=True), strict=True)) if rows[1:] else dict.fromkeys(header, ())
    zeros = ("0",) * len(rows[1:])
    return {
        column: _values(kind, by_name.get(column, zeros), lines[1:], column, where) for column, kind in kinds.items()
    }


def _lines(data: bytes, where: str) -> tuple[list[int], list[list[str]]]:
    """Return the line numbers and the values of all rows that are not empty."""
    try:
        reader = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
        found = [(reader.line_num, row) for row in reader if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{where} cannot be read: {error}.") from error
    return [line for line, _ in found], [row for _, row in found]


def _are_short_wholes(texts: Sequence[str]) -> bool:
    """Return whether all are whole numbers that fit 64 bits, as nearly every column is; checked all at once."""
    joined = "".join(f"{text}\n" for text in texts)
    return joined.count("\n") == len(texts) and _SHORT_WHOLES.fullmatch(joined) is not None


def _values(kind: str, texts: Sequence[str], lines: Sequence[int], column: str, where: str) -> Array:
    if kind == TEXT:
        return np.array(texts, dtype=object)
    if _are_short_wholes(texts):
        return np.array(list(map(int, texts)), dtype=np.int64)
    whole = kind == WHOLE or all(_WHOLE.fullmatch(text) for text in texts)
    for line, text in zip(lines, texts, strict=True):
        if not (_WHOLE if whole else _NUMBER).fullmatch(text):
            raise DataError(f"{where}, line {line}: the {column} {text!r} is not a {kind}.")
        if whole and (len(text) > 20 or not _INT64.min <= int(text) <= _INT64.max):
            raise DataError(f"{where}, line {line}: the {column} {text} is too large.")
    return np.array([int(text) if whole else float(text) for text in texts], dtype=np.int64 if whole else np.float64)
