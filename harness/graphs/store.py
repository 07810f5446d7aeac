"""Parsed graphs on disk, found by the digest of what they were made from and read back by memory map."""

import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.graphs.record import Array, Graph
from aacbench.locations import cache_folder

FORMAT = "aacbench.stored-graph/1"
_UNFINISHED = ".unfinished-"
_ABANDONED_AFTER_SECONDS = 24 * 3600


def key_of(made_from: Mapping[str, Any]) -> str:
    """The key of a graph: the digest of what it is made from, and of the code that makes it."""
    canonical = json.dumps(
        {"format": FORMAT, "sources": sources_digest(), **made_from}, sort_keys=True, separators=(",", ":")
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


@cache
def sources_digest() -> str:
    """The digest of every source file about graphs: other code may make another graph of the same file."""
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def read(key: str, name: str) -> Graph | None:
    """The graph kept under the key, or None; an entry that is damaged in any way is dropped."""
    folder = _folder(key)
    try:
        return _read(folder, name) if folder.exists() else None
    except Exception:  # whatever a damaged file makes numpy, json or the checks say, the graph is made anew
        _drop(folder)
        return None


def keep(key: str, graph: Graph, name: str) -> Graph:
    """Keep the graph and give it back as stored; where that is impossible, the graph itself."""
    try:
        _write(_folder(key), graph)
    except OSError:
        return replace(graph, name=name)
    return read(key, name) or replace(graph, name=name)


def _folder(key: str) -> Path:
    return cache_folder() / "graphs" / key[:2] / key


def _read(folder: Path, name: str) -> Graph:
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    arrays = {array: _mapped(folder / f"{array}.npy") for array in meta["arrays"]}
    graph = Graph(**arrays, name=name, declared_directed=meta["declared_directed"])
    if meta["format"] != FORMAT or graph.digest != meta["digest"]:
        raise ValueError(f"{folder} does not hold what was written there")
    return graph


def _mapped(path: Path) -> Array:
    # A plain array over the map: kernels take numpy's memmap class too, but find their signature more slowly.
    return np.asarray(np.load(path, mmap_mode="r"))


def _write(folder: Path, graph: Graph) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(folder.parent)
    unfinished = folder.with_name(f"{_UNFINISHED}{secrets.token_hex(8)}")
    try:
        unfinished.mkdir()
        _fill(unfinished, graph)
        unfinished.rename(folder)
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not folder.is_dir():  # else another process was first, and wrote the same
            raise


def _fill(folder: Path, graph: Graph) -> None:
    arrays = {"indptr": graph.indptr, "indices": graph.indices, "weights": graph.weights}
    if graph.coords is not None:
        arrays["coords"] = graph.coords
    for name, array in arrays.items():
        with (folder / f"{name}.npy").open("wb") as stream:
            np.save(stream, array, allow_pickle=False)
            stream.flush()
            os.fsync(stream.fileno())
    meta = {
        "format": FORMAT,
        "digest": graph.digest,
        "declared_directed": graph.declared_directed,
        "arrays": list(arrays),
    }
    with (folder / "meta.json").open("w", encoding="utf-8") as text:
        json.dump(meta, text, indent=1)
        text.flush()
        os.fsync(text.fileno())


def _drop(folder: Path) -> None:
    # Renamed first, so that no other process finds it half removed.
    aside = folder.with_name(f"{_UNFINISHED}{secrets.token_hex(8)}")
    try:
        folder.rename(aside)
    except OSError:
        return
    shutil.rmtree(aside, ignore_errors=True)


def _remove_abandoned(parent: Path) -> None:
    """A process that was killed leaves its unfinished folder; after a day nobody is working on it."""
    for folder in parent.glob(f"{_UNFINISHED}*"):
        try:
            abandoned = time.time() - folder.stat().st_mtime > _ABANDONED_AFTER_SECONDS
        except OSError:
            continue
        if abandoned:
            shutil.rmtree(folder, ignore_errors=True)
