"""Bundles on disk: a heuristic as arrays and `bundle.json`, in a folder named by the digest of what it holds."""

import json
import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from aacbench.bundle.arrays import Leaf, arrays_of, checked_scratch, checked_settings, dotted, leaves
from aacbench.bundle.functions import Address, address_of, function_at
from aacbench.bundle.inventory import memory_of
from aacbench.contract.method import (
    BatchHeuristic,
    GoalSearch,
    Heuristic,
    LabelHeuristic,
    MaxHeuristic,
    ScalarHeuristic,
    Scratch,
)
from aacbench.errors import BundleError
from aacbench.graphs.record import Array, Graph
from aacbench.util.array_store import Version, is_sound, sha256_of, version_of
from aacbench.util.canonical import digest, pretty
from aacbench.util.cleanup import UNFINISHED, scratch_name
from aacbench.util.source_file import SourceFile, source_of

FORMAT = "aacbench.bundle/1"
DESCRIPTION = "bundle.json"
_MAPPED_FROM = 2**20  # bytes; a smaller file is read faster than it is mapped


@dataclass(frozen=True, slots=True)
class Bundle:
    """A folder that holds a heuristic.

    `content` is what the digest names: graph, parts, arrays, sources. `info` says how it was made: method, settings,
    seed, claims, facts, cost of the build.
    """

    folder: Path
    content: Mapping[str, Any]
    info: Mapping[str, Any]

    @property
    def digest(self) -> str:
        return digest(self.content, FORMAT)

    @property
    def array_digests(self) -> dict[str, str]:
        return {name: entry["sha256"] for name, entry in self.content["arrays"].items()}

    def versions(self) -> tuple[Version, ...]:
        """The files of its arrays as they are now, for a process that is to read them without hashing them again."""
        digests = {entry["file"]: entry["sha256"] for entry in self.content["arrays"].values()}
        try:
            return tuple(version_of(self.folder / file, digest) for file, digest in digests.items())
        except OSError:  # somebody deleted the bundle, which is told where it is loaded
            return ()


def bundle_folder(root: Path, name: str) -> Path:
    return root / name[:2] / name


def save(root: Path, heuristic: Heuristic, graph: Graph, info: Mapping[str, Any] | None = None) -> Bundle:
    """Save a heuristic below `root`, unless it is there already. A scalar heuristic has nothing to save: refused."""
    return save_for(root, heuristic, {"graph": graph.digest, "vertices": graph.vertices}, info)


def save_for(
    root: Path, heuristic: Heuristic, made_for: Mapping[str, Any], info: Mapping[str, Any] | None = None
) -> Bundle:
    """Save arrays and functions that were made for something, which is part of the digest.

    Nothing is synced: a bundle that a crash has damaged is noticed when it is loaded, and written again here.
    """
    parts = leaves(heuristic)
    arrays = arrays_of(heuristic)
    files = _files(arrays)
    described = {name: _described(name, leaf) for name, leaf in parts.items()}
    modules = dict.fromkeys(address.module for address in _addresses(described))
    used = [source for module in modules if (source := source_of(module))]
    content = {
        **made_for,
        "parts": described,
        "arrays": {name: {"file": files[name], **_shape(array)} for name, array in arrays.items()},
        "sources": [
            {"module": source.module, "file": f"{source.module}.py", "sha256": source.digest} for source in used
        ],
    }
    bundle = Bundle(bundle_folder(root, digest(content, FORMAT)), content, dict(info or {}))
    if sound_bundle(bundle.folder) is None:
        _write(bundle, arrays, used)
    return bundle


def sound_bundle(folder: Path) -> Bundle | None:
    """The bundle in a folder if its description, arrays and sources are what was written, else None."""
    try:
        bundle = open_bundle(folder)
        load_arrays(bundle)
        for entry in bundle.content["sources"]:
            _source(folder, entry)
    except BundleError:
        return None
    return bundle


def open_bundle(folder: Path) -> Bundle:
    """The bundle in a folder, its description checked; arrays are checked when they are loaded."""
    try:
        told = json.loads((folder / DESCRIPTION).read_bytes())
        if told["format"] != FORMAT:
            raise BundleError(f"{folder} has the format {told['format']}, and this version reads {FORMAT}.")
        bundle = Bundle(folder, told["content"], told["info"])
        if bundle.digest != told["digest"]:
            raise BundleError(f"The bundle in {folder} is damaged: {DESCRIPTION} is not what was written.")
    except FileNotFoundError as error:
        raise BundleError(f"{folder} holds no bundle: there is no {DESCRIPTION}.") from error
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise BundleError(f"The bundle in {folder} is damaged: {DESCRIPTION} cannot be read.") from error
    return bundle


