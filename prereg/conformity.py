"""Checks of `verify` on what was locked and what was run: order, locks, cells, choices, queries, code, clocks."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from aacbench.errors import AacbenchError, LockError
from aacbench.maps.atlas import atlas
from aacbench.prereg.amend import changes_since
from aacbench.prereg.binding import query_digests, seed_from, seeded
from aacbench.prereg.changes import code_changes, plugin_changes, public_changes
from aacbench.prereg.checks import (
    DEVIATION,
    FAIL,
    INCOMPLETE,
    NOT_CHECKED,
    OK,
    ORDER,
    TAMPERED,
    WARNING,
    Check,
    check_of,
)
from aacbench.prereg.files import Files
from aacbench.prereg.history import History
from aacbench.prereg.key_diff import (
    CODE,
    QUERIES,
    Change,
    Match,
    cell_name,
    chosen_key,
    encoder_of,
    match,
    with_queries,
    without_lock,
)
from aacbench.prereg.ledger import Entry
from aacbench.prereg.lock import Lock, read_lock
from aacbench.prereg.runs import Runs
from aacbench.prereg.schema import FROM_LOCK, Registration
from aacbench.run.predicted import of_cell
from aacbench.run.records import ENCODE, TEST
from aacbench.run.store import ANSWERED, Cell
from aacbench.util.canonical import canonical


def order_checks(history: History) -> list[Check]:
    assert history.locked is not None
    problems = [
        f"line {entry.number} ({entry.event}) comes before the lock in line {history.locked.number}."
        for entry in history.entries
        if entry.number < history.locked.number
    ]
    problems += [f"line {entry.number} locks the registration a second time." for entry in history.of("lock")[1:]]
    known: set[str] = set()
    under_way: set[str] = set()
    for entry in history.entries:
        if entry.event == "run_start":
            under_way.add(entry.digest)
        elif entry.event in ("cell", "run_end", "abort") and entry.facts["start"] not in under_way:
            problems.append(f"line {entry.number} ({entry.event}) belongs to no run that was under way.")
        if entry.event in ("run_end", "abort"):
            under_way.discard(entry.facts["start"])
        if entry.event in ("lock", "amend"):
            known.add(entry.facts["lock"])
        elif "lock" in entry.facts and entry.facts["lock"] not in known:
            problems.append(f"line {entry.number} ({entry.event}) names a lock that did not exist yet.")
        ended = history.ended
        if ended and entry.number > ended.number and entry.event not in ("anchor", "close", "withdraw"):
            problems.append(f"line {entry.number} ({entry.event}) comes after the end of the registration.")
    denials = [
        f"line {entry.number} says that no results had been seen before the amendment, but a run had begun."
        for entry in history.of("amend")
        if history.seen(entry) and entry.facts.get("seen") is not True
    ]
    count = len(history.of("amend"))
    return [
        check_of("order", problems, ORDER, "the lock comes first"),
        check_of("amendments", denials, ORDER, f"{count}; each says correctly whether a run had begun"),
    ]


def locks_of(files: Files, registration: Registration, history: History) -> tuple[dict[str, Lock], list[Check]]:
    """Every lock by its digest, or none if one of them is missing or changed; and the checks of lock and file."""
    locks: dict[str, Lock] = {}
    problems = []
    for entry in history.locks:
        digest = entry.facts["lock"]
        try:
            lock = read_lock(files.lock(digest))
        except LockError as error:
            problems.append(str(error))
            continue
        if lock.digest != digest:
            problems.append(f"The lock file {files.lock(digest).name} is not the one that line {entry.number} names.")
        locks[digest] = lock
    named = [files.lock(digest) for digest in history.digests]
    checks = [check_of("lock", problems, TAMPERED, f"{history.digests[-1][:8]}, as in the ledger")]
    checks += [
        Check("lock", WARNING, f"{path.name} is in no line of the ledger; it may be of a `lock` that was killed.")
        for path in files.locks()
        if path not in named
    ]
    if problems:
        return {}, checks
    checks.append(check_of("amended", _empty_amendments(history, locks), ORDER, "each amendment changed the file"))
    changed = [
        f"{one['key']} is {one['after']!r} in the file, but {one['before']!r} was locked."
        for one in changes_since(registration, locks[history.digests[-1]])
    ]
    return locks, [*checks, check_of("registration", changed, TAMPERED, "the file is as locked")]


def _empty_amendments(history: History, locks: Mapping[str, Lock]) -> Iterator[str]:
    """A lock of the same registration would give every cell another name, and hide that it was run before."""
    for before, entry in history.amendments:
        if locks[before].registration == locks[entry.facts["lock"]].registration:
            yield f"line {entry.number} (amend) changes nothing in the registration."


def as_locked(
    registration: Registration, lock: Lock, history: History, cells: Sequence[Cell]
) -> tuple[list[Check], Match]:
    queries, checks = _queries(registration, history)
    cells = [cell for cell in cells if not _drawn_earlier(cell, history, queries)]
    matched = match(lock, [cell.key for cell in cells], queries)
    undeclared = [one for one in matched.deviating if not one.within(history.declared())]
    declared = len(matched.deviating) - len(undeclared)
    evidence = f"{len(matched.same)} cells" + (f", and {declared} with declared deviations" if declared else "")
    replaced = {canonical(one.instead) for one in matched.deviating}
    absent = [key for key in matched.missing if canonical(key) not in replaced]
    missing = [f"{cell_name(key)} was planned but is missing." for key in absent]
    bad = [cell for cell in cells if cell.outcome not in ("ok", "unsupported")]
    missing += [f"{cell_name(cell.key)} is {cell.outcome}: {cell.record.get('reason')}" for cell in bad]
    checks += [
        check_of("as locked", [f"{one.sentence}." for one in undeclared], DEVIATION, evidence),
        check_of("choices", _wrong_choices(lock, cells, queries), DEVIATION, "best on the validation queries"),
        check_of("complete", missing, INCOMPLETE, f"{len(matched.same)} of {len(lock.cells)} planned cells"),
    ]
    return checks, matched


def costs_check(cells: Sequence[Cell]) -> Check:
    """Whether each search on maps is on the costs that the encoder's cell holds."""
    stored = {cell.cell_id: cell for cell in cells if cell.key["role"] == ENCODE and cell.outcome == "ok"}
    digests = {name: atlas(of_cell(cell).costs[TEST]).digest for name, cell in stored.items()}
    searches = [cell for cell in cells if encoder_of(cell.key) and cell.outcome in ANSWERED]
    problems = [
        f"{cell_name(cell.key)} was not run on the costs in cell {encoder_of(cell.key)}."
        for cell in searches
        if cell.key["graph_digest"] != digests.get(encoder_of(cell.key))
    ]
    return check_of("costs", problems, TAMPERED, f"{len(searches)} searches are on the costs of {len(stored)} encoders")


