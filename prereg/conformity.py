"""Whether what was run is what was locked: cells, choices, queries, code, clocks."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from aacbench.errors import AacbenchError
from aacbench.prereg.checks import DEVIATION, INCOMPLETE, ORDER, Check, failed, passed, unchecked, verdict_of
from aacbench.prereg.history import History
from aacbench.prereg.key_diff import CODE, QUERIES, Match, chosen_key, match, spoken, with_queries, without_lock
from aacbench.prereg.lock import Lock
from aacbench.prereg.runs import Runs
from aacbench.prereg.schema import FROM_LOCK, Registration
from aacbench.prereg.seeds import query_digests, seed_from, seeded
from aacbench.run.rows import read_queries
from aacbench.run.store import Cell
from aacbench.util.canonical import canonical


def as_locked(
    registration: Registration, lock: Lock, past: History, cells: Sequence[Cell]
) -> tuple[list[Check], Match]:
    """Whether what was run is what was locked, whole, and after the lock; and which cells are."""
    queries, drawn = _queries(registration, past)
    found = match(lock, [cell.key for cell in cells], queries)
    return [*drawn, *_held_against(lock, past, cells, queries, found)], found


def _held_against(
    lock: Lock, past: History, cells: Sequence[Cell], queries: Mapping[str, Any] | None, found: Match
) -> Iterator[Check]:
    deviating = [one for one in found.deviating if not set(one.what) <= past.declared]
    declared = len(found.deviating) - len(deviating)
    otherwise = f"{len(found.same)} cells" + (f", and {declared} with declared deviations" if declared else "")
    yield verdict_of("as locked", [f"{one.sentence}." for one in deviating], DEVIATION, otherwise)
    yield verdict_of("choices", list(_choices(lock, cells, queries)), DEVIATION, "as the validation rows say")
    replaced = {canonical(one.instead) for one in found.deviating}
    absent = [key for key in found.missing if canonical(key) not in replaced]
    missing = [f"{spoken(key)} was planned and is not there." for key in absent]
    bad = [cell for cell in cells if cell.outcome not in ("ok", "unsupported")]
    missing += [f"{spoken(cell.key)} is {cell.outcome}: {cell.record.get('reason')}" for cell in bad]
    yield verdict_of("complete", missing, INCOMPLETE, f"{len(found.same)} cells of {len(lock.cells)} planned ones")


def _queries(registration: Registration, past: History) -> tuple[Mapping[str, Any] | None, list[Check]]:
    """The digests of queries drawn after the lock, drawn again here where the graphs are at hand."""
    if registration.seed_source != FROM_LOCK or not past.of("run_start"):
        return None, []
    texts = sorted({str(line.facts.get("public")) for line in past.of("run_start")})
    if len(texts) > 1 and QUERIES not in past.declared:
        several = f"queries were drawn {len(texts)} times, from different public texts: {', '.join(texts)}."
        return None, [failed(QUERIES, several, DEVIATION)]
    facts = past.of("run_start")[-1].facts
    lock, public = str(facts["lock"]), str(facts.get("public"))
    told: Mapping[str, Any] = facts.get("queries") or {}
    try:
        drawn = query_digests(seeded(registration.study, lock, public))
    except AacbenchError as error:
        return told, [unchecked(QUERIES, f"they could not be drawn again: {error}")]
    same = drawn == told
    evidence = f"seed {seed_from(lock, public)}, from the lock and {public!r}"
    wrong = "the queries are not those that follow from the lock and the public text."
    return drawn, [passed(QUERIES, evidence) if same else failed(QUERIES, wrong, DEVIATION)]


def code_of_runs(locks: Mapping[str, Lock], past: History) -> Check:
    """Whether each run used the code that its lock names, or other code was declared."""
    problems = [] if CODE in past.declared else other_code(locks, past)
    return verdict_of(CODE, problems, DEVIATION, "the runs used what was locked")


def other_code(locks: Mapping[str, Lock], past: History) -> list[str]:
    """A sentence about each run that used other code than its lock names."""
    return [
        f"the run in line {line.number} used other code of aacbench than was locked."
        for line in past.of("run_start")
        if (lock := locks.get(line.facts["lock"])) is not None and line.facts["code"] != lock.body["code"]["tree"]
    ]


def clocks(locks: Mapping[str, Lock], runs: Runs) -> Check:
    """The logs of the runs have times too, and none may be from before its lock."""
    problems = []
    for folder in runs.stored:
        for file in sorted(folder.glob("runs/*/run.json")):
            try:
                record = json.loads(file.read_bytes())
                bound, started = record["facts"].get("lock"), str(record["started"])
            except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
                continue  # a log is no evidence of rows; those are checked for themselves
            lock = locks.get(str(bound))
            if lock is not None and started < lock.body["locked"]:
                problems.append(
                    f"the run {record.get('run')} began at {started}, before the lock at {lock.body['locked']}."
                )
    return verdict_of("clocks", problems, ORDER, "no log of a run is older than the lock")


def _choices(lock: Lock, cells: Sequence[Cell], queries: Mapping[str, Any] | None) -> Iterator[str]:
    """Of each group the chosen setting must be the one that the candidates' rows choose."""
    stored = {canonical(without_lock(cell.key)): cell for cell in cells}
    groups: dict[str, list[dict[str, Any]]] = {}
    for planned in lock.cells:
        if planned["group"]:
            groups.setdefault(planned["group"], []).append(with_queries(planned["key"], queries))
    for keys in groups.values():
        candidates = [stored[name] for key in keys if (name := canonical(key)) in stored]
        scored = [(_mean(cell), i, cell) for i, cell in enumerate(candidates) if cell.outcome == "ok"]
        chosen = [key for key in keys if canonical(chosen_key(key)) in stored]
        if len(candidates) == len(keys) and scored and chosen:
            best = canonical(without_lock(min(scored)[2].key))
            if [canonical(key) for key in chosen] != [best]:
                yield f"{spoken(keys[0])}: the setting that was reported is not the one that its candidates choose."


def _mean(cell: Cell) -> float:
    return float(np.mean(read_queries(cell.files["queries.csv"])["expanded"]))
