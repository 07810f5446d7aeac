"""Loading a map set by name: generated terrain, the original files, or a folder of the same form.

What is generated, and what the checks of files found, is cached on disk and read back by memory map.
"""

import hashlib
import warnings
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from aacbench.errors import UsageError
from aacbench.graphs.fetch import UnverifiedDataWarning, sha256_of
from aacbench.maps.names import DEFAULT_COUNTS, WARCRAFT, folder_of, terrain_of
from aacbench.maps.record import SPLITS, TENTH, Maps, MapSet
from aacbench.util import array_store
from aacbench.util.paths import cache_folder, cache_folders
from aacbench.util.text import suggestion


def load_maps(name: str, counts: Mapping[str, int] | None = None) -> MapSet:
    """Return the map set of this name, with the first `counts` maps of each split; all there are by default."""
    terrain = terrain_of(name)
    if terrain is not None:
        return _generated(name, *terrain, counts or DEFAULT_COUNTS)
    folder = folder_of(name)
    if folder is None:
        near = suggestion(name, ["terrain-12", "terrain-18", "terrain-24", "terrain-30", *WARCRAFT])
        raise UsageError(f"Unknown map set {name!r}{near} `aacbench maps` lists all.")
    found = read_maps(folder, name)
    return found if counts is None else found.take(counts)


def read_maps(folder: Path, name: str) -> MapSet:
    """Return the maps in a folder; they are checked once, as long as no file changes."""
    from aacbench.maps import files

    paths = [folder / files.file_name(part, kind) for part in files.PARTS for kind in files.KINDS]
    digests = {path.name: sha256_of(path) for path in paths if path.is_file()}
    key = _key({"files": digests})
    stored = _read(key)
    if stored is None:
        found = files.read_folder(folder, name)
        _write(key, _arrays_of(found), _facts_of(found))
    else:
        found = _found_before(name, files.images_of(folder), stored)
    if name in WARCRAFT:
        warnings.warn(
            f"{folder} is used unverified (no digest of {name} is known); that of train_maps.npy is "
            f"{digests['train_maps.npy']}.",
            UnverifiedDataWarning,
            stacklevel=3,
        )
    return found


def _generated(name: str, side: int, seed: int, counts: Mapping[str, int]) -> MapSet:
    from aacbench.maps import terrain

    splits = {}
    for split in SPLITS:
        key = _key({"terrain": [side, seed, split, counts[split]]})
        stored = _read(key)
        if stored is None:
            found = terrain.generate(side, seed, split, counts[split])
            _write(key, found.arrays(), {})
            stored = _read(key)
        splits[split] = found if stored is None else Maps(**stored.arrays)
    return MapSet(name, side, terrain.PIXELS, TENTH, splits)


def _arrays_of(maps: MapSet) -> dict[str, Any]:
    """All arrays but the images, which stay in their own files."""
    arrays = {f"{split}_costs": found.costs for split, found in maps.splits.items()}
    return arrays | {f"{split}_paths": found.paths for split, found in maps.splits.items() if found.paths is not None}


def _facts_of(maps: MapSet) -> dict[str, Any]:
    return {"side": maps.side, "pixels": maps.pixels, "unit": maps.unit, "warnings": list(maps.warnings)}


def _found_before(name: str, images: Mapping[str, Any], stored: array_store.Artifact) -> MapSet:
    facts, arrays = dict(stored.facts), stored.arrays
    splits = {split: Maps(images[split], arrays[f"{split}_costs"], arrays.get(f"{split}_paths")) for split in SPLITS}
    return MapSet(name, splits=splits, **{**facts, "warnings": tuple(facts["warnings"])})


def _key(made_from: Mapping[str, Any]) -> str:
    return array_store.key_of({"maps": made_from, "sources": _sources_digest()})


@cache
def _sources_digest() -> str:
    """Other code may make other maps of the same name, or check files otherwise."""
    here = Path(__file__).parent
    digest = hashlib.sha256((here.parent / "graphs" / "generators" / "dice.py").read_bytes())
    for path in sorted(here.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _read(key: str) -> array_store.Artifact | None:
    found = (array_store.read(folder / "maps", key) for folder in cache_folders())
    return next((artifact for artifact in found if artifact is not None), None)


def _write(key: str, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    with suppress(OSError):  # a full or read-only disk costs time, not the result
        array_store.write(cache_folder() / "maps", key, arrays, facts)
