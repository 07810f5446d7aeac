"""A registered study to copy and attack, and what an attacker can do with its files."""

import json
import shutil
from pathlib import Path

from cli.command import command

from aacbench.prereg.binding import BoundRun, bind, merkle_root, stored_evidence, stored_facts
from aacbench.prereg.files import files_of
from aacbench.prereg.key_diff import without_lock
from aacbench.prereg.ledger import FIRST, append, make_entry, parse
from aacbench.run.layout import REGISTRATION as NOTE
from aacbench.run.layout import cell_folder, cell_id
from aacbench.run.store import Cell, commit, scan

SMALL = Path(__file__).parent / "small.toml"
SCHEMA, TAMPERED, ORDER, DEVIATION, ANCHOR, INCOMPLETE = 2, 3, 4, 5, 6, 7


def swapped(rows):
    lines = rows.split(b"\n")
    lines[-2], lines[-3] = lines[-3], lines[-2]
    return b"\n".join(lines)


def improved(rows):
    """One expansion fewer in the last query."""
    lines = rows.split(b"\n")
    at = lines[0].split(b",").index(b"expanded")
    last = lines[-2].split(b",")
    last[at] = str(int(last[at]) - 1).encode()
    return b"\n".join([*lines[:-2], b",".join(last), b""])


def project(root: Path, **changes: tuple[str, str]) -> "Registered":
    """A project with the small registration, some of its text replaced."""
    text = SMALL.read_text(encoding="utf-8")
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    (root / "prereg").mkdir()
    (root / "prereg" / "small.toml").write_text(text, encoding="utf-8")
    return Registered(root)


