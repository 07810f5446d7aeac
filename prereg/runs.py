"""The runs in the ledger, compared with the cells on disk."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from aacbench.errors import DamagedCellError, LockError
from aacbench.prereg.binding import evidence_digest, merkle_root
from aacbench.prereg.checks import DEVIATION, INCOMPLETE, TAMPERED, Check, check_of
from aacbench.prereg.files import Files
from aacbench.prereg.key_diff import AGAIN, cell_name, without_lock
from aacbench.prereg.ledger import Entry, History, noted_lines, studies_beside
from aacbench.run.layout import REGISTRATION as NOTE
from aacbench.run.store import Cell, scan
from aacbench.util.canonical import canonical


@dataclass(frozen=True)
class Runs:
    """The runs of a registration and their studies; `given` is where the last study is now, if it was moved."""

    files: Files
    history: History
    given: Path | None = None

    def folder(self, line: Entry) -> Path:
        named = str(line.facts.get("study"))
        last = [str(found.facts.get("study")) for found in self.history.of("run_start")][-1:]
        return self.given if self.given is not None and [named] == last else self.files.folder / named

    @property
    def root(self) -> Path | None:
        starts = self.history.of("run_start")
        return self.folder(starts[-1]) if starts else None

    @cached_property
    def stored(self) -> Mapping[Path, Mapping[str, Cell | DamagedCellError]]:
        """Every cell, or what is wrong with it, in the studies of the runs."""
        folders = dict.fromkeys(self.folder(line) for line in self.history.of("run_start", "run_end"))
        return {folder: dict(scan(folder)) for folder in folders}

    def cells(self) -> list[Cell]:
        """The undamaged cells of the last study under any lock: newest lock first, then newest run."""
        found = (
            [cell for cell in self.stored.get(self.root, {}).values() if isinstance(cell, Cell)] if self.root else []
        )
        order = list(reversed(self.history.digests))
        mine = [cell for cell in found if cell.record.get("lock") in order]
        first = self._first_lines()
        return sorted(mine, key=lambda cell: (order.index(str(cell.record["lock"])), -first.get(cell.cell_id, 0)))

    def _first_lines(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for line in self.history.of("run_end"):
            for name in line.facts["cells"]:
                found.setdefault(name, line.number)
        return found

    def checks(self) -> list[Check]:
        ends = self.history.of("run_end")
        count = sum(len(line.facts["cells"]) for line in ends)
        undeclared = [] if AGAIN in self.history.declared else self.disagreements()
        return [
            check_of("rows", list(self._changed()), TAMPERED, f"{count} cells are unchanged since the run"),
            check_of("extra cells", list(self._unrecorded()), TAMPERED, "a run recorded every cell"),
            check_of(
                "study note", list(self._missing_lines()), TAMPERED, "the ledger has all lines noted in the study"
            ),
            check_of("runs agree", undeclared, DEVIATION, f"{len(ends)} finished"),
            check_of("runs ended", list(self._unfinished()), INCOMPLETE, "every run has ended"),
        ]

    def _changed(self) -> Iterator[str]:
        for line in self.history.of("run_end"):
            if merkle_root(line.facts["cells"]) != line.facts["root"]:
                yield f"the Merkle root in line {line.number} does not match the cells listed there."
            folder = self.folder(line)
            there = self.stored[folder]
            if line.facts["cells"] and not there:
                count = len(line.facts["cells"])
                yield (
                    f"line {line.number} recorded {count} cells in {folder}, but there are none (if the study was "
                    f"moved, use --study)."
                )
                continue
            latest = self._latest(folder)
            for name in line.facts["cells"]:
                problem = _problem(name, there.get(name), latest[name])
                if problem:
                    yield problem

    def _latest(self, folder: Path) -> dict[str, str]:
        """The last recorded digest of each cell in a study."""
        found: dict[str, str] = {}
        for line in self.history.of("run_end"):
            if self.folder(line) == folder:
                found |= line.facts["cells"]
        return found

    def _unrecorded(self) -> Iterator[str]:
        for folder, there in self.stored.items():
            ended = [line for line in self.history.of("run_end") if self.folder(line) == folder]
            open_runs = self._open(folder)
            for name, cell in there.items():
                if any(name in line.facts["cells"] for line in ended):
                    continue
                if isinstance(cell, DamagedCellError):
                    yield str(cell)
                elif cell.record.get("lock") not in self.history.digests:
                    yield f"cell {name} ({cell_name(cell.key)}) is from another run: it has another lock or none."
                elif not open_runs:
                    yield f"cell {name} ({cell_name(cell.key)}) has the lock, but no run recorded it."

    def _missing_lines(self) -> Iterator[str]:
        known = {line.digest for line in self.history.entries}
        for folder, there in self.stored.items():
            if there and not (folder / NOTE).exists():
                yield f"the study {folder} has no {NOTE}, in which every bound run is noted."
        for folder in self._studies():
            try:
                lines = noted_lines(folder)
            except LockError as error:
                yield str(error)
                continue
            for line in lines:
                if line.get("registration") == self.files.toml.stem and line.get("digest") not in known:
                    yield (
                        f"the study {folder} notes line {line.get('number')} ({line.get('event')}), which is not in "
                        f"the ledger: the ledger was cut short."
                    )

    def _studies(self) -> list[Path]:
        """The studies that the ledger names, and those that name the ledger."""
        known = {folder.resolve() for folder in self.stored}
        beside = studies_beside(self.files) if self.given is None else ()
        return [*self.stored, *(folder for folder in beside if folder.resolve() not in known)]

    def disagreements(self) -> list[str]:
        first: dict[str, tuple[str, Entry]] = {}
        found = []
        for line in self.history.of("run_end"):
            for name, value in line.facts["cells"].items():
                before = first.get(name)
                if before and before[0] != value and name not in before[1].facts.get("failed", ()):
                    found.append(
                        f"cell {name} has other results in line {line.number} than in line {before[1].number}."
                    )
                first[name] = (value, line)
        return found

    def _open(self, folder: Path) -> list[Entry]:
        over = {str(line.facts.get("start")) for line in self.history.of("run_end")}
        starts = [line for line in self.history.of("run_start") if self.folder(line) == folder]
        return [line for line in starts if line.digest not in over]

    def _unfinished(self) -> Iterator[str]:
        if not self.history.of("run_start"):
            yield "the registration was never run."
        for folder in self.stored:
            ended = [line.number for line in self.history.of("run_end") if self.folder(line) == folder]
            for line in self._open(folder):
                if not any(number > line.number for number in ended):
                    yield f"the run that began in line {line.number} ({line.time}) has not ended."


def _problem(name: str, found: Cell | DamagedCellError | None, recorded: str) -> str:
    if found is None:
        return f"cell {name} was recorded by a run and is missing."
    if isinstance(found, DamagedCellError):
        return str(found)
    if evidence_digest(found) != recorded:
        return f"cell {name} ({cell_name(found.key)}) differs from what the run recorded; it was changed."
    return ""


def first_of_each(cells: Sequence[Cell]) -> list[Cell]:
    """The first of the cells that differ in nothing but their lock."""
    found: dict[bytes, Cell] = {}
    for cell in cells:
        found.setdefault(canonical(without_lock(cell.key)), cell)
    return list(found.values())


def one_per_place(cells: Sequence[Cell]) -> list[Cell]:
    """The first cell of each method, graph, budget and seed: a rerun after a deviation leaves several."""
    found: dict[tuple[Any, ...], Cell] = {}
    for cell in cells:
        found.setdefault(tuple(cell.key[name] for name in ("label", "graph", "budget", "seed")), cell)
    return list(found.values())