def load(bundle: Bundle, known: Sequence[SourceFile] = ()) -> Heuristic:
    """The heuristic again, from the files alone; each array and source is checked against its digest.

    `known` are sources at hand: one of them runs under its own path, where it may find files beside it.
    """
    loaded = load_arrays(bundle)
    given = {(source.module, source.digest): source for source in known}
    sources = [
        given.get((entry["module"], entry["sha256"])) or _source(bundle.folder, entry)
        for entry in bundle.content["sources"]
    ]
    parts = {name: _part(part, loaded, sources) for name, part in bundle.content["parts"].items()}
    return parts[""] if "" in parts else MaxHeuristic(tuple(parts.values()))


def load_arrays(bundle: Bundle) -> dict[str, Array]:
    """Every array by name, checked against its digest."""
    read: dict[str, Array] = {}
    for name, entry in bundle.content["arrays"].items():
        path = bundle.folder / Path(entry["file"]).name
        if entry["file"] not in read:
            try:
                array = _load_array(path, entry)
                sound = is_sound(path, array, entry["sha256"])
            except MemoryError:
                raise  # the file may be sound
            except Exception as error:  # numpy raises many kinds of errors on a damaged header
                raise BundleError(f"The bundle in {bundle.folder} is damaged: {path.name} cannot be read.") from error
            if not sound:
                raise BundleError(f"The bundle in {bundle.folder} is damaged: {path.name} is not what was written.")
            read[entry["file"]] = array
        read[name] = read[entry["file"]]
    return {name: read[name] for name in bundle.content["arrays"]}


def copy_bundle(bundle: Bundle, folder: Path, info: Mapping[str, Any]) -> Bundle:
    """Copy a bundle into a new folder, with more said about where it comes from."""
    folder.mkdir(parents=True)
    for file in bundle.folder.iterdir():
        if file.name != DESCRIPTION:
            shutil.copyfile(file, folder / file.name)
    copied = Bundle(folder, bundle.content, {**bundle.info, **info})
    (folder / DESCRIPTION).write_bytes(_description(copied))
    return copied


def _files(arrays: Mapping[str, Array]) -> dict[str, str]:
    """The file of each array; arrays over the same memory share one."""
    first: dict[object, str] = {}
    return {name: first.setdefault(memory_of(array), f"{name}.npy") for name, array in arrays.items()}


def _shape(array: Array) -> dict[str, Any]:
    return {"dtype": str(array.dtype), "shape": list(array.shape), "sha256": sha256_of(array)}


def _described(name: str, leaf: Leaf) -> dict[str, Any]:
    """All that another process needs to know of a leaf besides its arrays: names, numbers, addresses."""
    if isinstance(leaf, ScalarHeuristic):
        raise BundleError("A scalar heuristic has no arrays, so it cannot be saved as a bundle.")
    function = leaf.kernel if isinstance(leaf, LabelHeuristic) else leaf.many
    settings = checked_settings(leaf.settings)
    return {
        "kind": "label" if isinstance(leaf, LabelHeuristic) else "batch",
        "kernel": function if isinstance(function, str) else asdict(address_of(function)),
        "goal": _described_goal(leaf),
        "settings": {key: value.item() for key, value in settings.items()},
        "arrays": {array: dotted(name, array) for array in leaf.arrays},
    }


def _described_goal(leaf: Leaf) -> dict[str, Any] | None:
    goal = leaf.goal if isinstance(leaf, LabelHeuristic) else None
    if goal is None:
        return None
    functions = {"start": goal.start, "visit": goal.visit}
    found = {name: function and asdict(address_of(function)) for name, function in functions.items()}
    told = {**found, "memo": goal.memo, "distances": goal.distances}
    told |= {"bears_traffic": True} if goal.bears_traffic else {}  # only where it is set, so that older digests hold
    if goal.scratch is None:
        return told
    return {**told, "scratch": {name: _described_scratch(each) for name, each in checked_scratch(goal.scratch).items()}}


