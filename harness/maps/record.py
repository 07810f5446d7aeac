"""The frozen records of a map set: the maps of each split, their cell costs as integers, and their labels."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from aacbench.errors import DataError, UsageError
from aacbench.graphs.record import Array

TRAIN, VALIDATION, CALIBRATION, TEST = SPLITS = ("train", "validation", "calibration", "test")
TENTH, FINE = 0.1, 2.0**-11  # the values of one unit of cost
LEAST_SIDE, MOST_SIDE = 4, 64
CHANNELS = 3


@dataclass(frozen=True, eq=False, slots=True)
class Maps:
    """Maps of one split: `images` (n, rows, columns, 3) uint8, `costs` (n, side, side) int32 in units.

    `paths` (n, side, side) uint8 mark the cells of a shortest path from corner to corner; None where there are none.
    """

    images: Array
    costs: Array
    paths: Array | None = None

    def __len__(self) -> int:
        return len(self.costs)

    def first(self, count: int) -> "Maps":
        return Maps(self.images[:count], self.costs[:count], None if self.paths is None else self.paths[:count])

    def arrays(self) -> dict[str, Array]:
        arrays = {"images": self.images, "costs": self.costs}
        return arrays if self.paths is None else {**arrays, "paths": self.paths}


@dataclass(frozen=True, eq=False)  # without slots, which `cached_property` cannot have
class MapSet:
    """Maps of one size, by split. A cost times `unit` is in the data set's own scale.

    `warnings` are what a reader found that does not make the set unusable.
    """

    name: str
    side: int
    pixels: int
    unit: float
    splits: Mapping[str, Maps]
    warnings: tuple[str, ...] = ()

    @property
    def cells(self) -> int:
        return self.side * self.side

    @property
    def labelled(self) -> bool:
        return all(maps.paths is not None for maps in self.splits.values())

    def counts(self) -> dict[str, int]:
        return {split: len(maps) for split, maps in self.splits.items()}

    def take(self, counts: Mapping[str, int]) -> "MapSet":
        """Return the first maps of each split."""
        for split, count in counts.items():
            there = len(self.splits[split])
            if count > there:
                raise UsageError(
                    f"{self.name} has {there} {split} maps, not {count}; lower splits.{split} to {there} or less."
                )
        return replace(self, splits={split: self.splits[split].first(counts[split]) for split in SPLITS})

    @cached_property
    def digest(self) -> str:
        """The sha256 of all arrays and of what they mean, without the name."""
        digest = hashlib.sha256(b"aacbench.maps/1\0")
        head = {"side": self.side, "pixels": self.pixels, "unit": self.unit, "counts": self.counts()}
        digest.update(json.dumps(head, sort_keys=True).encode() + b"\0")
        for name, array in self._arrays():
            digest.update(name.encode() + b"\0")
            digest.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).data)
        return digest.hexdigest()

    def _arrays(self) -> Iterator[tuple[str, Array]]:
        for split in SPLITS:
            yield from ((f"{split}.{name}", array) for name, array in self.splits[split].arrays().items())


def checked(maps: MapSet) -> MapSet:
    """Return the same set; refuse arrays that do not fit together."""
    side, wide = maps.side, maps.side * maps.pixels
    if set(maps.splits) != set(SPLITS):
        raise DataError(f"{maps.name} must have the splits {', '.join(SPLITS)}, not {', '.join(maps.splits)}.")
    if not LEAST_SIDE <= side <= MOST_SIDE or maps.pixels < 1 or not maps.unit > 0:
        raise DataError(f"{maps.name} must have from {LEAST_SIDE} to {MOST_SIDE} cells a side, and a positive unit.")
    for split, found in maps.splits.items():
        count = len(found.costs)
        wanted = {"images": (np.uint8, (count, wide, wide, CHANNELS)), "costs": (np.int32, (count, side, side))}
        wanted["paths"] = (np.uint8, (count, side, side))
        for name, array in found.arrays().items():
            dtype, shape = wanted[name]
            if array.dtype != dtype or array.shape != shape:
                told = f"must be {np.dtype(dtype)} {shape}, not {array.dtype} {array.shape}"
                raise DataError(f"The {name} of the {split} maps of {maps.name} {told}.")
        if count and found.costs.min() < 1:
            raise DataError(f"A {split} map of {maps.name} has a cost below 1; costs are whole positive units.")
    return maps
