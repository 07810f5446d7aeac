"""The note in each study of the ledger lines about it, so that cutting the ledger short shows."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from aacbench.errors import LockError, StoreError
from aacbench.prereg.files import Files, relative
from aacbench.prereg.history import history_of
from aacbench.prereg.ledger import Entry, append, read_ledger
from aacbench.run.layout import REGISTRATION as NOTE
from aacbench.util.atomic_io import make_folder, replace_file, storing
from aacbench.util.canonical import parse_json, pretty


def write_line(files: Files, event: str, registration: str, facts: Mapping[str, Any]) -> Entry:
    """Add a line to the ledger, and to the note in every study that the registration was run into."""
    entry = append(files.ledger, event, registration, facts)
    starts = history_of(read_ledger(files.ledger).entries, registration).of("run_start")
    for folder in dict.fromkeys(files.folder / str(start.facts["study"]) for start in starts):
        if folder.is_dir():
            with suppress(StoreError):  # the line is written; a study that cannot be must not take that back
                write_note(folder, files, entry)
    return entry


def write_note(study: Path, files: Files, entry: Entry) -> None:
    """Note a line; of the lines about cells only the newest is kept, since the chain leads from it to the others."""
    line = {"number": entry.number, "event": entry.event, "registration": entry.registration, "digest": entry.digest}
    lines = [noted for noted in noted_lines(study) if noted.get("event") != "cell"]
    record = {"ledger": relative(files.ledger, study), "lines": [*lines, line]}
    with storing(study):
        make_folder(study)
        replace_file(study / NOTE, pretty(record))


def noted_lines(study: Path) -> list[dict[str, Any]]:
    lines = _read_note(study).get("lines", [])
    if not isinstance(lines, list) or not all(isinstance(line, dict) for line in lines):
        raise _unreadable_note(study)
    return lines


def cut_off(study: Path, entries: Sequence[Entry]) -> Iterator[str]:
    """A sentence about each line that a study notes and the ledger does not have."""
    known = {entry.digest for entry in entries}
    for line in noted_lines(study):
        if line.get("digest") not in known:
            yield (
                f"the study {study} notes line {line.get('number')} ({line.get('event')}), which is not in the ledger: "
                f"the ledger was cut short."
            )


def check_not_cut_off(files: Files, entries: Sequence[Entry]) -> None:
    """Refuse a ledger that lacks a line which a study beside it notes: a new line would make that final."""
    for study in studies_beside(files):
        for sentence in cut_off(study, entries):
            raise LockError(f"{files.ledger} is damaged: {sentence} Restore it from a copy, or move the study away.")


def noted_ledger(study: Path) -> Path | None:
    """The ledger that a study was run under, or None."""
    ledger = _read_note(study).get("ledger")
    return (study / ledger).resolve() if isinstance(ledger, str) else None


def studies_beside(files: Files) -> Iterator[Path]:
    """The studies of the project whose note names this ledger, including those the ledger does not mention."""
    for path in sorted((files.folder.parent / "studies").glob(f"*/{NOTE}")):
        try:
            ledger = noted_ledger(path.parent)
        except LockError:
            continue  # it cannot name a ledger; if a run names the study, the check of that run reports the note
        if ledger == files.ledger.resolve():
            yield path.parent


def _read_note(study: Path) -> dict[str, Any]:
    try:
        record = parse_json((study / NOTE).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable_note(study) from error
    if not isinstance(record, dict) or "lines" not in record:
        raise _unreadable_note(study)
    return record


def _unreadable_note(study: Path) -> LockError:
    return LockError(f"{study / NOTE} was changed and cannot be read.")
