"""The log of a run: its settings in `run.json`, and its events as they happen."""

import json
import os
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aacbench.run.layout import RUNS
from aacbench.run.store import sweep
from aacbench.util.atomic_io import append_all, make_folder, replace_file, storing, sync_folder
from aacbench.util.canonical import canonical, plain, pretty
from aacbench.util.file_lock import any_locked

RUN_FILE, EVENTS_FILE = "run.json", "events.jsonl"


@dataclass(frozen=True, slots=True)
class RunLog:
    """The log folder of one run; a study may have several runs at the same time."""

    root: Path
    folder: Path
    record: dict[str, Any]

    @property
    def begun(self) -> bool:
        return self.folder.is_dir()

    def begin(self) -> "RunLog":
        """Write what is known before the run, and remove what killed runs left in the study, unless begun."""
        if not self.begun:
            with storing(self.root):
                make_folder(self.folder)
                sweep(self.root)
            self._write(self.record)
        return self

    def event(self, kind: str, **facts: Any) -> None:
        """Append one event and wait until it is on disk."""
        with storing(self.root):
            _append(self.folder / EVENTS_FILE, canonical({**facts, "time": _now(), "event": kind}) + b"\n")

    def finish(self, summary: dict[str, Any]) -> None:
        self._write({**self.record, "finished": _now(), "summary": plain(summary)})

    def _write(self, record: dict[str, Any]) -> None:
        with storing(self.root):
            replace_file(self.folder / RUN_FILE, pretty(record))


def new_log(root: Path, facts: dict[str, Any]) -> RunLog:
    """Return a log of which nothing is on disk yet."""
    run_id = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"
    return RunLog(root, root / RUNS / run_id, {"run": run_id, "started": _now(), "facts": plain(facts)})


def last_run(root: Path) -> dict[str, Any] | None:
    """Return the id of the last run, when it was started and finished, and whether a run works on the study now.

    None if there was no run. A run that still loads its graphs works on no cell yet.
    """
    file = max((root / RUNS).glob(f"*/{RUN_FILE}"), default=None)
    if file is None:
        return None
    try:
        record = json.loads(file.read_bytes())
        times = {"started": record["started"], "finished": record.get("finished")}
        return {"run": record["run"], **times, "working": any_locked(root)}
    except (OSError, ValueError, LookupError, TypeError):  # a damaged log says nothing about the cells
        return {"run": file.parent.name, "started": None, "finished": None, "working": any_locked(root)}


def _append(path: Path, line: bytes) -> None:
    is_new = not path.exists()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        append_all(descriptor, line)  # half a line would corrupt the next event
    finally:
        os.close(descriptor)
    if is_new:
        sync_folder(path.parent)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
