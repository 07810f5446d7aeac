"""Arrays stored on disk under a key: written atomically, checked when read, and read by memory map.

Several processes may read and write one key at the same time: the first rename wins, and all write the same content.
"""

import hashlib
import io
import json
import mmap
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from aacbench.util.canonical import digest as digest_of
from aacbench.util.cleanup import UNFINISHED, abandoned, is_scratch, scratch_name

FORMAT = "aacbench.artifact/1"


@dataclass(frozen=True, eq=False, slots=True)
class Artifact:
    """Read-only arrays and the few facts stored with them."""

    arrays: Mapping[str, npt.NDArray[Any]]
    facts: Mapping[str, Any]


def key_of(made_from: Mapping[str, Any]) -> str:
    return digest_of(made_from, FORMAT)


def read(root: Path, key: str) -> Artifact | None:
    """Return the artifact under the key, or None. A damaged one is deleted; one that is only unreadable now is not."""
    folder = _folder(root, key)
    try:
        return _read(folder) if folder.exists() else None
    except (FileNotFoundError, NotADirectoryError):
        drop(root, key)
    except (OSError, MemoryError):  # such as too many open files: the entry may be intact
        pass
    except Exception:  # numpy and json raise many kinds of errors on damaged files
        drop(root, key)
    return None


def holds(root: Path, key: str) -> bool:
    return _folder(root, key).is_dir()


@contextmanager
def scratch(root: Path) -> Iterator[Path | None]:
    """Yield a folder for arrays too large for memory, removed afterwards; None where none can be made.

    `write` moves memory maps of `.npy` files in it to their place, so that they are not written twice.
    """
    folder = root / "scratch" / scratch_name(UNFINISHED)
    try:
        folder.mkdir(parents=True)
    except OSError:
        yield None
        return
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write(root: Path, key: str, arrays: Mapping[str, npt.NDArray[Any]], facts: Mapping[str, Any]) -> None:
    """Store arrays and facts under the key; raises OSError if nothing was stored."""
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
        if not folder.is_dir():  # otherwise another process was first
            raise


def drop(root: Path, key: str) -> None:
    folder = _folder(root, key)
    aside = folder.with_name(scratch_name(UNFINISHED))
    try:
        folder.rename(aside)  # first, so that no other process reads a half-deleted entry
    except OSError:
        return
    shutil.rmtree(aside, ignore_errors=True)


def _folder(root: Path, key: str) -> Path:
    return root / key[:2] / key


def _read(folder: Path) -> Artifact:
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    if meta["format"] != FORMAT:
        raise ValueError(f"{folder} has an unknown format")
    # Plain arrays over the maps: kernels dispatch on numpy's memmap class more slowly.
    arrays = {}
    for name, digest in meta["sha256"].items():
        file = folder / f"{name}.npy"
        arrays[name] = np.asarray(np.load(file, mmap_mode="r"))
        if not is_sound(file, arrays[name], digest):
            raise ValueError(f"{folder} is damaged")
    return Artifact(arrays, meta["facts"])


Version = tuple[str, tuple[int, ...]]  # the digest of an array, and what changes when its file does
_CHECKED: set[Version] = set()  # which need not be hashed again in this process: a pool may be gigabytes


def is_sound(file: Path, array: npt.NDArray[Any], digest: str) -> bool:
    """Return whether the array that was read from a file has this digest."""
    version = version_of(file, digest)
    if version not in _CHECKED and sha256_of(array) == digest:
        _CHECKED.add(version)
    return version in _CHECKED


def version_of(file: Path, digest: str) -> Version:
    """Return a value that changes when the file does.

    It does not if the disk fails, if times are forged, or if the same bytes are overwritten within a tick of the clock.
    """
    status = file.stat()
    return digest, (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def trust(versions: Iterable[Version]) -> None:
    """Do not hash these in this process: the one that sent them has written or checked them just now."""
    _CHECKED.update(versions)


def _fill(folder: Path, arrays: Mapping[str, npt.NDArray[Any]], facts: Mapping[str, Any]) -> None:
    for name, array in arrays.items():
        file = folder / f"{name}.npy"
        if isinstance(array, np.memmap) and isinstance(array.base, mmap.mmap) and _in_scratch(array):
            array.flush()
            Path(str(array.filename)).rename(file)  # the map stays valid
            continue
        with file.open("wb") as stream:
            np.save(stream, array, allow_pickle=False)
            stream.flush()
            os.fsync(stream.fileno())
    digests = {name: sha256_of(array) for name, array in arrays.items()}
    with (folder / "meta.json").open("w", encoding="utf-8") as text:
        json.dump({"format": FORMAT, "sha256": digests, "facts": dict(facts)}, text, indent=1)
        text.flush()
        os.fsync(text.fileno())


def npy_bytes(array: npt.NDArray[Any]) -> bytes:
    """Return an array as an .npy file of version 1.0, which is the same for the same array."""
    stream = io.BytesIO()
    npy.write_array(stream, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def _in_scratch(array: np.memmap[Any, Any]) -> bool:
    return is_scratch(Path(str(array.filename)).parent)


def sha256_of(array: npt.NDArray[Any]) -> str:
    canonical = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))  # usually no copy
    digest = hashlib.sha256(f"{canonical.dtype.str}{array.shape}".encode() + b"\0")
    digest.update(canonical.data)
    return digest.hexdigest()


@cache
def remove_abandoned(root: Path) -> None:
    """Delete unfinished folders of killed processes. Cached, so that each process does it once per root."""
    for folder in root.glob(f"*/{UNFINISHED}*"):
        if is_scratch(folder) and abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)
