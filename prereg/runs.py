"""The runs in the ledger, compared with the cells on disk."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from aacbench.errors import DamagedCellError, LockError
from aacbench.prereg.binding import evidence_digest, merkle_root
from aacbench.prereg.checks import DEVIATION, INCOMPLETE, TAMPERED, Check, check_of
from aacbench.prereg.files import Files
from aacbench.prereg.key_diff import AGAIN, cell_name
from aacbench.prereg.ledger import Entry, History, noted_lines, studies_beside
from aacbench.run.layout import REGISTRATION as NOTE
from aacbench.run.store import Cell, scan


@dataclass(frozen=True)
class Runs:
    """The runs of a registration and their studies; `given` is where the last study is now, if it was moved."""

    files: Files
    history: History
    given: Path | None = None

    def folder(self, line: Entry) -> Path:
        starts = self.history.of("run_start")
        if self.given is not None and starts and line.facts["study"] == starts[-1].facts["study"]:
            return self.given
        return self.files.folder / line.facts["study"]

    @cached_property
    def stored(self) -> Mapping[Path, Mapping[str, Cell | DamagedCellError]]:
        folders = dict.fromkeys(self.folder(line) for line in self.history.of("run_start", "run_end"))
        return {folder: dict(scan(folder)) for folder in folders}

    def cells(self) -> list[Cell]:
        """The undamaged cells of the last study under any lock: newest lock first, then newest run."""
        starts = self.history.of("run_start")
        stored = self.stored[self.folder(starts[-1])].values() if starts else ()
        order = list(reversed(self.history.digests))
        mine = [cell for cell in stored if isinstance(cell, Cell) and cell.record.get("lock") in order]
        first_line = {
            name: line.number for line in reversed(self.history.of("run_end")) for name in line.facts["cells"]
        }
        return sorted(mine, key=lambda cell: (order.index(cell.record["lock"]), -first_line.get(cell.cell_id, 0)))

    def checks(self) -> list[Check]:
        ends = self.history.of("run_end")
        count = sum(len(line.facts["cells"]) for line in ends)
        undeclared = [] if AGAIN in self.history.declared else self.disagreements()
        return [
            check_of("rows", self._changed(), TAMPERED, f"{count} cells are unchanged since the run"),
            check_of("extra cells", self._unrecorded(), TAMPERED, "a run recorded every cell"),
            check_of("study note", self._missing_lines(), TAMPERED, "the ledger has all lines noted in the study"),
            check_of("runs agree", undeclared, DEVIATION, f"{len(ends)} finished"),
            check_of("runs ended", self._unfinished(), INCOMPLETE, "every run has ended"),
        ]

    def _changed(self) -> Iterator[str]:
        for line in self.history.of("run_end"):
            if merkle_root(line.facts["cells"]) != line.facts["root"]:
                yield f"the Merkle root in line {line.number} does not match the cells listed there."
            folder = self.folder(line)
            there = self.stored[folder]
            if line.facts["cells"] and not there:
                yield (
                    f"line {line.number} recorded {len(line.facts['cells'])} cells in {folder}, but there are none (if "
                    f"the study was moved, use --study)."
                )
                continue
            latest: dict[str, str] = {}
            for other in self._ends(folder):
                latest |= other.facts["cells"]
            for name in line.facts["cells"]:
                problem = _problem(name, there.get(name), latest[name])
                if problem:
                    yield problem

    def _ends(self, folder: Path) -> list[Entry]:
        return [line for line in self.history.of("run_end") if self.folder(line) == folder]

    def _unrecorded(self) -> Iterator[str]:
        for folder, there in self.stored.items():
            ended, open_runs = self._ends(folder), self._open(folder)
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
        over = {line.facts["start"] for line in self.history.of("run_end")}
        starts = [line for line in self.history.of("run_start") if self.folder(line) == folder]
        return [line for line in starts if line.digest not in over]

    def _unfinished(self) -> Iterator[str]:
        if not self.history.of("run_start"):
            yield "the registration was never run."
        for folder in self.stored:
            for line in self._open(folder):
                if not any(end.number > line.number for end in self._ends(folder)):
                    yield f"the run that began in line {line.number} ({line.time}) has not ended."


def _problem(name: str, found: Cell | DamagedCellError | None, recorded: str) -> str:
    if found is None:
        return f"cell {name} was recorded by a run and is missing."
    if isinstance(found, DamagedCellError):
        return str(found)
    if evidence_digest(found) != recorded:
        return f"cell {name} ({cell_name(found.key)}) differs from what the run recorded; it was changed."
    return ""


def first_of_each(cells: Iterable[Cell], identity: Callable[[Cell], Hashable]) -> list[Cell]:
    found: dict[Hashable, Cell] = {}
    for cell in cells:
        found.setdefault(identity(cell), cell)
    return list(found.values())
