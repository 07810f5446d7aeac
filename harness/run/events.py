"""The log of a run: who started it with what, and every event as it happened."""

import json
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aacbench.errors import DataError
from aacbench.run.cleanup import sweep
from aacbench.run.layout import RUNS
from aacbench.util.atomic_io import make_folder, replace_file, storing, sync_folder, write_all
from aacbench.util.canonical import canonical, plain, pretty

RUN_FILE, EVENTS_FILE = "run.json", "events.jsonl"


@dataclass(frozen=True, slots=True)
class RunLog:
    """One run's own folder in a study; several runs may be at work in one study."""

    root: Path
    folder: Path
    record: dict[str, Any]

    def event(self, kind: str, **facts: Any) -> None:
        """Append one line and wait until it is on disk."""
        with storing(self.root):
            _append(self.folder / EVENTS_FILE, canonical({**facts, "time": _now(), "event": kind}) + b"\n")

    def finish(self, summary: dict[str, Any]) -> None:
        """Note that the run came to its end, and how."""
        self._write({**self.record, "finished": _now(), "summary": plain(summary)})

    def _write(self, record: dict[str, Any]) -> None:
        with storing(self.root):
            replace_file(self.folder / RUN_FILE, pretty(record))


def start_run(root: Path, facts: dict[str, Any]) -> RunLog:
    """Open a new log, after clearing away what runs that were killed have left."""
    run_id = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"
    log = RunLog(root, root / RUNS / run_id, {"run": run_id, "started": _now(), "facts": plain(facts)})
    with storing(root):
        make_folder(log.folder)
        sweep(root)
    log._write(log.record)
    return log


def read_events(folder: Path) -> list[dict[str, Any]]:
    """The events of a run in order; a last line cut short by a crash is left out."""
    path = folder / EVENTS_FILE
    try:
        lines = path.read_bytes().split(b"\n")[:-1]  # what follows the last line end is empty or cut short
    except FileNotFoundError:
        return []
    return [_event(line, f"{path}, line {number}") for number, line in enumerate(lines, 1)]


def _event(line: bytes, where: str) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except ValueError as error:
        raise DataError(f"{where}: this is not an event but {line[:40]!r}.") from error
    if not isinstance(event, dict):
        raise DataError(f"{where}: an event is a JSON object.")
    return event


def _append(path: Path, line: bytes) -> None:
    is_new = not path.exists()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        length = os.fstat(descriptor).st_size
        try:
            write_all(descriptor, line)
            os.fsync(descriptor)
        except OSError:
            with suppress(OSError):  # half a line would spoil the next one
                os.ftruncate(descriptor, length)
            raise
    finally:
        os.close(descriptor)
    if is_new:
        sync_folder(path.parent)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
