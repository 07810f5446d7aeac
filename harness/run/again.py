"""Heuristics built a second time: a method gives the same bytes for the same seed, or what it gave counts as wrong."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aacbench.bundle.inventory import inventory
from aacbench.contract.composite import assemble
from aacbench.contract.method import Method
from aacbench.errors import AacbenchError
from aacbench.processes.worker import Failure
from aacbench.run.cell import Result
from aacbench.run.loaded_graph import GraphOf, context, world
from aacbench.run.pools import StoredPools
from aacbench.run.records import QueryPlan
from aacbench.run.store import Cell

Digests = dict[str, str]  # of a heuristic's arrays, by name


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """A cell to be built again, and what a worker needs for it."""

    cell: Cell
    queries: QueryPlan
    artifacts: Path
    method_of: Callable[[str], Method]
    graph_of: GraphOf

    @property
    def name(self) -> str:
        """The id of the cell."""
        return self.cell.cell_id

    @property
    def seed(self) -> int:
        """The seed to build it with: another one, where it is claimed that the seed changes nothing."""
        return int(self.cell.key["seed"]) + int(self.cell.record["claims"]["deterministic"])


def digests(record: Mapping[str, Any]) -> Digests:
    """The digests of the arrays that a cell deployed; none where it never came to that, or declares its memory."""
    return {array["name"]: array["sha256"] for array in record.get("bytes", {}).get("arrays", ())}


def quickest(cells: Mapping[str, Cell]) -> list[Cell]:
    """Of each method the cell that was built in the least time, of those that are ok and have arrays to compare."""
    best: dict[str, Cell] = {}
    for cell in cells.values():
        if cell.outcome == "ok" and digests(cell.record):
            best[cell.key["label"]] = min(best.get(cell.key["label"], cell), cell, key=_seconds)
    return list(best.values())


def build_again(job: Again) -> Digests | Failure:
    """In a worker: the digests of the arrays that the method builds now, or why it builds none."""
    key = job.cell.key
    try:
        method = assemble(job.method_of(key["method"]), key["params"], job.method_of)
        there = world(key["graph"], job.queries, job.graph_of)
        pools = StoredPools(there.net, job.artifacts, there.seal.check)
        heuristic = method.build(context(there, method, key["params"], job.seed, pools))
        return {array.name: array.sha256 for array in inventory(heuristic, there.net.graph.vertices).arrays}
    except AacbenchError as error:
        return Failure("error", str(error))
    except Exception as error:  # whatever a method raises
        return Failure("error", f"{type(error).__name__}: {error}")


def judged(job: Again, answer: Digests | Failure) -> tuple[str, str]:
    """The outcome of a cell, now that it was built again, and why."""
    how = "with the same seed" if job.seed == job.cell.key["seed"] else f"with the seed {job.seed}"
    if isinstance(answer, Failure):
        return answer.outcome, f"when it was built again {how}: {answer.reason}"
    reason = _difference(digests(job.cell.record), answer, how)
    return ("wrong", reason) if reason else ("ok", "")


def as_before(result: Result, before: Digests) -> Result:
    """The result of a cell that was built before; one that is right and has other arrays now is wrong."""
    reason = _difference(before, digests(result.facts), "as the one that was chosen") if before else ""
    return replace(result, outcome="wrong", reason=reason) if reason and result.outcome == "ok" else result


def _difference(before: Digests, now: Digests, how: str) -> str:
    changed = [name for name in (*before, *(set(now) - set(before))) if before.get(name) != now.get(name)]
    return f"not reproducible: built again {how}, its array {changed[0]!r} is another" if changed else ""


def _seconds(cell: Cell) -> float:
    return float(cell.record["build"]["seconds"])
