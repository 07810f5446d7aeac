"""Map sets as nine .npy files in a folder, the form of the original Warcraft set: a checking reader, and a writer."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from aacbench.errors import DataError, MissingDataError
from aacbench.graphs.fetch import is_file
from aacbench.graphs.record import Array
from aacbench.maps.grid import solve
from aacbench.maps.record import (
    CALIBRATION,
    CHANNELS,
    FINE,
    LEAST_SIDE,
    MOST_SIDE,
    TENTH,
    TEST,
    TRAIN,
    VALIDATION,
    Maps,
    MapSet,
)
from aacbench.util.array_store import npy_bytes
from aacbench.util.atomic_io import make_folder, replace_file, storing

IMAGES, WEIGHTS, PATHS = KINDS = ("maps", "vertex_weights", "shortest_paths")
PARTS = ("train", "val", "test")
LARGEST_WEIGHT = 65504.0  # the largest number of float16
TOO_DEAR = 0.01  # the share of labels that may cost more than the optimum


def file_name(part: str, kind: str) -> str:
    return f"{part}_{kind}.npy"


def images_of(folder: Path) -> dict[str, Array]:
    """Return the images of each split of a folder that was checked before."""
    found = {part: _images(folder / file_name(part, IMAGES)) for part in PARTS}
    half = len(found["val"]) // 2
    return {
        TRAIN: found["train"],
        VALIDATION: found["val"][:half],
        CALIBRATION: found["val"][half:],
        TEST: found["test"],
    }


def read_folder(folder: Path, name: str) -> MapSet:
    """Read and check the files of a folder; `val` is cut in two halves, for validation and for calibration.

    Files of shortest paths may be missing, but only all of them. Images are mapped into memory, not read.
    """
    files = {part: _part_files(folder, part) for part in PARTS}
    images = {part: _images(found[IMAGES]) for part, found in files.items()}
    shape = images[TRAIN].shape
    side = _side(files[TRAIN][WEIGHTS])
    unit, costs = _costs({part: (found[WEIGHTS], _array(found[WEIGHTS])) for part, found in files.items()})
    maps = {}
    warnings: list[str] = []
    for part, found in files.items():
        _check_shapes(found, images[part], costs[part], shape, side)
        paths = _paths(found[PATHS], costs[part].shape) if PATHS in found else None
        if paths is not None:
            warnings += _check_labels(found[PATHS], costs[part], paths)
        maps[part] = Maps(images[part], costs[part], paths)
    warnings += _duplicates(images)
    return MapSet(name, side, shape[1] // side, unit, _cut(maps), tuple(warnings))


def write_folder(maps: MapSet, folder: Path) -> list[Path]:
    """Write a set as files; validation and calibration maps, which must be equally many, become `val`."""
    counts = maps.counts()
    if counts[VALIDATION] != counts[CALIBRATION]:
        raise DataError(
            f"{maps.name} has {counts[VALIDATION]} validation and {counts[CALIBRATION]} calibration maps; files have "
            f"equally many of both."
        )
    written = []
    parts = {"train": (TRAIN,), "val": (VALIDATION, CALIBRATION), "test": (TEST,)}
    with storing(folder):
        make_folder(folder)
        for part, splits in parts.items():
            arrays = _arrays([maps.splits[split] for split in splits], maps.unit)
            for kind, array in arrays.items():
                written.append(folder / file_name(part, kind))
                replace_file(written[-1], npy_bytes(array))
    return written


def _part_files(folder: Path, part: str) -> dict[str, Path]:
    found = {kind: folder / file_name(part, kind) for kind in KINDS}
    if not is_file(found[PATHS]) and not any(is_file(folder / file_name(each, PATHS)) for each in PARTS):
        del found[PATHS]  # a set without labels
    for path in found.values():
        if not is_file(path):
            raise MissingDataError(f"{path} does not exist; a map set needs it beside the other files of its folder.")
    return found


def _array(path: Path) -> Array:
    try:
        found: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, SyntaxError) as error:
        raise DataError(f"{path} is not an .npy file of numbers ({str(error).rstrip('.')}).") from error
    return found


def _images(path: Path) -> Array:
    images = _array(path)
    if images.dtype != np.uint8:
        raise DataError(f"{path} has numbers of type {images.dtype}; images must be uint8.")
    if images.ndim != 4 or images.shape[1] != images.shape[2] or images.shape[3] != CHANNELS:
        raise DataError(f"{path} has the shape {images.shape}; images must be (maps, rows, rows, {CHANNELS}).")
    return images


def _side(path: Path) -> int:
    weights = _array(path)
    if weights.ndim != 3 or weights.shape[1] != weights.shape[2]:
        raise DataError(f"{path} has the shape {weights.shape}; weights must be (maps, side, side).")
    side = int(weights.shape[1])
    if not LEAST_SIDE <= side <= MOST_SIDE:
        raise DataError(f"{path} has maps of {side} cells a side; from {LEAST_SIDE} to {MOST_SIDE} are possible.")
    return side


def _check_shapes(found: Mapping[str, Path], images: Array, costs: Array, shape: tuple[int, ...], side: int) -> None:
    if images.shape[1:] != shape[1:]:
        raise DataError(f"{found[IMAGES]} has images of shape {images.shape[1:]}, the training images {shape[1:]}.")
    if costs.shape != (len(images), side, side):
        raise DataError(
            f"{found[WEIGHTS]} has the shape {costs.shape}, but {len(images)} images of {side} x {side} cells need "
            f"{(len(images), side, side)}."
        )
    if images.shape[1] % side or not images.shape[1]:
        raise DataError(
            f"{found[IMAGES]} has images of {images.shape[1]} pixels a side, which is no whole number for each of "
            f"{side} cells."
        )
    if not len(images):
        raise DataError(f"{found[IMAGES]} has no maps.")


def _costs(weights: Mapping[str, tuple[Path, Array]]) -> tuple[float, dict[str, Array]]:
    """Return the unit and the costs in units: tenths where every weight is a rounded tenth, else 2^-11."""
    for path, values in weights.values():
        if values.dtype.kind != "f":
            raise DataError(f"{path} has numbers of type {values.dtype}; weights must be float16, float32 or float64.")
        good = np.isfinite(values) & (values > 0) & (values <= LARGEST_WEIGHT)
        if not good.all():
            at = tuple(int(k) for k in np.argwhere(~good)[0])
            raise DataError(
                f"{path}, map {at[0]}, cell {at[1:]}: the weight {values[at]} is not a positive number of at most "
                f"{LARGEST_WEIGHT:g}."
            )
    tenths = all(_are_tenths(values) for _, values in weights.values())
    unit = TENTH if tenths else FINE
    costs = {part: np.rint(values.astype(np.float64) / unit).astype(np.int32) for part, (_, values) in weights.items()}
    for part, (path, values) in weights.items():
        if not costs[part].all():
            at = tuple(int(k) for k in np.argwhere(costs[part] == 0)[0])
            raise DataError(f"{path}, map {at[0]}, cell {at[1:]}: the weight {values[at]} is below half of 2^-11.")
    return unit, costs


def _are_tenths(values: Array) -> bool:
    """Return whether every value is what its type makes of a multiple of 0.1, such as 0.79980 for 0.8."""
    rounded = (np.rint(values.astype(np.float64) * 10) / 10).astype(values.dtype)
    return bool((rounded == values).all())


def _paths(path: Path, shape: tuple[int, ...]) -> Array:
    paths = _array(path)
    if paths.dtype.kind not in "biuf":
        raise DataError(f"{path} has values of type {paths.dtype}; paths must be numbers 0 and 1.")
    if paths.shape != shape:
        raise DataError(f"{path} has the shape {paths.shape}, but the weights have {shape}.")
    wrong = (paths != 0) & (paths != 1)
    if wrong.any():
        at = tuple(int(k) for k in np.argwhere(wrong)[0])
        raise DataError(f"{path}, map {at[0]}, cell {at[1:]}: {paths[at]} is neither 0 nor 1.")
    found = paths.astype(np.uint8)
    corners = np.flatnonzero((found[:, 0, 0] == 0) | (found[:, -1, -1] == 0))
    if len(corners):
        raise DataError(f"{path}, map {corners[0]}: the path does not have both corners.")
    for number, cells in enumerate(found):
        if not _is_connected(cells):
            raise DataError(f"{path}, map {number}: the path is not connected by steps to one of eight neighbours.")
    return found


def _is_connected(cells: Array) -> bool:
    """Return whether the marked cells are one piece: grow from the first corner until nothing is added."""
    left = {(int(row), int(column)) for row, column in np.argwhere(cells)}
    waiting = [(0, 0)]
    left.discard((0, 0))
    while waiting:
        row, column = waiting.pop()
        for near in [(row + i, column + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]:
            if near in left:
                left.remove(near)
                waiting.append(near)
    return not left


def _check_labels(path: Path, costs: Array, paths: Array) -> list[str]:
    """Compare the cost of each label with the optimum: a few that are too dear are told, many refused."""
    labelled = (costs * paths.astype(np.int64)).sum(axis=(1, 2))
    dear = np.flatnonzero(labelled != solve(costs).optima)
    told = f"{path}: {len(dear)} of {len(costs)} paths are not shortest"
    if len(dear) > TOO_DEAR * len(costs):
        raise DataError(f"{told}, the first that of map {dear[0]}; the files do not belong together.")
    return [f"{told}, the first that of map {dear[0]}."] if len(dear) else []


def _duplicates(images: Mapping[str, Array]) -> list[str]:
    """Count images that are in two files: what is learnt from one of them is no test of the other."""
    seen: dict[bytes, str] = {}
    count = 0
    for part, pictures in images.items():
        for key in {blake2b(picture.tobytes()).digest() for picture in pictures}:
            count += seen.setdefault(key, part) != part
    return [f"{count} images are in more than one of train, val and test."] if count else []


def _cut(maps: Mapping[str, Maps]) -> dict[str, Maps]:
    val = maps["val"]
    half = len(val) // 2
    rest = Maps(val.images[half:], val.costs[half:], None if val.paths is None else val.paths[half:])
    return {TRAIN: maps["train"], VALIDATION: val.first(half), CALIBRATION: rest, TEST: maps["test"]}


def _arrays(parts: Sequence[Maps], unit: float) -> dict[str, Array]:
    weights = np.concatenate([part.costs for part in parts]) * unit
    found = {IMAGES: np.concatenate([part.images for part in parts]), WEIGHTS: weights.astype(np.float16)}
    labels = [part.paths for part in parts if part.paths is not None]
    return found if len(labels) < len(parts) else {**found, PATHS: np.concatenate(labels)}
