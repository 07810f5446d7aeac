"""What the commands of `aacbench prereg` do, but for `verify` and `run`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from aacbench.cli.plugins import warn
from aacbench.cli.protocols import of_plugins
from aacbench.cli.running import setup_of
from aacbench.cli.studies import echo_json, study_folder
from aacbench.errors import UsageError
from aacbench.plugins.manager import load_plugins
from aacbench.prereg import anchors
from aacbench.prereg.amend import amend_registration, current_lock, lock_registration, open_history, sound_history
from aacbench.prereg.evaluate import reported
from aacbench.prereg.files import Files, files_of
from aacbench.prereg.git import uncommitted
from aacbench.prereg.key_diff import WHAT
from aacbench.prereg.lock import Lock, make_lock
from aacbench.prereg.note import write_line
from aacbench.prereg.power import Outlook, outlooks
from aacbench.prereg.schema import Registration, read_registration
from aacbench.prereg.shipped import shipped
from aacbench.prereg.writing import new_registration
from aacbench.protocols.reader import read_protocol
from aacbench.reports.formatting import aligned
from aacbench.run.driver import prepare
from aacbench.run.keys import key_of
from aacbench.run.study import planned_cells
from aacbench.util.atomic_io import make_folder, storing, write_file


def write_new(file: Path, source: str, title: str) -> str:
    """Write a registration from a protocol, or copy a shipped one, and say what comes next."""
    files = files_of(file)
    if file.exists():
        raise UsageError(f"{file} is there already; choose another name.")
    copies = shipped()
    if source in copies:
        text = copies[source].read_text(encoding="utf-8").replace(f'id = "{source}"', f'id = "{file.stem}"', 1)
    else:
        text = new_registration(read_protocol(source, of_plugins(load_plugins())), file.stem, title)
    with storing(files.folder):
        make_folder(files.folder)
        write_file(file, text.encode())
    return f"{file} is written; fill in what says TODO, then use `aacbench prereg plan {file}`."


def show_plan(file: Path, pilot: Path | None, as_json: bool) -> None:
    """Print what every prediction has the power to show."""
    registration = read_registration(file)
    cells = reported(planned_cells(study_folder(pilot))) if pilot else []
    found = outlooks(registration, cells)
    if as_json:
        echo_json({"id": registration.id, "target": registration.power, "predictions": [asdict(one) for one in found]})
        return
    if found:
        click.echo(aligned([_outlook_row(one) for one in found], ("prediction", "sd from")))
        click.echo(
            "\nPower is the chance to survive if the truth is in the middle of what is predicted, counting the spread "
            "over seeds\nalone: queries vary too, and with few of them it is less. Ratios are on the log scale."
        )
    for one in found:
        if one.power is not None and one.power < registration.power:
            needed = f"{one.needed} seeds would" if one.needed else "no number of seeds in reach would"
            click.echo(
                f"Warning: {one.prediction} has a power of {one.power:.2f}; {needed} give {registration.power:g}."
            )
        elif one.seeds < 2:
            click.echo(f"Warning: {one.prediction} has one seed, so nothing will be shown about other seeds.")
        elif one.half_width is None:
            click.echo(f"Note: {one.prediction} is open to one side, and no power is reckoned for that.")
        elif one.power is None:
            click.echo(f"Note: {one.prediction} has no spread to reckon with; give [power] sd, or --pilot.")
    if not found:
        click.echo("There is no prediction of a band or of equivalence to reckon the power of.")


def lock_file(file: Path, plugin_files: tuple[Path, ...], allow_dirty: bool) -> str:
    """Lock a registration and say what was locked."""
    files, registration = _read(file)
    _refuse_dirty([file, *plugin_files], allow_dirty)
    lock, line = lock_registration(files, registration, lambda one: _make(one, files, plugin_files))
    return (
        f"{registration.id} is locked: {lock.digest}\n{len(lock.cells)} cells, {len(registration.predictions)} "
        f"predictions, in {files.lock(lock.digest)}; line {line.number} of {files.ledger}.\n"
        f"Commit or publish all three now, then use `aacbench prereg run {file}`."
    )


def amend_file(file: Path, reason: str, plugin_files: tuple[Path, ...], allow_dirty: bool) -> str:
    """Amend a registration and say what that does to its predictions."""
    files, registration = _read(file)
    _refuse_dirty([file, *plugin_files], allow_dirty)
    lock, line = amend_registration(files, registration, reason, lambda one: _make(one, files, plugin_files))
    changed = "\n".join(f"  {one['key']}: {one['before']!r} -> {one['after']!r}" for one in line.facts["difference"])
    last = sound_history(files, registration.id).entries[-1]
    late = ", ".join(last.facts["predictions"]) if last.event == "exploratory" else ""
    seen = (
        f"Results could have been seen by now, so these predictions are exploratory from here on: {late or 'none'}."
        if line.facts["seen"]
        else "No run had begun, so every prediction stays what it was."
    )
    return f"{registration.id} is amended: {lock.digest}\n{changed}\n{seen}"


def deviate_from(file: Path, what: Sequence[str], reason: str) -> str:
    """Declare a deviation."""
    files, registration = _read(file)
    for word in what:
        if word not in WHAT:
            raise UsageError(f"--what cannot be {word!r}; there are {', '.join(WHAT)}.")
    open_history(files, registration.id)
    line = write_line(files, "deviate", registration.id, {"what": list(what), "reason": reason})
    return f"Declared in line {line.number} of {files.ledger}: {', '.join(what)}."


def end(file: Path, event: str, reason: str) -> str:
    """Close or withdraw a registration."""
    files, registration = _read(file)
    open_history(files, registration.id)
    line = write_line(files, event, registration.id, {"reason": reason})
    word = {"close": "closed", "withdraw": "withdrawn"}[event]
    return f"{registration.id} is {word}: line {line.number} of {files.ledger}."


def anchor_file(
    file: Path, ssh: Path | None, git_tag: str | None, request: bool, rfc3161: Path | None, ca: Path | None
) -> str:
    """Anchor the lock in force."""
    files, registration = _read(file)
    name, lock = registration.id, current_lock(files, open_history(files, registration.id)).digest
    said = []
    if ssh is not None:
        said.append(anchors.sign_with_ssh(files, name, lock, ssh))
    if git_tag is not None:
        said.append(anchors.sign_git_tag(files, name, lock, git_tag))
    if rfc3161 is not None:
        said.append(anchors.keep_stamp(files, name, lock, rfc3161, ca))
    lines = [f"Anchored by {line.facts['kind']}: line {line.number} of {files.ledger}." for line in said]
    if request:
        path = anchors.write_request(files, name, lock)
        lines.append(f"{path} is written; send it to an authority and keep the answer with --rfc3161.")
    if not lines:
        raise UsageError("say how to anchor it: --ssh KEY, --git-tag NAME, --request, or --rfc3161 FILE.")
    return "\n".join(lines)


def show_status(file: Path, as_json: bool) -> None:
    """Print what the ledger tells of a registration."""
    files, registration = _read(file)
    past = sound_history(files, registration.id)
    if as_json:
        lines = [asdict(line) for line in past.entries]
        echo_json({"id": registration.id, "digest": registration.digest, "locks": past.digests, "lines": lines})
        return
    state = "a draft, not locked" if past.locked is None else f"locked as {past.digests[-1][:8]}"
    if past.ended is not None:
        state += {"close": ", closed", "withdraw": ", withdrawn"}[past.ended.event]
    click.echo(f"{registration.id}: {registration.status}, {state}; {len(registration.predictions)} predictions")
    for line in past.entries:
        click.echo(f"  {line.number:3} {line.time[:19].replace('T', ' ')}  {line.event:12}{_told(line.facts)}")


def _told(facts: Any) -> str:
    for key in ("reason", "kind", "study", "predictions"):
        if key in facts:
            return str(facts[key])
    return str(facts.get("lock", ""))[:8]


def _read(file: Path) -> tuple[Files, Registration]:
    return files_of(file), read_registration(file)


def _make(registration: Registration, files: Files, plugin_files: tuple[Path, ...]) -> Lock:
    """Load the graphs and plan every cell, as the run will."""
    paths = tuple(path.resolve() for path in plugin_files)
    plugins = load_plugins(paths)
    warn(plugins)
    study = registration.study
    setup = setup_of(files.study, study, plugins, paths)
    planned, facts = prepare(study, setup)
    used = {name for cell in planned.cells for name in (cell.method,)}
    origins = {name: loaded.origin for name, loaded in plugins.methods().items() if name in used}
    methods = {
        name: {"origin": one.kind, "distribution": Path(one.where).name, "version": one.version, "digest": one.digest}
        for name, one in origins.items()
    }
    keys = [(cell, key_of(study, setup, facts, cell)) for cell in planned.cells]
    return make_lock(registration, keys, facts, methods)


def _refuse_dirty(paths: Sequence[Path], allowed: bool) -> None:
    for path in paths:
        if not allowed and uncommitted(path):
            raise UsageError(f"git has uncommitted changes of {path}; commit it first, or use --allow-dirty.")


def _outlook_row(one: Outlook) -> dict[str, str]:
    return {
        "prediction": one.prediction,
        "seeds": str(one.seeds),
        "half width": "" if one.half_width is None else f"{one.half_width:.3g}",
        "sd": "" if one.sd is None else f"{one.sd:.3g}",
        "sd from": one.sd_from,
        "power": "" if one.power is None else f"{one.power:.2f}",
        "smallest margin": "" if one.smallest is None else f"{one.smallest:.3g}",
        "seeds needed": "" if one.needed is None else str(one.needed),
        "sd allowed": "" if one.sd_allowed is None else f"{one.sd_allowed:.3g}",
    }
