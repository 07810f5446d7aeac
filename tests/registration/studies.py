"""A registered study to copy and attack, and what an attacker can do with its files."""

import json
import shutil
from pathlib import Path

from cli.command import command

from aacbench.prereg.binding import bind, evidence_digest, merkle_root
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

    def run(self, *words: object) -> int:
        return self.call("run", "--out", self.study, "--workers", 1, *words)

    def simulate_run(self, source: "Registered", public: str | None = None) -> None:
        """Write what a run would, with the rows of another run of the same plan: no process is started."""
        bound = bind(self.files, public)
        cells = source.cells()
        start = bound.begin(self.study, [without_lock(cell.key) for cell in cells])
        for cell in cells:
            key = {**cell.key, "lock": bound.lock.digest}
            commit(self.study, cell_id(key), {**cell.record, "key": key, "lock": key["lock"]}, cell.files)
        bound.end(self.study, start)

    def rerun(self, study: str = "../studies/small") -> None:
        """Write the lines of a second run that left the cells as they are now."""
        _, start, end = self.entries()[:3]
        digests = {cell.cell_id: evidence_digest(cell) for cell in self.cells()}
        begun = append(self.files.ledger, "run_start", "small", {**start.facts, "study": study})
        facts = {**end.facts, "study": study, "start": begun.digest, "cells": digests, "root": merkle_root(digests)}
        append(self.files.ledger, "run_end", "small", facts)

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
        return parse(self.files.ledger.read_bytes())[0]

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
        kept = [line for line in entries if line.event in ("run_start", "run_end")]
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

    def delete(self, cell: Cell) -> None:
        shutil.rmtree(cell_folder(self.study, cell.cell_id))

    def rekey(self, cell: Cell, **changes) -> None:
        """Change the key of a cell, as if it had been run otherwise than locked."""
        key = {**cell.key, **changes}
        self.delete(cell)
        commit(self.study, cell_id(key), {**cell.record, "key": key}, cell.files, replace=True)

    def record_again(self) -> None:
        """Rewrite the end of the run as if it had left the cells as they are now."""
        digests = {cell.cell_id: evidence_digest(cell) for cell in self.cells()}
        told = self.told()
        event, facts, time, before = told[-1]
        assert event == "run_end"
        told[-1] = (event, {**facts, "cells": digests, "root": merkle_root(digests)}, time, before)
        self.rechain(told)
