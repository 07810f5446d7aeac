"""A heuristic as its worker kept it on disk, looked at by a process that never built it: what it holds, and expands."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.bundle import helper
from aacbench.bundle.inventory import Inventory, inventory
from aacbench.bundle.saved import load_arrays
from aacbench.contract.method import BatchHeuristic, LabelHeuristic, MaxHeuristic
from aacbench.errors import DataError
from aacbench.graphs.record import Array
from aacbench.search.networks import Network
from aacbench.search.stored import networks_folder, save_network

REQUEST = "request.json"
_RESULT = "_searches.npz"


def keep_request(folder: Path, request: Mapping[str, Any]) -> None:
    """Write down, beside the arrays, all that another process needs to have the heuristic again."""
    (folder / REQUEST).write_text(json.dumps(dict(request)), encoding="utf-8")


def kept_request(folder: Path) -> dict[str, Any]:
    """What was written down; a worker may have written anything."""
    try:
        request = json.loads((folder / REQUEST).read_bytes())
        names = [str(name) for name in request["arrays"].values()]
        if any(Path(name).name != name for name in names):
            raise DataError("its arrays lie elsewhere")
        return {name: request[name] for name in ("parts", "arrays", "path")}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise DataError("it kept nothing that it could be rebuilt from") from error


def kept_bytes(folder: Path, request: Mapping[str, Any], vertices: int) -> Inventory:
    """Every byte of a heuristic, counted from its files."""
    try:
        loaded = load_arrays(folder, request["arrays"])
        parts = [_shell(part, loaded) for part in request["parts"].values()]
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise DataError(f"what it kept cannot be read ({type(error).__name__}: {error})") from error
    return inventory(parts[0] if "" in request["parts"] else MaxHeuristic(tuple(parts)), vertices)


def search_again(
    folder: Path,
    request: Mapping[str, Any],
    network: Network,
    sources: Array,
    targets: Array,
    policy: str,
    timeout: float,
) -> dict[str, Array]:
    """The columns of searches with the heuristic rebuilt from its files, in a process that has nothing else of it."""
    searches = {"sources": sources.tolist(), "targets": targets.tolist(), "policy": policy}
    where = {"root": str(networks_folder()), "graph": save_network(networks_folder(), network)}
    answer = helper.ask(
        {**request, **where, "searches": searches, "folder": str(folder), "result": _RESULT, "timeout": timeout}
    )
    if "error" in answer:
        raise DataError(f"it could not be searched again from its arrays alone: {answer['error']}")
    with np.load(folder / _RESULT, allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def _shell(part: Mapping[str, Any], loaded: Mapping[str, Array]) -> LabelHeuristic | BatchHeuristic:
    """A part with its arrays and settings, and no function: enough to be counted."""
    arrays = {name: loaded[saved] for name, saved in part["arrays"].items()}
    if part["kind"] == "batch":
        return BatchHeuristic(arrays, None)  # type: ignore[arg-type]
    return LabelHeuristic(arrays, "counted", part["settings"])
