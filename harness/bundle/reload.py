"""Cold reload: a heuristic is rebuilt from its saved arrays alone, in a fresh process, and must be the same."""

import hashlib
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.bundle import helper
from aacbench.bundle.addresses import address_of
from aacbench.bundle.arrays import checked_settings
from aacbench.bundle.deploy import Deployed, deploy, first_difference
from aacbench.bundle.kept import keep_request
from aacbench.bundle.leaves import Leaf, arrays_of, dotted, leaves
from aacbench.bundle.sample import sample_rows
from aacbench.bundle.saved import load_array, sampled_bounds, save_arrays
from aacbench.contract.method import Heuristic, LabelHeuristic, ScalarHeuristic
from aacbench.errors import DisagreementError, ReloadError
from aacbench.graphs.record import Array
from aacbench.search.networks import Network
from aacbench.search.stored import networks_folder, save_network

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
    targets: Sequence[int] = (),
    plugin_file: Path | None = None,
    part_files: Collection[Path] = (),
    timeout: float = 60.0,
    deployed: Deployed | None = None,
    check: Callable[[], None] = lambda: None,
    keep: Path | None = None,
) -> Reload:
    """Rebuild a heuristic from its arrays in a process that never ran its build, and compare h on sampled pairs.

    Pairs are drawn by `seed`; `targets` are those for which a heuristic would be worth remembering something: its own.
    `plugin_file` is the file its method was loaded from where that cannot be imported by name, `part_files` are those
    of the methods it is made of; `deployed` is the heuristic as deployed here, where that is at hand; `check` must find
    the graph as it was, now that the heuristic was asked; `keep` is a folder to leave the arrays in, for a process that
    believes nothing this one says. A scalar heuristic, alone or as a part, has no arrays to be rebuilt from.
    """
    parts = leaves(heuristic)
    began = time.perf_counter()
    here = deploy(heuristic, network) if deployed is None else deployed
    rows = sample_rows(network.graph.vertices, seed, targets)
    ours = sampled_bounds(here, rows)
    _check_steady(here, rows, ours)
    if any(isinstance(part, ScalarHeuristic) for part in parts.values()):
        return Reload(DECLARED_ONLY)
    check()  # the graph's arrays are kept for every later reload
    request = {
        "parts": {name: _described(name, part, (plugin_file, *part_files)) for name, part in parts.items()},
        "seed": seed,
        "targets": [int(target) for target in targets],
        "timeout": timeout,
        "path": [str(entry) for entry in sys.path],
        "result": _RESULT,
    }
    theirs = _elsewhere(request, heuristic, network, keep)
    _compare(ours, theirs, rows)
    return Reload(AGREED, _digest(ours), len(ours), time.perf_counter() - began)


def _described(name: str, part: Leaf, files: tuple[Path | None, ...]) -> dict[str, Any]:
    """All that another process needs to know of a part, besides its arrays: names, numbers, an address."""
    assert not isinstance(part, ScalarHeuristic)
    function = part.kernel if isinstance(part, LabelHeuristic) else part.many
    address = None if isinstance(function, str) else address_of(function, *files)
    settings = checked_settings(part.settings) if isinstance(part, LabelHeuristic) else {}
    return {
        "kind": "label" if isinstance(part, LabelHeuristic) else "batch",
        "kernel": function if isinstance(function, str) else None,
        "function": address and asdict(address),
        "goal": _goal(part, files),
        "settings": {key: value.item() for key, value in settings.items()},
        "arrays": {array: dotted(name, array) for array in part.arrays},
    }


def _goal(part: Leaf, files: tuple[Path | None, ...]) -> dict[str, Any] | None:
    goal = part.goal if isinstance(part, LabelHeuristic) else None
    if goal is None:
        return None
    found = {
        name: function and asdict(address_of(function, *files))
        for name, function in (("start", goal.start), ("visit", goal.visit))
    }
    return {**found, "memo": goal.memo, "distances": goal.distances}


def _elsewhere(request: dict[str, Any], heuristic: Heuristic, network: Network, keep: Path | None) -> Array:
    with _folder(keep) as folder:
        try:
            whole = {**request, "arrays": save_arrays(folder, arrays_of(heuristic))}
            where = {"root": str(networks_folder()), "graph": save_network(networks_folder(), network)}
            if keep is not None:
                keep_request(folder, whole)
        except OSError as problem:
            raise ReloadError(f"the heuristic's arrays could not be saved to be read back: {problem}.") from problem
        answer = helper.ask({**whole, **where, "folder": str(folder)})
        if "error" in answer:
            raise ReloadError(f"the heuristic could not be rebuilt from its arrays alone: {answer['error']}.")
        found = load_array(folder / _RESULT)
        return np.array(found)


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="aacbench-reload-") as name:
        yield Path(name)


def _check_steady(deployed: Deployed, rows: list[tuple[int, Array]], first: Array) -> None:
    """Ask the same again backwards: a bound that depends on what was asked before is none."""
    again = sampled_bounds(deployed, [(target, us[::-1]) for target, us in reversed(rows)])[::-1]
    if (at := first_difference(first, again)) is not None:
        raise DisagreementError(
            f"{_pair(rows, at)} is {first[at]} when it is asked for, and {again[at]} when it is asked for again: "
            f"a heuristic must give one answer."
        )


def _pair(rows: list[tuple[int, Array]], at: int) -> str:
    return [f"h({u}, {target})" for target, us in rows for u in us][at]


def _compare(ours: Array, theirs: Array, rows: list[tuple[int, Array]]) -> None:
    if (at := first_difference(ours, theirs)) is not None:
        raise ReloadError(
            f"{_pair(rows, at)} is {ours[at]} as built but {theirs[at]} when rebuilt from the arrays alone: "
            f"the heuristic depends on something that is not in its arrays."
        )


def _digest(values: Array) -> str:
    plain = np.ascontiguousarray(values, "<f8" if values.dtype.kind == "f" else "<i8")
    return hashlib.sha256(plain.dtype.str.encode() + plain.tobytes()).hexdigest()
