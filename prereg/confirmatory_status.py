"""Which predictions are confirmatory: unchanged since before any result could be seen, and why the others are not."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from aacbench.prereg.amend import affected_predictions
from aacbench.prereg.files import Files
from aacbench.prereg.history import History
from aacbench.prereg.key_diff import Change, Deviation
from aacbench.prereg.ledger import Entry, read_ledger
from aacbench.prereg.lock import Lock
from aacbench.prereg.others import Other, Result, others_of, result_of
from aacbench.prereg.predictions import Prediction, methods_of
from aacbench.prereg.schema import CONFIRMATORY, EXPLORATORY, Registration
from aacbench.run.records import BASELINE
from aacbench.run.store import ANSWERED
from aacbench.util.text import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDeviations:
    """How the runs behind the verdicts deviate from the lock."""

    cells: Sequence[Deviation]
    code: Sequence[Change]  # of aacbench, in any run
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
    since = _since(history, locks)
    every = list(others_of(files, registration.id, entries))
    others = [other for other in every if other.shares(locks[history.digests[-1]])]
    notes = [other.sentence for other in others]
    if rest := [one_line(other.id) for other in every if other not in others]:
        notes.append(f"The ledger also has registrations of other methods or graphs: {', '.join(rest)}.")
    if registration.status != CONFIRMATORY:
        return {one.id: registration.status for one in registration.predictions}, notes
    late = {name for name, entry in since.items() if history.seen(entry)}
    notes += _reverted(history, locks, since, late)
    for found, reasons in (
        _seen_elsewhere(others, registration, locks[history.digests[-1]], since),
        _late_deviations(registration, history, deviations),
        _second_results(registration, history),
    ):
        late |= found
        notes += reasons
    return {one.id: EXPLORATORY if one.id in late else CONFIRMATORY for one in registration.predictions}, notes


def seen_before(files: Files, registration: Registration, lock: Lock, entry: Entry) -> list[str]:
    """The notes on predictions that are exploratory from their lock on, since others of the ledger were run."""
    if registration.status != CONFIRMATORY:
        return []
    others = [
        other for other in others_of(files, registration.id, read_ledger(files.ledger).entries) if other.shares(lock)
    ]
    since = dict.fromkeys((one.id for one in registration.predictions), entry)
    return _seen_elsewhere(others, registration, lock, since)[1]


def _reverted(
    history: History, locks: Mapping[str, Lock], since: Mapping[str, Entry], late: Collection[str]
) -> Iterator[str]:
    """A sentence about predictions that read as they did before the first run, but were not so all the time."""
    first = first_run_lock(history, locks)
    before = first.registration["prediction"] if first else []
    for one in locks[history.digests[-1]].registration["prediction"]:
        if one["id"] in late and one in before:
            line = since[one["id"]].number
            yield f"{one['id']} is exploratory: it, or how it is run and judged, was amended in line {line}."


def first_run_lock(history: History, locks: Mapping[str, Lock]) -> Lock | None:
    """The lock in force when the first run began, whose predictions were made before any result."""
    return locks.get(history.showing[0].start.facts["lock"]) if history.showing else None


def _since(history: History, locks: Mapping[str, Lock]) -> dict[str, Entry]:
    """The line since which each prediction has had its present meaning."""
    since = {one["id"]: history.locks[0] for one in locks[history.digests[0]].registration["prediction"]}
    for digest, entry in history.amendments:
        since |= dict.fromkeys(affected_predictions(locks[digest], locks[entry.facts["lock"]]), entry)
    return since


def _seen_elsewhere(
    others: Sequence[Other], registration: Registration, lock: Lock, since: Mapping[str, Entry]
) -> tuple[set[str], list[str]]:
    """The predictions whose cells had all been run under other registrations of the ledger before their lock."""
    runs = [(run.start, other.results(run)) for other in others for run in other.history.showing]
    late: dict[str, Entry] = {}
    for one in registration.predictions:
        before = [(entry, results) for entry, results in runs if entry.number < since[one.id].number]
        wanted = set(_wanted(one, lock))
        # A lock that is missing is taken to be about all of them.
        found = {result for _, results in before for result in (wanted if results is None else results)}
        if wanted and wanted <= found:
            late[one.id] = next(entry for entry, results in before if results is None or wanted & results)
    by_number = {entry.number: entry for entry in late.values()}.values()
    return set(late), [
        f"Results of the same methods on the same queries could have been seen before, under {entry.registration} "
        f"(line {entry.number}), so these are exploratory: "
        f"{', '.join(name for name, first in late.items() if first == entry)}."
        for entry in by_number
    ]


def _wanted(prediction: Prediction, lock: Lock) -> Iterator[Result]:
    labels, place = methods_of(prediction), prediction.cell
    for cell in lock.cells:
        key = cell["key"]
        here = place is None or (key["graph"], key["budget"]) == (place.graph, place.budget)
        if here and key["label"] != BASELINE and (not labels or key["label"] in labels):
            yield result_of(key)


def _late_deviations(
    registration: Registration, history: History, deviations: RunDeviations
) -> tuple[set[str], list[str]]:
    """The predictions that rest on a deviation declared only when results could have been seen."""
    every = {one.id for one in registration.predictions}
    if deviations.runs_disagree:
        return every, ["Runs of this lock have different results, so every verdict is exploratory."]
    early = history.declared(early=True)
    if any(change.identity not in early for change in deviations.code):
        return every, ["Other code was declared after results could have been seen, so every verdict is exploratory."]
    labels = {str(one.key["label"]) for one in deviations.cells if not one.within(early)}
    if not labels:
        return set(), []
    note = f"Cells of {', '.join(sorted(labels))} have deviations declared after results could have been seen."
    return _about(registration, labels), [note]


def _second_results(registration: Registration, history: History) -> tuple[set[str], list[str]]:
    """The predictions that rest on cells run again with other results, more often than the lock allowed."""
    labels, notes = set(), []
    for place, lines in tries_by_place(history).items():
        if len(lines) > 1:
            told = ", then ".join(f"{one_line(line.facts['outcome'])} in line {line.number}" for line in lines)
            allowed = len(lines) - 1 <= registration.reruns
            permitted = " (the lock allows it)" if allowed else ""
            notes.append(f"Run again after it failed or with other results: {one_line(place)}: {told}{permitted}.")
            labels |= set() if allowed else {lines[0].facts["label"]}
    more = [f"{len(notes) - 3} more cells were run again like that."] if notes[3:] else []
    return _about(registration, labels), notes[:3] + more


def tries_by_place(history: History) -> dict[str, list[Entry]]:
    """For each place, the lines of its cells; without those that only repeat the result before, unless that failed."""
    found: dict[str, list[Entry]] = {}
    for line in history.of("cell"):
        tries = found.setdefault(line.facts["place"], [])
        last = tries[-1].facts if tries else None
        same = last is not None and all(last.get(key) == line.facts.get(key) for key in ("outcome", "result"))
        if not same or line.facts["outcome"] not in ANSWERED:
            tries.append(line)
    return found


def _about(registration: Registration, labels: Collection[str]) -> set[str]:
    """The predictions about any of these methods; the baseline is part of all."""
    predictions = registration.predictions
    return {
        one.id
        for one in predictions
        if labels and (BASELINE in labels or not methods_of(one) or set(labels) & set(methods_of(one)))
    }
