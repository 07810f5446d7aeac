"""Which predictions were there, as they are, before any result could be seen; and what the others said before."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aacbench.errors import LockError
from aacbench.prereg.amend import touched_by
from aacbench.prereg.files import Files
from aacbench.prereg.history import History
from aacbench.prereg.key_diff import Deviation
from aacbench.prereg.ledger import Entry
from aacbench.prereg.lock import Lock, read_lock
from aacbench.prereg.predictions import Prediction, methods_of
from aacbench.prereg.schema import CONFIRMATORY, EXPLORATORY, Registration
from aacbench.run.records import BASELINE, TEST
from aacbench.util.canonical import canonical

Seen = tuple[Any, ...]  # what a result is of: a method with its parameters on a graph, on these queries


@dataclass(frozen=True, slots=True)
class Standing:
    """Of each prediction whether it is confirmatory, exploratory or a replication; and why, where that is not plain."""

    of: Mapping[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubts:
    """What was done otherwise than locked, of what verdicts rest on."""

    cells: Sequence[Deviation]
    code: bool  # a run used other code of aacbench
    again: bool  # two runs of one lock left different results


def standing(
    files: Files,
    registration: Registration,
    entries: Sequence[Entry],
    past: History,
    locks: Mapping[str, Lock],
    doubts: Doubts,
) -> Standing:
    """Computed from the ledger and never asked."""
    if registration.status != CONFIRMATORY:
        return Standing({one.id: registration.status for one in registration.predictions}, ())
    since = _since(past, locks)
    late = {name for name, line in since.items() if past.seen(line)}
    elsewhere, notes = _elsewhere(files, registration, entries, past, locks, since)
    deviating, why = _late_deviations(registration, past, doubts)
    late |= elsewhere | deviating
    words = {one.id: EXPLORATORY if one.id in late else CONFIRMATORY for one in registration.predictions}
    return Standing(words, (*notes, *why))


def at_risk(past: History, locks: Mapping[str, Lock]) -> Lock | None:
    """The lock in force when the first run began: what it predicts was predicted before any result."""
    starts = past.of("run_start")
    return locks.get(str(starts[0].facts["lock"])) if starts else None


def _since(past: History, locks: Mapping[str, Lock]) -> dict[str, Entry]:
    """The line from which each prediction of the lock in force means what it means now."""
    first, *later = past.locks
    found = {one["id"]: first for one in locks[past.digests[0]].registration["prediction"]}
    for digest, line in zip(past.digests, later, strict=False):
        found |= dict.fromkeys(touched_by(locks[digest], locks[str(line.facts["lock"])]), line)
    return found


def _elsewhere(
    files: Files,
    registration: Registration,
    entries: Sequence[Entry],
    past: History,
    locks: Mapping[str, Lock],
    since: Mapping[str, Entry],
) -> tuple[set[str], list[str]]:
    """Predictions whose every cell another registration of this ledger had run before they were locked."""
    mine, others = locks[past.digests[-1]], []
    for line in entries:
        if line.event == "run_start" and line.registration != registration.id:
            others.append((line, _results(files, line)))
    late: dict[str, Entry] = {}
    for one in registration.predictions:
        before = [(line, found) for line, found in others if line.number < since[one.id].number]
        wanted = set(_wanted(one, mine))
        if wanted and wanted <= {result for _, found in before for result in found}:
            late[one.id] = next(line for line, found in before if wanted & found)
    by_line = {line.number: line for line in late.values()}.values()
    return set(late), [
        f"Results of the same methods on the same queries could have been seen before, under {line.registration} "
        f"(line {line.number}): {', '.join(name for name, found in late.items() if found == line)}."
        for line in by_line
    ]


def _results(files: Files, line: Entry) -> set[Seen]:
    try:
        found = read_lock(files.beside(line.registration).lock(str(line.facts["lock"])))
    except LockError:
        return set()  # verifying the whole project tells that it is gone
    return {_result(cell["key"]) for cell in found.cells if cell["key"]["query_digests"] is not None}


def _wanted(prediction: Prediction, lock: Lock) -> Iterator[Seen]:
    labels, place = methods_of(prediction), prediction.cell
    for cell in lock.cells:
        key = cell["key"]
        here = place is None or (key["graph"], key["budget"]) == (place.graph, place.budget)
        if here and key["label"] != BASELINE and (not labels or key["label"] in labels):
            yield _result(key)


def _result(key: Mapping[str, Any]) -> Seen:
    queries = (key["query_digests"] or {}).get(TEST)
    return key["graph_digest"], queries, key["method"], canonical(key["params"])  # a label may spell out a default


def _late_deviations(registration: Registration, past: History, doubts: Doubts) -> tuple[set[str], list[str]]:
    """Predictions that rest on what was declared to be otherwise only when results could have been seen."""
    every = {one.id for one in registration.predictions}
    if doubts.again:
        return every, ["Runs of this lock came out differently, so every verdict is exploratory."]
    early = {word for line in past.of("deviate") if not past.seen(line) for word in line.facts["what"]}
    if doubts.code and "code" not in early:
        return every, ["Other code was declared after results could have been seen, so every verdict is exploratory."]
    labels = {str(one.key["label"]) for one in doubts.cells if not set(one.what) <= early}
    if not labels:
        return set(), []
    rest = {one.id for one in registration.predictions if not methods_of(one) or labels & set(methods_of(one))}
    note = f"Cells of {', '.join(sorted(labels))} deviate in what was declared after results could have been seen."
    return rest if BASELINE not in labels else every, [note]
