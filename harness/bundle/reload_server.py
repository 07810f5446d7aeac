"""The process that rebuilds heuristics from their arrays alone: it has never run a method's build.

It reads a request a line and answers each with a line. Every request is served by a fork of the process as it was
after its imports, so nothing a request leaves behind can help a later one, and none pays for the imports.
"""

import ctypes
import functools
import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from aacbench.bundle.addresses import Address, function_at
from aacbench.bundle.deploy import deploy
from aacbench.bundle.sample import sample_rows
from aacbench.bundle.saved import load_array, load_arrays, sampled_bounds
from aacbench.contract.method import BatchHeuristic, GoalSearch, Heuristic, LabelHeuristic, MaxHeuristic
from aacbench.graphs.record import Array
from aacbench.search import search
from aacbench.search.networks import Network
from aacbench.search.stored import load_network

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_END_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def main() -> None:
    """Serve requests until the other side hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; whoever asks decides when to stop
    answers = os.fdopen(os.dup(_STDOUT), "w", encoding="utf-8")
    os.dup2(_STDERR, _STDOUT)  # what a plugin prints is no answer
    _say(answers, {"ready": True})
    while line := _line():
        request = json.loads(line)
        try:
            network = _network(Path(request["root"]), request["graph"])
            _warm(network, request)
        except Exception as problem:
            _say(answers, {"error": _described(problem)})
            continue
        _say(answers, _serve(network, request, answers))


def _line() -> bytes:
    """The next request, read without a buffer: `select` must see whatever has not been read."""
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(_STDIN, 2**16)
        if not part:
            return b""
        line += part
    return line


@functools.lru_cache(maxsize=2)
def _network(root: Path, key: str) -> Network:
    network = load_network(root, key)
    _ = network.graph.symmetric  # worked out here once, or every fork would do it again
    return network


def _warm(network: Network, request: dict[str, Any]) -> None:
    """Have the built-in kernel for these labels ready before the fork; an author's own code is left to the fork."""
    for part in request["parts"].values():
        file = request["arrays"].get(part["arrays"].get("rows")) if part["kernel"] else None
        rows = None if file is None else load_array(Path(request["folder"]) / file)
        dtype = np.dtype(np.int32) if rows is None or rows.dtype.kind not in "if" else rows.dtype
        _warm_for(network.graph.weights.dtype.str, dtype.str, network)


def _warm_for(weight: str, label: str, network: Network) -> None:
    if (weight, label) not in _WARMED:
        rows = np.zeros((network.graph.vertices, 1), dtype=label)
        deploy(LabelHeuristic({"rows": rows}, "differential"), network).many([0], 0)
        _WARMED.add((weight, label))


_WARMED: set[tuple[str, str]] = set()


def _serve(network: Network, request: dict[str, Any], answers: TextIO) -> dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _cut_off(reading, answers.fileno())
            os.write(writing, json.dumps(_answer(network, request)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    try:
        told = _await(reading, request["timeout"])
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
    if told is None:
        return {"error": f"it was not done within {request['timeout']:g} seconds"}
    if not told:
        return {"error": f"its process ended without an answer (status {os.waitstatus_to_exitcode(status)})"}
    answer: dict[str, Any] = json.loads(told)
    return answer


def _cut_off(*pipes: int) -> None:
    """Leave a fork no way to read requests or answer them, nor to outlive the process it was forked from."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), _STDIN)
    for pipe in pipes:
        os.close(pipe)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)


def _await(reading: int, timeout: float) -> bytes | None:
    """All that the fork writes until it ends, or None after the timeout; where the other side hangs up, give up."""
    deadline = time.monotonic() + timeout
    told = b""
    while True:
        ready = select.select([reading, _STDIN], [], [], max(0.0, deadline - time.monotonic()))[0]
        if _STDIN in ready:  # no request comes before an answer, so this is the end
            sys.exit()
        if not ready:
            return None
        part = os.read(reading, 2**16)
        if not part:
            return told
        told += part


def _answer(network: Network, request: dict[str, Any]) -> dict[str, Any]:
    try:
        sys.path[:] = request["path"]
        folder = Path(request["folder"])
        deployed = deploy(_rebuilt(request, folder), network)
        if "searches" in request:
            columns: dict[str, Any] = search(network, deployed.searched, **request["searches"]).columns()
            np.savez(folder / request["result"], **columns)
        else:
            rows = sample_rows(network.graph.vertices, request["seed"], request["targets"])
            np.save(folder / request["result"], sampled_bounds(deployed, rows))
    except BaseException as problem:  # a plugin may raise anything, SystemExit included
        return {"error": _described(problem)}
    return {"done": True}


def _rebuilt(request: dict[str, Any], folder: Path) -> Heuristic:
    """The heuristic again: alone under no name, or the maximum of its parts."""
    loaded = load_arrays(folder, request["arrays"])
    parts = {name: _part(part, loaded) for name, part in request["parts"].items()}
    return parts[""] if "" in parts else MaxHeuristic(tuple(parts.values()))


def _part(part: dict[str, Any], loaded: dict[str, Array]) -> Heuristic:
    arrays = {name: loaded[saved] for name, saved in part["arrays"].items()}
    function = part["kernel"] or function_at(Address(**part["function"]))
    if part["kind"] == "label":
        return LabelHeuristic(arrays, function, part["settings"], goal=_goal(part["goal"]))
    return BatchHeuristic(arrays, function)


def _goal(told: dict[str, Any] | None) -> GoalSearch | None:
    if told is None:
        return None
    functions = {name: told[name] and function_at(Address(**told[name])) for name in ("start", "visit")}
    return GoalSearch(**functions, memo=told["memo"], distances=told["distances"])


def _described(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {problem}".strip().rstrip(".")


def _say(answers: TextIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
