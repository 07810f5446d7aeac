"""Stored cells built again: to be timed, replayed, exported, or to see whether the same bytes come out."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aacbench.bundle import store
from aacbench.bundle.evidence import Sample
from aacbench.errors import UsageError
from aacbench.run.build import Built, CellJob, Result
from aacbench.run.encode import EncodeJob
from aacbench.run.executors import step_pool
from aacbench.run.layout import ARTIFACTS, BUNDLES
from aacbench.run.run_config import RunConfig, plan_of
from aacbench.run.steps import Job, build_all
from aacbench.run.store import Cell
from aacbench.run.study import read_plan
from aacbench.run.variants import BASE, queries_and_policy


def stored_study(root: Path) -> Mapping[str, Any]:
    plan = read_plan(root)
    if plan is None:
        raise UsageError(f"{root} holds no study. Begin one with `aacbench run --out {root}`.")
    return plan["study"]


def stored_encode_job(config: RunConfig, cell: Cell) -> EncodeJob:
    """The job of a stored cell of an encoder: the same maps, settings and seed."""
    counts = stored_study(config.root)["splits"]
    return config.encode_job(cell.cell_id, plan_of(cell.key), counts, cell.key["graph_digest"])


def stored_job(config: RunConfig, cell: Cell) -> CellJob:
    """The job of a stored cell: the same graph, queries, method, settings and seed."""
    study = stored_study(config.root)
    try:
        queries, policy = queries_and_policy(study, cell.key.get("variant", BASE))
    except (LookupError, TypeError) as error:
        raise UsageError(f"{config.root} was begun by another version of aacbench; run the study again.") from error
    key = cell.key
    digests = {"graph": key["graph_digest"], **key["query_digests"]}
    return config.job(cell.cell_id, plan_of(key), queries, policy.counted.name, digests)


def stored_bundle(root: Path, cell: Cell) -> store.Bundle | None:
    """The bundle that a cell was measured on, or None where it was pruned, is damaged, or never was."""
    name = cell.record.get("bundle")
    if not name:
        return None
    return store.sound_bundle(store.bundle_folder((root / ARTIFACTS / BUNDLES).absolute(), name))


def built_before(cell: Cell, vertices: int) -> Built:
    """What the build of a stored cell left, without evidence: its bundle was measured once already."""
    record = cell.record
    arrays = {array["name"]: array["sha256"] for array in record["bytes"]["arrays"]}
    return Built(record["bundle"], arrays, record["build"], record["tier"], 0.0, Sample(vertices))


def rebuild(config: RunConfig, jobs: Iterable[Job]) -> dict[str, Built | Result]:
    """Build cells again, each in a worker; by cell, what was built, or the result of one that has no bundle."""
    wanted = list(jobs)
    with step_pool(config, min(config.workers, len(wanted)), fresh=True) as pool:
        return {job.cell_id: answer for job, answer in build_all(pool, iter(wanted))}


def restore(config: RunConfig, cells: Iterable[Cell]) -> dict[str, str]:
    """Build again the bundles that are gone; return the reason for each cell whose bundle is still not there."""
    gone = {cell.cell_id: cell for cell in cells if stored_bundle(config.root, cell) is None}
    never = {name: _never_had_one(cell) for name, cell in gone.items() if not cell.record.get("bundle")}
    jobs = [stored_job(config, cell) for name, cell in gone.items() if name not in never]
    answers = rebuild(config, jobs) if jobs else {}
    return never | {name: reason for name, answer in answers.items() if (reason := _not_restored(gone[name], answer))}


def _never_had_one(cell: Cell) -> str:
    reason = str(cell.record["reason"]).rstrip(".")
    why = "it has no arrays" if cell.outcome == "ok" else f"its outcome is {cell.outcome}: {reason}"
    return f"It has no bundle, because {why}"


def _not_restored(cell: Cell, answer: Built | Result) -> str:
    reason = answer.reason if isinstance(answer, Result) else difference(cell, answer)
    return f"Its bundle is gone and cannot be built again: {reason}" if reason else ""


def restored(config: RunConfig, cell: Cell) -> store.Bundle:
    """The cell's bundle, built again where it is gone; one that comes out different is refused."""
    for reason in restore(config, [cell]).values():
        raise UsageError(f"Cell {cell.cell_id} cannot be restored. {reason}.")
    found = stored_bundle(config.root, cell)
    if found is None:
        raise UsageError(f"The bundle of cell {cell.cell_id} was removed while it was being used; try again.")
    return found


def difference(cell: Cell, built: Built) -> str:
    """In what a new build differs from a stored cell; empty where it is the same to the byte."""
    if built.bundle == cell.record["bundle"]:
        return ""
    before = {array["name"]: array["sha256"] for array in cell.record["bytes"]["arrays"]}
    changed = [
        name for name in (*before, *(set(built.arrays) - set(before))) if before.get(name) != built.arrays.get(name)
    ]
    return f"the array {changed[0]!r} is different" if changed else "its settings, kernel or source are different"


def fastest_cells(cells: Mapping[str, Cell]) -> list[Cell]:
    """Of each method the cell that was built in the least time, of those that are ok and have a bundle."""
    best: dict[str, Cell] = {}
    for cell in cells.values():
        if cell.outcome == "ok" and cell.record.get("bundle") and cell.record["bytes"]["arrays"]:
            label = cell.key["label"]
            best[label] = min(best.get(label, cell), cell, key=lambda each: float(each.record["build"]["seconds"]))
    return list(best.values())


def other_seed(cell: Cell) -> int:
    """The seed to build a cell with again: another one, where it is claimed that the seed changes nothing."""
    return int(cell.key["seed"]) + int(cell.record["claims"]["deterministic"])


def judged(cell: Cell, seed: int, answer: Built | Result) -> tuple[str, str]:
    how = "the same seed" if seed == cell.key["seed"] else f"the seed {seed}"
    if isinstance(answer, Result) and answer.outcome == "unsupported":
        return "wrong", f"not reproducible: built again with {how}, it is unsupported: {answer.reason}"
    if isinstance(answer, Result):
        return (answer.outcome, f"Built again with {how}: {answer.reason}") if answer.outcome != "ok" else ("ok", "")
    reason = difference(cell, answer)
    return ("wrong", f"not reproducible: built again with {how}, {reason}") if reason else ("ok", "")
