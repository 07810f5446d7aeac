"""Pair the rows of two methods: expansions by seed and query, and how many queries were left out."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError

Array = npt.NDArray[Any]
Expansions = Mapping[Hashable, int | None]  # by query; None if the query was not answered


class Counts(Mapping[Hashable, int | None]):
    """Counts of queries that were all answered, in an array with the place of each; many share their `places`."""

    __slots__ = ("counts", "places")

    def __init__(self, places: Mapping[Hashable, int], counts: Array) -> None:
        self.places = places
        self.counts = counts

    def __getitem__(self, query: Hashable) -> int:
        return int(self.counts[self.places[query]])

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


def aligned(rows: Sequence[Expansions]) -> Array | None:
    """Return a table with a column per query if all rows are of the same queries and these were answered; else None."""
    first = rows[0] if rows else None
    if not isinstance(first, Counts):
        return None
    same = [
        row for row in rows if isinstance(row, Counts) and (row.places is first.places or row.places == first.places)
    ]
    return np.array([row.counts for row in same]) if len(same) == len(rows) else None


@dataclass(frozen=True, slots=True)
class MethodRows:
    """The rows of a method by seed; those of a deterministic method's one seed stand for every seed."""

    name: str
    by_seed: Mapping[int, Expansions]
    deterministic: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Paired:
    """Expansions of A and B with a row per seed and a column per query, and Dijkstra's with a value per query.

    If both methods are deterministic there is one row and `seeds` is empty.
    """

    a: Array
    b: Array
    base: Array | None
    seeds: tuple[int, ...]
    left_out: int
    unpaired_seeds: tuple[int, ...]

    @property
    def queries(self) -> int:
        return int(self.a.shape[1])


def pair(a: MethodRows, b: MethodRows, base: Expansions | None = None) -> Paired:
    """Keep the queries that both methods (and Dijkstra, if its rows are given) answered with every seed."""
    pairs, seeds, unpaired = _by_seed(a, b)
    table = aligned([side for two in zip(*pairs, strict=True) for side in two] + ([base] if base is not None else []))
    if table is not None:
        count = len(pairs)
        return Paired(table[:count], table[count : 2 * count], None if base is None else table[-1], seeds, 0, unpaired)
    every = list(dict.fromkeys(query for sides in pairs for side in sides for query in side))
    needed = [side for sides in pairs for side in sides] + ([base] if base is not None else [])
    kept = [query for query in every if all(side.get(query) is not None for side in needed)]
    return Paired(
        a=_table(a.name, [one for one, _ in pairs], kept),
        b=_table(b.name, [other for _, other in pairs], kept),
        base=None if base is None else _table("dijkstra", [base], kept)[0],
        seeds=seeds,
        left_out=len(every) - len(kept),
        unpaired_seeds=unpaired,
    )


def _by_seed(
    a: MethodRows, b: MethodRows
) -> tuple[list[tuple[Expansions, Expansions]], tuple[int, ...], tuple[int, ...]]:
    if not a.by_seed or not b.by_seed:
        raise UsageError(f"{b.name if a.by_seed else a.name} has no rows to compare.")
    first_a, first_b = next(iter(a.by_seed.values())), next(iter(b.by_seed.values()))
    if a.deterministic and b.deterministic:
        return [(first_a, first_b)], (), ()
    rows_a = dict.fromkeys(b.by_seed, first_a) if a.deterministic else a.by_seed
    rows_b = dict.fromkeys(a.by_seed, first_b) if b.deterministic else b.by_seed
    common = tuple(seed for seed in rows_a if seed in rows_b)
    if not common:
        raise UsageError(f"{a.name} and {b.name} have no seed in common; run both with the same seeds.")
    return [(rows_a[seed], rows_b[seed]) for seed in common], common, tuple(sorted(set(rows_a) ^ set(rows_b)))


def _table(name: str, rows: Sequence[Expansions], queries: Sequence[Hashable]) -> Array:
    counts = [[row[query] for query in queries] for row in rows]
    if not all(_is_count(value) for row in counts for value in row):
        raise UsageError(f"The expansions of {name} must be whole numbers from 0 to below 2^63; check its rows.")
    return np.array(counts, dtype=np.int64).reshape(len(rows), len(queries))


def _is_count(value: Any) -> bool:
    return bool(0 <= value < 2**63 and value == int(value))  # false for nan