def _described_scratch(scratch: Scratch) -> dict[str, Any]:
    infinite = scratch.fill is not None and math.isinf(scratch.fill)  # which JSON cannot say
    return {**asdict(scratch), "fill": str(scratch.fill) if infinite else scratch.fill}


def _addresses(parts: Mapping[str, Mapping[str, Any]]) -> list[Address]:
    goals = [part["goal"] or {} for part in parts.values()]
    told = [part["kernel"] for part in parts.values()]
    told += [goal[name] for goal in goals for name in ("start", "visit") if name in goal]
    return [Address(**value) for value in told if isinstance(value, dict)]


def _write(bundle: Bundle, arrays: Mapping[str, Array], sources: Sequence[SourceFile]) -> None:
    folder = bundle.folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = folder.with_name(scratch_name(UNFINISHED))
    try:
        unfinished.mkdir()
        for name, array in arrays.items():
            if bundle.content["arrays"][name]["file"] == f"{name}.npy":
                _write_array(unfinished / f"{name}.npy", array)
        for source in sources:
            (unfinished / f"{source.module}.py").write_bytes(source.source)
        (unfinished / DESCRIPTION).write_bytes(_description(bundle))
        if folder.is_dir() and sound_bundle(folder) is None:  # another process may have written it meanwhile
            shutil.rmtree(folder)
        unfinished.rename(folder)
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        if sound_bundle(folder) is None:  # else another process was first
            raise


def _description(bundle: Bundle) -> bytes:
    told = {"format": FORMAT, "digest": bundle.digest, "content": bundle.content, "info": bundle.info}
    return pretty(told)


def _write_array(path: Path, array: Array) -> None:
    """Write an array as `np.save` does, which itself does not tell the reason where a disk is full."""
    contiguous = np.ascontiguousarray(array).reshape(array.shape)
    with path.open("wb") as stream:
        npy.write_array_header_1_0(stream, npy.header_data_from_array_1_0(contiguous))
        stream.write(contiguous.data)


def _load_array(path: Path, entry: Mapping[str, Any]) -> Array:
    """Read an array; refuse a file that has another header than was written, or more or fewer bytes after it."""
    size, dtype, shape = path.stat().st_size, np.dtype(entry["dtype"]), tuple(entry["shape"])
    with path.open("rb") as stream:
        version = npy.read_magic(stream)
        header = npy.read_array_header_1_0(stream)
        start, count = stream.tell(), math.prod(shape)
        if version != (1, 0) or header != (shape, False, dtype) or size != start + count * dtype.itemsize:
            raise ValueError(f"{path} is not what was written")
        if size < _MAPPED_FROM:
            return np.fromfile(stream, dtype, count).reshape(shape)
    # A plain array over the map: kernels take numpy's memmap class too, but find their signature more slowly.
    return np.asarray(np.memmap(path, dtype, "r", start, shape))


def _source(folder: Path, entry: Mapping[str, str]) -> SourceFile:
    path = folder / Path(entry["file"]).name
    try:
        source = SourceFile(entry["module"], path, path.read_bytes())
    except OSError as error:
        raise BundleError(f"The bundle in {folder} is damaged: {path.name} cannot be read.") from error
    if source.digest != entry["sha256"]:
        raise BundleError(f"The bundle in {folder} is damaged: {path.name} is not what was written.")
    return source


def _part(part: Mapping[str, Any], loaded: Mapping[str, Array], sources: Sequence[SourceFile]) -> Heuristic:
    def function(told: Any) -> Any:
        return function_at(Address(**told), sources) if isinstance(told, dict) else told

    arrays = {name: loaded[saved] for name, saved in part["arrays"].items()}
    if part["kind"] == "batch":
        return BatchHeuristic(arrays, function(part["kernel"]), settings=part["settings"])
    return LabelHeuristic(arrays, function(part["kernel"]), part["settings"], goal=_goal(part["goal"], function))


def _goal(told: Mapping[str, Any] | None, function: Callable[[Any], Any]) -> GoalSearch | None:
    if told is None:
        return None
    functions = {name: function(told[name]) for name in ("start", "visit")}
    scratch = told.get("scratch")
    if scratch is not None:
        scratch = {name: Scratch(**{**each, "fill": _fill(each["fill"])}) for name, each in scratch.items()}
    return GoalSearch(**{**told, **functions, "scratch": scratch})


def _fill(told: Any) -> Any:
    return float(told) if isinstance(told, str) else told
