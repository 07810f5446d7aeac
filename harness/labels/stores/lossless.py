"""Lossless stores of integer labels: for16, cover, and packed, which takes the smallest of several forms."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from aacbench.contract.method import LabelHeuristic, Unsupported
from aacbench.graphs.record import Array, frozen
from aacbench.labels.stores.cells import bases_of, cell_starts, index_bytes, index_of, offsets_of
from aacbench.labels.stores.cover import vertex_cover
from aacbench.labels.stores.grid import LEVELS, on_grid
from aacbench.labels.stores.selection import Selection
from aacbench.search.networks import Network
from aacbench.search.packed import FAR, NIBBLE


@dataclass(frozen=True, slots=True)
class Form:
    """Whether only a vertex cover has rows, and how many bits an offset has."""

    cover: bool
    bits: int


FORMS: Mapping[str, tuple[Form, ...]] = {
    "for16": (Form(False, 16),),
    "cover": (Form(True, 32),),
    "packed": tuple(Form(cover, bits) for cover in (False, True) for bits in (4, 8, 16, 32)),
}


@dataclass(frozen=True, eq=False, slots=True)
class Sized:
    """A form with what determines its bytes: the vertices that have rows, and the rows that begin a cell."""

    form: Form
    columns: int
    cover: Array
    starts: Array

    @property
    def cells(self) -> int:
        return int(self.starts.sum())

    @property
    def indexed(self) -> bool:
        """Whether rows and cells must be looked up."""
        return self.cells > 1 or not self.cover.all()

    @property
    def nbytes(self) -> int:
        row = (self.columns * self.form.bits + 7) // 8
        index = index_bytes(len(self.cover)) if self.indexed else 0
        return len(self.starts) * row + self.cells * self.columns * 4 + index


@dataclass(frozen=True, eq=False, slots=True)
class Lossless:
    """The labels of a selection in one of several forms; float weights are first rounded down to a grid."""

    network: Network
    chosen: Selection
    forms: tuple[Form, ...]
    units: Mapping[str, float]

    @classmethod
    def of(cls, network: Network, chosen: Selection, store: str) -> "Lossless | Unsupported":
        if not network.graph.integral:
            grids = (on_grid(network, chosen, levels) for levels in LEVELS)
            made = [cls(network, moved, FORMS[store], units) for moved, units in grids]
            return min(made, key=lambda one: one.nbytes(len(chosen)))  # of equals, the finer grid
        farthest = max(int(chosen.pool.forward.max()), int(chosen.pool.backward.max()))
        if farthest >= FAR:
            return Unsupported(
                f"{store} labels are for distances below 2^30, and some are {farthest}; use labels=exact"
            )
        return cls(network, chosen, FORMS[store], {})

    def nbytes(self, count: int) -> int:
        """Return the bytes of all arrays with the first `count` of the selection."""
        return self._smallest(self.chosen.first(count)).nbytes

    def encode(self, count: int) -> LabelHeuristic:
        """Return the heuristic with the first `count` of the selection."""
        chosen = self.chosen.first(count)
        sized = self._smallest(chosen)
        kind = {"nibbles": int(sized.form.bits == NIBBLE), "cover": int(sized.form.cover)}
        settings = {**chosen.columns(), **kind, **self.units}
        facts = {"bits": sized.form.bits, "rows": len(sized.starts), "cells": sized.cells}
        return LabelHeuristic(encoded(chosen.table(self.network), sized), "packed", settings, facts=facts)

    def _smallest(self, chosen: Selection) -> Sized:
        sizes = _sizes(self.network, chosen.table(self.network), chosen.landmarks(), self.forms)
        return min(sizes, key=lambda sized: sized.nbytes)


def _sizes(network: Network, table: Array, landmarks: Array, forms: tuple[Form, ...]) -> Iterator[Sized]:
    for covered in sorted({form.cover for form in forms}):
        cover = vertex_cover(network, landmarks) if covered else np.ones(len(table), dtype=bool)
        rows = np.ascontiguousarray(table[cover])
        for form in forms:
            if form.cover == covered:
                yield Sized(form, table.shape[1], cover, cell_starts(rows, (1 << form.bits) - 2))


def encoded(table: Array, sized: Sized) -> dict[str, Array]:
    """Return the arrays of the kernel `packed` for a table of labels in the network's order."""
    rows = table[sized.cover]
    bases = bases_of(rows, sized.starts)
    index = index_of(sized.cover, sized.starts) if sized.indexed else np.zeros(0, dtype=np.uint64)
    offsets = offsets_of(rows, sized.starts, bases, sized.form.bits)
    return {
        "offsets": frozen(offsets, offsets.dtype),
        "bases": frozen(bases, np.int32),
        "index": frozen(index, np.uint64),
    }