class Registered:
    """A project folder with one registration and its study."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.toml = root / "prereg" / "small.toml"
        self.files = files_of(self.toml)
        self.study = root / "studies" / "small"

    def copy(self, to: Path) -> "Registered":
        shutil.copytree(self.root, to, dirs_exist_ok=True)
        return Registered(to)

    def call(self, verb: str, *words: object) -> int:
        return command("prereg", verb, self.toml, *words)

    def results(self) -> dict:
        """What `verify` wrote, in the study or in the current folder."""
        written = [path for folder in (self.study, None) if (path := self.files.verdicts(folder)).exists()]
        return json.loads(max(written, key=lambda path: path.stat().st_mtime_ns).read_bytes())

    def run(self, *words: object) -> int:
        return self.call("run", "--out", self.study, "--workers", 1, *words)

    def simulate_run(self, source: "Registered", public: str | None = None) -> None:
        """Write what a run would, with the rows of another run of the same plan: no process is started."""
        run = self.begin_run(source, public)
        for cell in source.cells():
            self.store(run, cell)
        run.end()

    def begin_run(self, source: "Registered", public: str | None = None) -> BoundRun:
        run = BoundRun(bind(self.files, public), self.study)
        run.check([without_lock(cell.key) for cell in source.cells()])
        run.begin()
        return run

    def store(self, run: BoundRun, cell: Cell, **changes) -> str:
        """Record and store a cell with the rows of another run's, as the driver does; return its id."""
        lock = bind(self.files).lock.digest if run._bound.public is None else run._bound.lock.digest
        key = {**cell.key, "lock": lock}
        record = {**cell.record, "key": key, "lock": lock, **changes}
        run.enter(cell_id(key), record, cell.files)
        commit(self.study, cell_id(key), record, cell.files, replace=True)
        return cell_id(key)

    def rerun(self, study: str = "../studies/small") -> None:
        """Write the lines of a second run that left the cells as they are now."""
        start, end = (
            next(line for line in self.entries() if line.event == event) for event in ("run_start", "run_end")
        )
        known = {line.facts["digest"] for line in self.entries() if line.event == "cell"}
        digests = {cell.cell_id: stored_evidence(cell) for cell in self.cells()}
        begun = append(self.files.ledger, "run_start", "small", {**start.facts, "study": study})
        for cell in self.cells():
            if stored_evidence(cell) not in known:
                append(self.files.ledger, "cell", "small", self._line_facts(cell, begun.digest))
        facts = {**end.facts, "study": study, "start": begun.digest, "cells": digests, "root": merkle_root(digests)}
        append(self.files.ledger, "run_end", "small", facts)

    def _line_facts(self, cell: Cell, start: str) -> dict:
        return {"lock": cell.record["lock"], "start": start, **stored_facts(cell)}

    def edit(self, old: str, new: str) -> None:
        text = self.toml.read_text(encoding="utf-8")
        assert text.count(old) == 1
        self.toml.write_text(text.replace(old, new), encoding="utf-8")

    # The ledger, and an attacker who knows how it is hashed.

    def lines(self) -> list[bytes]:
        return self.files.ledger.read_bytes().splitlines(keepends=True)

    def write_lines(self, lines: list[bytes]) -> None:
        self.files.ledger.write_bytes(b"".join(lines))

    def entries(self):
        return parse(self.files.ledger.read_bytes()).entries

    def line(self, event: str):
        """The first line about this."""
        return next(line for line in self.entries() if line.event == event)

    def told_without_cells(self):
        return [line for line in self.told() if line[0] != "cell"]

    def rechain(self, told) -> None:
        """Write a ledger of (event, facts, time) with an intact chain; references between lines are updated."""
        made, names = [], {}
        for number, (event, facts, time, before) in enumerate(told, 1):
            mended = {key: names.get(value, value) if isinstance(value, str) else value for key, value in facts.items()}
            line = make_entry(number, event, "small", mended, made[-1].digest if made else FIRST, time)
            names[before] = line.digest
            made.append(line)
        self.write_lines([line.line() for line in made])
        self.note(made)

    def told(self):
        return [(line.event, dict(line.facts), line.time, line.digest) for line in self.entries()]

    def note(self, entries) -> None:
        """Make the note in the study agree with a rewritten ledger."""
        path = self.study / NOTE
        record = json.loads(path.read_bytes())
        kept = [line for line in entries if line.event in ("run_start", "run_end", "deviate", "amend", "abort")]
        record["lines"] = [
            {"number": line.number, "event": line.event, "registration": "small", "digest": line.digest}
            for line in kept
        ]
        path.write_text(json.dumps(record))

    # The store, and an attacker who knows how cells are hashed.

    def cells(self, label: str = "") -> list[Cell]:
        found = [cell for _, cell in scan(self.study) if isinstance(cell, Cell)]
        return [cell for cell in found if label in ("", cell.key["label"])]

    def replace_rows(self, cell: Cell, rows: bytes) -> None:
        commit(self.study, cell.cell_id, cell.record, {**cell.files, "queries.csv": rows}, replace=True)

    def add(self, cell: Cell, key: dict, rows: bytes) -> None:
        """Store a cell as this one, with another key and other rows."""
        commit(self.study, cell_id(key), {**cell.record, "key": key}, {**cell.files, "queries.csv": rows})

    def delete(self, cell: Cell) -> None:
        shutil.rmtree(cell_folder(self.study, cell.cell_id))

    def rekey(self, cell: Cell, **changes) -> None:
        """Change the key of a cell, as if it had been run otherwise than locked."""
        key = {**cell.key, **changes}
        self.delete(cell)
        commit(self.study, cell_id(key), {**cell.record, "key": key}, cell.files, replace=True)

    def record_again(self) -> None:
        """Rewrite the end of the run as if it had left the cells as they are now."""
        digests = {cell.cell_id: stored_evidence(cell) for cell in self.cells()}
        told = self.told_without_cells()
        event, facts, time, before = told[-1]
        assert event == "run_end"
        cells = [("cell", self._line_facts(cell, facts["start"]), time, cell.cell_id) for cell in self.cells()]
        end = (event, {**facts, "cells": digests, "root": merkle_root(digests)}, time, before)
        self.rechain([*told[:-1], *cells, end])
