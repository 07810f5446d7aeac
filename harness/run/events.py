"""The log of a run: its settings in `run.json`, and its events as they happen."""

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aacbench.run.layout import RUNS
from aacbench.run.store import sweep
from aacbench.util.atomic_io import make_folder, replace_file, storing, sync_folder, write_all
from aacbench.util.canonical import canonical, plain, pretty

RUN_FILE, EVENTS_FILE = "run.json", "events.jsonl"


@dataclass(frozen=True, slots=True)
class RunLog:
    """The log folder of one run; a study may have several runs at the same time."""

    root: Path
    folder: Path
    record: dict[str, Any]

    def event(self, kind: str, **facts: Any) -> None:
        """Append one event and wait until it is on disk."""
        with storing(self.root):
            _append(self.folder / EVENTS_FILE, canonical({**facts, "time": _now(), "event": kind}) + b"\n")

    def finish(self, summary: dict[str, Any]) -> None:
        self._write({**self.record, "finished": _now(), "summary": plain(summary)})

    def _write(self, record: dict[str, Any]) -> None:
        with storing(self.root):
            replace_file(self.folder / RUN_FILE, pretty(record))


def start_run(root: Path, facts: dict[str, Any]) -> RunLog:
    """Start a new log, and remove what killed runs left in the study."""
    run_id = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"
    log = RunLog(root, root / RUNS / run_id, {"run": run_id, "started": _now(), "facts": plain(facts)})
    with storing(root):
        make_folder(log.folder)
        sweep(root)
    log._write(log.record)
    return log


def _append(path: Path, line: bytes) -> None:
    is_new = not path.exists()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        length = os.fstat(descriptor).st_size
        try:
            write_all(descriptor, line)
            os.fsync(descriptor)
        except OSError:
            with suppress(OSError):  # half a line would corrupt the next event
                os.ftruncate(descriptor, length)
            raise
    finally:
        os.close(descriptor)
    if is_new:
        sync_folder(path.parent)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
