"""Cold reload: a heuristic is rebuilt from its saved arrays alone, in a fresh process, and must be the same."""

import hashlib
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.errors import ReloadError
from aacbench.graphs.record import Array
from aacbench.locations import cache_folder
from aacbench.memory import helper
from aacbench.memory.addresses import address_of
from aacbench.memory.arrays import checked_settings
from aacbench.memory.deploy import Deployed, deploy, different
from aacbench.memory.sample import sample_rows
from aacbench.memory.saved import load_array, sampled_bounds, save_arrays, save_network
from aacbench.method import BatchHeuristic, Heuristic, LabelHeuristic, ScalarHeuristic
from aacbench.search.networks import Network

AGREED, DECLARED_ONLY = "agreed", "declared only"
_RESULT = "_bounds.npy"


@dataclass(frozen=True, slots=True)
class Reload:
    """How a cold reload ended: `agreed` with the digest of h on the sampled pairs, or `declared only`."""

    status: str
    digest: str | None = None
    pairs: int = 0
    seconds: float = 0.0


def cold_reload(
    heuristic: Heuristic,
    network: Network,
    *,
    seed: int = 0,
    plugin_file: Path | None = None,
    timeout: float = 60.0,
    deployed: Deployed | None = None,
) -> Reload:
    """Rebuild a heuristic from its arrays in a process that never ran its build, and compare h on sampled pairs.

    `plugin_file` is the file its method was loaded from where that cannot be imported by name; `deployed` is the
    heuristic as deployed here, where that is at hand. A scalar heuristic has no arrays to be rebuilt from.
    """
    if isinstance(heuristic, ScalarHeuristic):
        return Reload(DECLARED_ONLY)
    began = time.perf_counter()
    here = deploy(heuristic, network) if deployed is None else deployed
    function = _function(heuristic)
    address = None if isinstance(function, str) else address_of(function, plugin_file)
    ours = sampled_bounds(here, network.graph.vertices, seed)
    request = {
        "kind": "label" if isinstance(heuristic, LabelHeuristic) else "batch",
        "kernel": function if isinstance(function, str) else None,
        "function": address and asdict(address),
        "settings": _settings(heuristic),
        "goal": _goal(heuristic, plugin_file),
        "seed": seed,
        "timeout": timeout,
        "path": [str(entry) for entry in sys.path],
        "result": _RESULT,
    }
    theirs = _elsewhere(request, heuristic, network)
    _compare(ours, theirs, network.graph.vertices, seed)
    return Reload(AGREED, _digest(ours), len(ours), time.perf_counter() - began)


def _function(heuristic: LabelHeuristic | BatchHeuristic) -> str | Callable[..., Any]:
    return heuristic.kernel if isinstance(heuristic, LabelHeuristic) else heuristic.many


def _goal(heuristic: Heuristic, plugin_file: Path | None) -> dict[str, Any] | None:
    goal = heuristic.goal if isinstance(heuristic, LabelHeuristic) else None
    if goal is None:
        return None
    found = {
        name: function and asdict(address_of(function, plugin_file))
        for name, function in (("start", goal.start), ("visit", goal.visit))
    }
    return {**found, "memo": goal.memo, "distances": goal.distances}


def _settings(heuristic: LabelHeuristic | BatchHeuristic) -> dict[str, int | float]:
    settings = checked_settings(heuristic.settings) if isinstance(heuristic, LabelHeuristic) else {}
    return {name: value.item() for name, value in settings.items()}


def _elsewhere(request: dict[str, Any], heuristic: LabelHeuristic | BatchHeuristic, network: Network) -> Array:
    root = cache_folder() / "networks"
    with tempfile.TemporaryDirectory(prefix="aacbench-reload-") as name:
        folder = Path(name)
        try:
            files = save_arrays(folder, heuristic.arrays)
            key = save_network(root, network)
        except OSError as problem:
            raise ReloadError(f"the heuristic's arrays could not be saved to be read back: {problem}.") from problem
        answer = helper.ask({**request, "folder": name, "arrays": files, "root": str(root), "graph": key})
        if "error" in answer:
            raise ReloadError(f"the heuristic could not be rebuilt from its arrays alone: {answer['error']}.")
        found = load_array(folder / _RESULT)
        return np.array(found)


def _compare(ours: Array, theirs: Array, vertices: int, seed: int) -> None:
    apart = np.flatnonzero(different(ours, theirs))
    if not len(apart):
        return
    pairs = [(int(u), target) for target, us in sample_rows(vertices, seed) for u in us]
    u, t = pairs[apart[0]]
    raise ReloadError(
        f"h({u}, {t}) is {ours[apart[0]]} as built but {theirs[apart[0]]} when rebuilt from the arrays alone: "
        f"the heuristic depends on something that is not in its arrays."
    )


def _digest(values: Array) -> str:
    plain = np.ascontiguousarray(values, "<f8" if values.dtype.kind == "f" else "<i8")
    return hashlib.sha256(plain.dtype.str.encode() + plain.tobytes()).hexdigest()