def _queries(registration: Registration, history: History) -> tuple[Mapping[str, Any] | None, list[Check]]:
    """The digests of queries drawn after the lock, redrawn here if the graphs are on this machine."""
    if registration.seed_source != FROM_LOCK or not history.showing:
        return None, []
    declared = history.declared()
    texts = sorted({str(run.start.facts.get("public")) for run in history.showing})
    if any(change.identity not in declared for text in texts for change in public_changes(history, text)):
        several = f"queries were drawn {len(texts)} times, from different public texts: {', '.join(texts)}."
        return None, [Check(QUERIES, FAIL, several, DEVIATION)]
    facts = history.showing[-1].start.facts
    lock, public = str(facts["lock"]), str(facts.get("public"))
    recorded: Mapping[str, Any] = facts.get("queries") or {}
    try:
        drawn = query_digests(seeded(registration.study, lock, public))
    except AacbenchError as error:
        return recorded, [Check(QUERIES, NOT_CHECKED, f"they could not be redrawn: {error}")]
    if drawn != recorded:
        wrong = "the recorded queries are not those drawn from the lock and the public text."
        return drawn, [Check(QUERIES, FAIL, wrong, DEVIATION)]
    return drawn, [Check(QUERIES, OK, f"seed {seed_from(lock, public)}, from the lock and {public!r}")]


def _drawn_earlier(cell: Cell, history: History, queries: Mapping[str, Any] | None) -> bool:
    """Whether a cell answers the queries of an earlier run, which drew them from another public text."""
    mine = cell.key["query_digests"]
    if queries is None or mine == queries.get(cell.key["graph"]):
        return False
    return any(mine == (run.start.facts.get("queries") or {}).get(cell.key["graph"]) for run in history.showing)


def _plugins(start: Entry) -> dict[str, str]:
    found = start.facts.get("plugins")
    return found if isinstance(found, dict) else {}


def code_check(locks: Mapping[str, Lock], history: History) -> Check:
    declared = history.declared()
    problems = [
        f"the run in line {line} used other code than was locked: {change}."
        for line, change in other_code(locks, history)
        if change.identity not in declared
    ]
    return check_of(CODE, problems, DEVIATION, "the runs used the locked code")


def other_code(locks: Mapping[str, Lock], history: History) -> list[tuple[int, Change]]:
    """The runs that used other code than was locked, by the line of their start."""
    return [
        (run.start.number, change)
        for run in history.showing
        if (lock := locks.get(run.start.facts["lock"])) is not None
        for change in [*code_changes(lock, run.start.facts["code"]), *plugin_changes(lock, _plugins(run.start))]
    ]


def clock_check(locks: Mapping[str, Lock], runs: Runs) -> Check:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    late = [entry for entry in runs.history.entries if entry.time > now]
    problems = [f"line {late[0].number} of the ledger is dated {late[0].time}, which is still to come."] if late else []
    for folder in runs.stored:
        for file in sorted(folder.glob("runs/*/run.json")):
            try:
                record = json.loads(file.read_bytes())
                bound, started = record["facts"].get("lock"), str(record["started"])
            except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
                continue  # a log proves nothing about rows, which have their own checks
            lock = locks.get(str(bound))
            if lock is not None and started < lock.body["locked"]:
                problems.append(
                    f"the run {record.get('run')} began at {started}, before the lock at {lock.body['locked']}."
                )
    found = check_of("clocks", problems, ORDER, "no log of a run is older than its lock")
    # A clock may have been set; the ledger has the order.
    return found if found.status == OK else Check("clocks", WARNING, f"{found.evidence} The ledger's order is right.")


def _wrong_choices(lock: Lock, cells: Sequence[Cell], queries: Mapping[str, Any] | None) -> Iterator[str]:
    """A sentence about each group whose reported setting is not the best on the candidates' validation rows."""
    stored = {canonical(without_lock(cell.key)): cell for cell in cells}
    groups: dict[str, list[dict[str, Any]]] = {}
    for planned in lock.cells:
        if planned["group"]:
            groups.setdefault(planned["group"], []).append(with_queries(planned["key"], queries))
    for keys in groups.values():
        candidates = [stored[name] for key in keys if (name := canonical(key)) in stored]
        answered = [cell for cell in candidates if cell.outcome == "ok"]
        chosen = [key for key in keys if canonical(chosen_key(key)) in stored]
        if len(candidates) == len(keys) and answered and chosen:
            best = min(answered, key=lambda cell: float(np.mean(cell.queries["expanded"])))
            if [canonical(key) for key in chosen] != [canonical(without_lock(best.key))]:
                yield f"{cell_name(keys[0])}: the reported setting is not the best one on the validation queries."
