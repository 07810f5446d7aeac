"""Arrays kept on disk under a key: written whole or not at all, checked when read, and read by memory map.

Any number of processes may read and write the same key at once: whoever renames first wins, and all wrote the same.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aacbench.util.canonical import digest as digest_of
from aacbench.util.cleanup import UNFINISHED, abandoned, is_scratch, scratch_name

FORMAT = "aacbench.artifact/1"


@dataclass(frozen=True, eq=False, slots=True)
class Artifact:
    """Read-only arrays and the few facts kept beside them."""

    arrays: Mapping[str, npt.NDArray[Any]]
    facts: Mapping[str, Any]


def key_of(made_from: Mapping[str, Any]) -> str:
    """The key of an artifact: the digest of everything that decides what it holds."""
    return digest_of(made_from, FORMAT)


def read(root: Path, key: str) -> Artifact | None:
    """What is kept under the key, or None; a damaged entry is dropped, one that cannot be read just now is not."""
    folder = _folder(root, key)
    try:
        return _read(folder) if folder.exists() else None
    except (FileNotFoundError, NotADirectoryError):
        drop(root, key)
    except (OSError, MemoryError):  # too many open files, no permission: the entry may be good
        pass
    except Exception:  # whatever a damaged file makes numpy or json say, its content is made anew
        drop(root, key)
    return None


def holds(root: Path, key: str) -> bool:
    """Whether something is kept under the key; only reading it tells whether it is whole."""
    return _folder(root, key).is_dir()


def write(root: Path, key: str, arrays: Mapping[str, npt.NDArray[Any]], facts: Mapping[str, Any]) -> None:
    """Keep arrays and facts under the key; an OSError means that nothing was kept."""
    folder = _folder(root, key)
    folder.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(root)
    unfinished = folder.with_name(scratch_name(UNFINISHED))
    try:
        unfinished.mkdir()
        _fill(unfinished, arrays, facts)
        unfinished.rename(folder)
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not folder.is_dir():  # else another process was first
            raise


def drop(root: Path, key: str) -> None:
    """Forget what is kept under the key."""
    folder = _folder(root, key)
    aside = folder.with_name(scratch_name(UNFINISHED))
    try:
        folder.rename(aside)  # first, so that no other process finds it half removed
    except OSError:
        return
    shutil.rmtree(aside, ignore_errors=True)


def _folder(root: Path, key: str) -> Path:
    return root / key[:2] / key


def _read(folder: Path) -> Artifact:
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    if meta["format"] != FORMAT:
        raise ValueError(f"{folder} has another format")
    # Plain arrays over the maps: kernels take numpy's memmap class too, but find their signature more slowly.
    arrays = {}
    for name, digest in meta["sha256"].items():
        file = folder / f"{name}.npy"
        arrays[name] = np.asarray(np.load(file, mmap_mode="r"))
        if (known := (digest, _state(file))) not in _CHECKED:
            if sha256_of(arrays[name]) != digest:
                raise ValueError(f"{folder} does not hold what was written there")
            _CHECKED.add(known)
    return Artifact(arrays, meta["facts"])


_CHECKED: set[tuple[str, tuple[int, ...]]] = set()  # what this process found whole: a pool may be gigabytes


def _state(file: Path) -> tuple[int, ...]:
    """What changes when a file does, by any means but a disk that fails or somebody who forges its times."""
    found = file.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _fill(folder: Path, arrays: Mapping[str, npt.NDArray[Any]], facts: Mapping[str, Any]) -> None:
    for name, array in arrays.items():
        with (folder / f"{name}.npy").open("wb") as stream:
            np.save(stream, array, allow_pickle=False)
            stream.flush()
            os.fsync(stream.fileno())
    digests = {name: sha256_of(array) for name, array in arrays.items()}
    with (folder / "meta.json").open("w", encoding="utf-8") as text:
        json.dump({"format": FORMAT, "sha256": digests, "facts": dict(facts)}, text, indent=1)
        text.flush()
        os.fsync(text.fileno())


def sha256_of(array: npt.NDArray[Any]) -> str:
    """The digest of an array's type, shape and little-endian content."""
    canonical = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))  # mostly no copy: a pool may be gigabytes
    digest = hashlib.sha256(f"{canonical.dtype.str}{array.shape}".encode() + b"\0")
    digest.update(canonical.data)
    return digest.hexdigest()


@cache
def remove_abandoned(root: Path) -> None:
    """A process that was killed leaves its unfinished folder.

    Cached: once per process is enough, and every write would pay for the walk.
    """
    for folder in root.glob(f"*/{UNFINISHED}*"):
        if is_scratch(folder) and abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)
