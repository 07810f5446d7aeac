"""Which predictions are confirmatory: unchanged since before any result could be seen, and why the others are not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aacbench.errors import LockError
from aacbench.prereg.amend import affected_predictions
from aacbench.prereg.files import Files
from aacbench.prereg.key_diff import Deviation
from aacbench.prereg.ledger import Entry, History
from aacbench.prereg.lock import Lock, read_lock
from aacbench.prereg.predictions import Prediction, methods_of
from aacbench.prereg.schema import CONFIRMATORY, EXPLORATORY, Registration
from aacbench.run.records import BASELINE, TEST
from aacbench.util.canonical import canonical

ResultKey = tuple[Any, ...]  # what a result is about: a method with its parameters on a graph, with these queries


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDeviations:
    """How the runs behind the verdicts deviate from the lock."""

    cells: Sequence[Deviation]
    other_code: bool  # a run used other code of aacbench
    runs_disagree: bool  # two runs of one lock have different results


def standing(
    files: Files,
    registration: Registration,
    entries: Sequence[Entry],
    history: History,
    locks: Mapping[str, Lock],
    deviations: RunDeviations,
) -> tuple[dict[str, str], list[str]]:
    """Whether each prediction is confirmatory, exploratory or a replication, and notes on the reasons."""
    if registration.status != CONFIRMATORY:
        return {one.id: registration.status for one in registration.predictions}, []
    since = _since(history, locks)
    late = {name for name, entry in since.items() if history.seen(entry)}
    seen_elsewhere, notes = _seen_elsewhere(files, registration, entries, locks[history.digests[-1]], since)
    deviating, reasons = _late_deviations(registration, history, deviations)
    late |= seen_elsewhere | deviating
    words = {one.id: EXPLORATORY if one.id in late else CONFIRMATORY for one in registration.predictions}
    return words, notes + reasons


def first_run_lock(history: History, locks: Mapping[str, Lock]) -> Lock | None:
    """The lock in force when the first run began, whose predictions were made before any result."""
    starts = history.of("run_start")
    return locks.get(starts[0].facts["lock"]) if starts else None


def _since(history: History, locks: Mapping[str, Lock]) -> dict[str, Entry]:
    """The line since which each prediction has had its present meaning."""
    first, *later = history.locks
    since = {one["id"]: first for one in locks[history.digests[0]].registration["prediction"]}
    for digest, entry in zip(history.digests, later, strict=False):
        since |= dict.fromkeys(affected_predictions(locks[digest], locks[entry.facts["lock"]]), entry)
    return since


def _seen_elsewhere(
    files: Files, registration: Registration, entries: Sequence[Entry], lock: Lock, since: Mapping[str, Entry]
) -> tuple[set[str], list[str]]:
    """The predictions whose cells had all been run under other registrations of the ledger before their lock."""
    others = [
        (entry, _results(files, entry))
        for entry in entries
        if entry.event == "run_start" and entry.registration != registration.id
    ]
    late: dict[str, Entry] = {}
    for one in registration.predictions:
        before = [(entry, results) for entry, results in others if entry.number < since[one.id].number]
        wanted = set(_wanted(one, lock))
        if wanted and wanted <= {result for _, results in before for result in results}:
            late[one.id] = next(entry for entry, results in before if wanted & results)
    by_number = {entry.number: entry for entry in late.values()}.values()
    return set(late), [
        f"Results of the same methods on the same queries could have been seen before, under {entry.registration} "
        f"(line {entry.number}): {', '.join(name for name, first in late.items() if first == entry)}."
        for entry in by_number
    ]


def _results(files: Files, entry: Entry) -> set[ResultKey]:
    try:
        lock = read_lock(files.beside(entry.registration).lock(entry.facts["lock"]))
    except LockError:
        return set()  # verifying the other registration reports that its lock is missing
    return {_result(cell["key"]) for cell in lock.cells if cell["key"]["query_digests"] is not None}


def _wanted(prediction: Prediction, lock: Lock) -> Iterator[ResultKey]:
    labels, place = methods_of(prediction), prediction.cell
    for cell in lock.cells:
        key = cell["key"]
        here = place is None or (key["graph"], key["budget"]) == (place.graph, place.budget)
        if here and key["label"] != BASELINE and (not labels or key["label"] in labels):
            yield _result(key)


def _result(key: Mapping[str, Any]) -> ResultKey:
    queries = (key["query_digests"] or {}).get(TEST)
    # Not the label: it may or may not write out a default.
    return key["graph_digest"], queries, key["method"], canonical(key["params"])


def _late_deviations(
    registration: Registration, history: History, deviations: RunDeviations
) -> tuple[set[str], list[str]]:
    """The predictions that rest on a deviation declared only when results could have been seen."""
    every = {one.id for one in registration.predictions}
    if deviations.runs_disagree:
        return every, ["Runs of this lock have different results, so every verdict is exploratory."]
    early = {word for entry in history.of("deviate") if not history.seen(entry) for word in entry.facts["what"]}
    if deviations.other_code and "code" not in early:
        return every, ["Other code was declared after results could have been seen, so every verdict is exploratory."]
    labels = {str(one.key["label"]) for one in deviations.cells if not set(one.what) <= early}
    if not labels:
        return set(), []
    affected = {one.id for one in registration.predictions if not methods_of(one) or labels & set(methods_of(one))}
    note = f"Cells of {', '.join(sorted(labels))} have deviations declared after results could have been seen."
    return affected if BASELINE not in labels else every, [note]
