"""The commands of `aacbench prereg`, except `verify` and `run`: each does its work and returns or prints the result."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from aacbench.cli.shared import echo_json, study_folder
from aacbench.contract.method import Claims
from aacbench.errors import UsageError
from aacbench.library.plugins import protocol_files, warn
from aacbench.library.running import config_of
from aacbench.plugins.manager import PluginManager, load_plugins
from aacbench.plugins.settings import resolve
from aacbench.prereg import anchors
from aacbench.prereg.amend import (
    ENDED,
    amend_registration,
    current_lock,
    lock_registration,
    open_history,
    sound_history,
    unchanged_lock,
)
from aacbench.prereg.cautions import cautions
from aacbench.prereg.changes import changes_between, distinct, loaded_beside, public_changes
from aacbench.prereg.confirmatory_status import seen_before
from aacbench.prereg.files import Files, files_of, shipped, uncommitted
from aacbench.prereg.key_diff import WHAT
from aacbench.prereg.lock import Lock, make_lock
from aacbench.prereg.notes import write_line
from aacbench.prereg.power import OVER_QUERIES, OVER_SEEDS, Outlook, outlooks
from aacbench.prereg.schema import Registration, read_registration
from aacbench.prereg.template import new_registration
from aacbench.prereg.verify import past_changes
from aacbench.protocols.reader import read_protocol
from aacbench.reports.formatting import aligned, optional
from aacbench.run.driver import plan_ahead
from aacbench.run.plan import labels_claiming
from aacbench.run.study import planned_cells
from aacbench.stats import CROSSED_2
from aacbench.stats.profiles import SEEDS
from aacbench.util.atomic_io import make_folder, storing, write_file
from aacbench.util.text import printable

COUNTED = {
    OVER_SEEDS: "It counts the spread over seeds alone; with few queries it is lower.",
    OVER_QUERIES: "Where both methods are deterministic there are no seeds, and it counts the spread over queries.",
}


def write_new(file: Path, source: str, title: str) -> str:
    files = files_of(file)
    if file.exists():
        raise UsageError(f"{file} exists already; choose another name.")
    copies = shipped()
    if source in copies:
        text = copies[source].read_text(encoding="utf-8").replace(f'id = "{source}"', f'id = "{file.stem}"', 1)
    else:
        text = new_registration(read_protocol(source, protocol_files(load_plugins())), file.stem, title)
    with storing(files.folder):
        make_folder(files.folder)
        write_file(file, text.encode())
    return f"Wrote {file}. Fill in every TODO, then use `aacbench prereg plan {file}`."


def print_plan(file: Path, pilot: Path | None, plugin_files: tuple[Path, ...], as_json: bool) -> None:
    registration = read_registration(file)
    cells = [cell for cell in planned_cells(study_folder(pilot)) if cell.is_reported] if pilot else None
    plugins = load_plugins(tuple(path.resolve() for path in plugin_files))
    warn(plugins)
    without_seeds = _claiming(registration, plugins, lambda claims: claims.deterministic)
    found = outlooks(registration, cells, without_seeds)
    if as_json:
        echo_json({"id": registration.id, "target": registration.power, "predictions": [asdict(one) for one in found]})
        return
    if found:
        click.echo(aligned([_outlook_row(one) for one in found], ("prediction", "sd from")))
        click.echo("\nPower is the probability to survive if the true effect is in the middle of the prediction.")
        for over in dict.fromkeys(one.over for one in found):
            click.echo(COUNTED[over])
        click.echo("Ratios are on the log scale.")
    for one in found:
        for sentence in filter(None, (_pilot_note(one, pilot), _warning(one, registration))):
            click.echo(sentence)
    if not found:
        click.echo("Power is computed for bands and equivalence only, and there is no such prediction.")
    for sentence in _cautions(registration, plugins):
        click.echo(sentence)


def lock_file(file: Path, plugin_files: tuple[Path, ...], allow_dirty: bool) -> str:
    files, registration = _read(file)
    _refuse_dirty([file, *plugin_files], allow_dirty)
    lock, entry = lock_registration(files, registration, lambda one: _make(one, files, plugin_files))
    plugins = load_plugins(tuple(path.resolve() for path in plugin_files))
    lines = [
        f"Locked {registration.id}: {lock.digest}",
        f"{len(lock.cells)} cells and {len(registration.predictions)} predictions in {files.lock(lock.digest)}; "
        f"line {entry.number} of {files.ledger}.",
        *_cautions(registration, plugins),
        *(printable(f"Note: {note}") for note in seen_before(files, registration, lock, entry)),
        f"Commit or publish the registration, the lock and the ledger now, then use `aacbench prereg run {file}`.",
    ]
    return "\n".join(lines)


def amend_file(file: Path, reason: str, plugin_files: tuple[Path, ...], allow_dirty: bool) -> str:
    files, registration = _read(file)
    _refuse_dirty([file, *plugin_files], allow_dirty)
    lock, entry = amend_registration(files, registration, reason, lambda one: _make(one, files, plugin_files))
    changed = "\n".join(f"  {one['key']}: {one['before']!r} -> {one['after']!r}" for one in entry.facts["difference"])
    last = sound_history(files, registration.id).entries[-1]
    late = ", ".join(last.facts["predictions"]) if last.event == "exploratory" else ""
    seen = (
        f"A run has begun, so results could have been seen. Exploratory from now on: {late or 'none'}."
        if entry.facts["seen"]
        else "No run has begun, so no prediction becomes exploratory."
    )
    return f"Amended {registration.id}: {lock.digest}\n{changed}\n{seen}"


def declare_deviation(
    file: Path, what: Sequence[str], reason: str, plugin_files: tuple[Path, ...], public: str | None
) -> str:
    """Declare what a run would do otherwise than locked now, and what runs did so; all of it, or that in `what`."""
    files, registration = _read(file)
    for word in what:
        if word not in WHAT:
            raise UsageError(f"--what cannot be {word!r}; choose from {', '.join(WHAT)}.")
    history = open_history(files, registration.id)
    lock = unchanged_lock(files, registration, history)
    found = [*changes_between(lock, _make(registration, files, plugin_files)), *past_changes(files, registration)]
    found += public_changes(history, public) if public is not None else []
    declared = history.declared()
    new = [change for change in distinct(found) if change.identity not in declared]
    chosen = [change for change in new if not what or change.what in what]
    for word in what or [""]:
        if not any(word in ("", change.what) for change in chosen):
            where = f" in {word}" if word else ""
            raise UsageError(
                f"Nothing{where} differs from the lock that was not declared; make the change first, give a changed "
                f"plugin with --plugin, then declare it."
            )
    facts = {
        "what": list(dict.fromkeys(change.what for change in chosen)),
        "changes": [change.record() for change in chosen],
        "reason": reason,
    }
    entry = write_line(files, "deviate", registration.id, facts)
    return f"Declared in line {entry.number} of {files.ledger}: {'; '.join(map(str, chosen))}."


def end_registration(file: Path, event: str, reason: str) -> str:
    files, registration = _read(file)
    open_history(files, registration.id)
    entry = write_line(files, event, registration.id, {"reason": reason})
    return f"{registration.id} is {ENDED[event]}: line {entry.number} of {files.ledger}."


def anchor_file(
    file: Path, ssh: Path | None, git_tag: str | None, request: bool, rfc3161: Path | None, ca: Path | None
) -> str:
    files, registration = _read(file)
    name, lock = registration.id, current_lock(files, open_history(files, registration.id)).digest
    entries = []
    if ssh is not None:
        entries.append(anchors.sign_with_ssh(files, name, lock, ssh))
    if git_tag is not None:
        entries.append(anchors.sign_git_tag(files, name, lock, git_tag))
    if rfc3161 is not None:
        entries.append(anchors.keep_stamp(files, name, lock, rfc3161, ca))
    lines = [f"Anchored by {entry.facts['kind']}: line {entry.number} of {files.ledger}." for entry in entries]
    if request:
        path = anchors.write_request(files, name, lock)
        lines.append(f"Wrote {path}. Send it to an authority, and store the answer with --rfc3161.")
    if not lines:
        raise UsageError("Choose an anchor: --ssh KEY, --git-tag NAME, --request, or --rfc3161 FILE.")
    return "\n".join(lines)


def print_status(file: Path, as_json: bool) -> None:
    files, registration = _read(file)
    history = sound_history(files, registration.id)
    if as_json:
        lines = [asdict(entry) for entry in history.entries]
        echo_json({"id": registration.id, "digest": registration.digest, "locks": history.digests, "lines": lines})
        return
    state = "a draft, not locked" if history.locked is None else f"locked as {history.digests[-1][:8]}"
    if history.ended is not None:
        state += f", {ENDED[history.ended.event]}"
    click.echo(f"{registration.id}: {registration.status}, {state}; {len(registration.predictions)} predictions")
    for entry in history.entries:
        time = entry.time[:19].replace("T", " ")
        keys = [key for key in ("reason", "kind", "study", "predictions", "place") if key in entry.facts]
        main_fact = entry.facts[keys[0]] if keys else entry.facts["lock"][:8]
        click.echo(printable(f"  {entry.number:3} {time}  {entry.event:12}{main_fact}"))


def _read(file: Path) -> tuple[Files, Registration]:
    return files_of(file), read_registration(file)


def _make(registration: Registration, files: Files, plugin_files: tuple[Path, ...]) -> Lock:
    paths = tuple(path.resolve() for path in plugin_files)
    plugins = load_plugins(paths)
    warn(plugins)
    study = registration.study
    setup = config_of(files.study, plugins)
    keys, facts = plan_ahead(study, setup)
    used = {cell.method for cell, _ in keys}
    known = {name: loaded.origin for name, loaded in plugins.methods().items()}
    known |= {name: loaded.origin for name, loaded in plugins.encoders().items()}
    origins = {name: origin for name, origin in known.items() if name in used}
    methods = {
        name: {"origin": one.kind, "distribution": Path(one.where).name, "version": one.version, "digest": one.digest}
        for name, one in origins.items()
    }
    beside = loaded_beside(plugins.foreign_digests(), [key for _, key in keys])
    return make_lock(registration, keys, facts, methods, beside)


def _claiming(registration: Registration, plugins: PluginManager, claim: Callable[[Claims], bool]) -> frozenset[str]:
    methods = {name: loaded.method for name, loaded in plugins.methods().items()}
    return labels_claiming(claim, registration.study, methods, resolve)


def _cautions(registration: Registration, plugins: PluginManager) -> Iterator[str]:
    return cautions(registration, _claiming(registration, plugins, lambda claims: claims.consistent))


def _refuse_dirty(paths: Sequence[Path], allowed: bool) -> None:
    for path in paths:
        if not allowed and uncommitted(path):
            raise UsageError(f"{path} has uncommitted changes in git; commit it first, or use --allow-dirty.")


def _pilot_note(one: Outlook, pilot: Path | None) -> str:
    spread = "takes the declared spread" if one.sd else f"has no known spread over {one.over}"
    return f"Note: {one.prediction} {spread}: {pilot} {one.pilot_lacks}." if one.pilot_lacks else ""


def _warning(one: Outlook, registration: Registration) -> str:
    if one.power is not None and one.power < registration.power:
        needed = f"needs {one.needed} {one.over}" if one.needed else f"cannot be reached with more {one.over}"
        return f"Warning: {one.prediction} has a power of {one.power:.2f}; the target {registration.power:g} {needed}."
    if one.half_width is None:
        return f"Note: {one.prediction} is open on one side, so its power cannot be computed."
    if one.power is not None or one.pilot_lacks:
        return ""
    if one.over == OVER_QUERIES and registration.profile.inference == SEEDS:
        return (
            f"Warning: {one.prediction} has no seeds, because both methods are deterministic, and "
            f"{registration.study.analysis} tests over seeds only; use {CROSSED_2.label}."
        )
    if one.over == OVER_SEEDS and one.number == 1:
        return f"Warning: {one.prediction} has one seed, so it says nothing about other seeds."
    key = "sd" if one.over == OVER_SEEDS else "sd_queries"
    return f"Note: {one.prediction} has no known spread over {one.over}; set {key} in [power], or use --pilot."


def _outlook_row(one: Outlook) -> dict[str, str]:
    number, needed = optional(one.number, "d"), optional(one.needed, "d")
    return {
        "prediction": one.prediction,
        "seeds": number if one.over == OVER_SEEDS else "none",
        "queries": number if one.over == OVER_QUERIES else "",
        "half width": optional(one.half_width, ".3g"),
        "sd": optional(one.sd, ".3g"),
        "sd from": one.sd_from,
        "power": optional(one.power, ".2f"),
        "smallest margin": optional(one.smallest, ".3g"),
        "seeds needed": needed if one.over == OVER_SEEDS else "",
        "queries needed": needed if one.over == OVER_QUERIES else "",
        "sd allowed": optional(one.sd_allowed, ".3g"),
    }
