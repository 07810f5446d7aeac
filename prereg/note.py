"""The note in a study: which lines of which ledger are about it, so that neither can be cut short alone."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aacbench.errors import LockError
from aacbench.prereg.files import Files
from aacbench.prereg.ledger import Entry, append, read_ledger
from aacbench.run.layout import REGISTRATION as NOTE
from aacbench.util.atomic_io import make_folder, replace_file, storing
from aacbench.util.canonical import spelt


def write_line(files: Files, event: str, registration: str, facts: Mapping[str, Any]) -> Entry:
    """Write a line in the ledger, and note it in every study that a run of the registration went into."""
    entries, _ = read_ledger(files.ledger)
    made = append(files.ledger, event, registration, facts)
    named = [line.facts["study"] for line in entries if (line.registration, line.event) == (registration, "run_start")]
    for folder in dict.fromkeys(files.folder / str(name) for name in named):
        if folder.is_dir():
            note(folder, files, made)
    return made


def note(root: Path, files: Files, made: Entry) -> None:
    """Keep in the study what was just written in the ledger."""
    line = {"number": made.number, "event": made.event, "registration": made.registration, "digest": made.digest}
    record = {"ledger": relative(files.ledger, root), "lines": [*noted(root), line]}
    with storing(root):
        make_folder(root)
        replace_file(root / NOTE, spelt(record, indent=1) + b"\n")


def noted(root: Path) -> list[dict[str, Any]]:
    """The lines of the ledger that the study says are about it."""
    lines = _read(root).get("lines", [])
    if not isinstance(lines, list) or not all(isinstance(line, dict) for line in lines):
        raise _unreadable(root)
    return lines


def studies_beside(files: Files) -> Iterator[Path]:
    """Studies of the project whose note names this ledger, whether or not the ledger still knows of them."""
    for path in sorted((files.folder.parent / "studies").glob(f"*/{NOTE}")):
        try:
            named = _read(path.parent).get("ledger")
        except LockError:
            continue  # of no use to find the ledger by; where a run names the study, it is told there
        if isinstance(named, str) and (path.parent / named).resolve() == files.ledger.resolve():
            yield path.parent


def relative(path: Path, start: Path) -> str:
    """A path as seen from another, for ledgers that travel with both."""
    return Path(os.path.relpath(path.resolve(), start.resolve())).as_posix()


def _read(root: Path) -> dict[str, Any]:
    try:
        record = json.loads((root / NOTE).read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(root) from error
    if not isinstance(record, dict) or "lines" not in record:
        raise _unreadable(root)
    return record


def _unreadable(root: Path) -> LockError:
    return LockError(f"{root / NOTE} was changed, and cannot be read any more.")
