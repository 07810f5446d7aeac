"""What passes between a process and the one that rebuilds its heuristic: plain arrays on disk."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from aacbench.bundle.deploy import Deployed
from aacbench.bundle.inventory import memory_of
from aacbench.graphs.record import Array

_MAPPED_FROM = 2**20  # bytes; a smaller file is read faster than it is mapped


def save_arrays(folder: Path, arrays: Mapping[str, Array]) -> dict[str, str]:
    """Save arrays to files, the same memory once; returns the file of each name."""
    files: dict[str, str] = {}
    saved: dict[object, str] = {}
    for name, array in arrays.items():
        key = memory_of(array)
        if key not in saved:
            saved[key] = f"{name}.npy"
            np.save(folder / saved[key], np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
        files[name] = saved[key]
    return files


def load_arrays(folder: Path, files: Mapping[str, str]) -> dict[str, Array]:
    """The arrays of these files, large ones by memory map."""
    loaded = {file: load_array(folder / file) for file in set(files.values())}
    return {name: loaded[file] for name, file in files.items()}


def load_array(path: Path) -> Array:
    """One saved array."""
    mapped = path.stat().st_size >= _MAPPED_FROM
    found: Array = np.asarray(np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False))
    return found


def sampled_bounds(deployed: Deployed, rows: list[tuple[int, Array]]) -> Array:
    """h on these rows, one after the other."""
    return np.concatenate([deployed.many(us, target) for target, us in rows])
