"""What the ledger says of runs, held against the cells on disk."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from aacbench.errors import DamagedCellError, LockError
from aacbench.prereg.checks import DEVIATION, INCOMPLETE, TAMPERED, Check, verdict_of
from aacbench.prereg.evidence import leaf, merkle_root
from aacbench.prereg.files import Files
from aacbench.prereg.history import History
from aacbench.prereg.key_diff import AGAIN, spoken, without_lock
from aacbench.prereg.ledger import Entry
from aacbench.prereg.note import noted, studies_beside
from aacbench.run.layout import REGISTRATION as NOTE
from aacbench.run.store import Cell, scan
from aacbench.util.canonical import canonical


@dataclass(frozen=True)
class Runs:
    """The runs of a registration and the studies they left; `given` stands for the folder of the last one."""

    files: Files
    past: History
    given: Path | None = None

    def folder(self, line: Entry) -> Path:
        """The study of a run, as its ledger sees it."""
        named = str(line.facts.get("study"))
        last = [str(found.facts.get("study")) for found in self.past.of("run_start")][-1:]
        return self.given if self.given is not None and [named] == last else self.files.folder / named

    @property
    def root(self) -> Path | None:
        """The study of the last run."""
        starts = self.past.of("run_start")
        return self.folder(starts[-1]) if starts else None

    @cached_property
    def stored(self) -> Mapping[Path, Mapping[str, Cell | DamagedCellError]]:
        """All that is in the studies of the runs."""
        folders = dict.fromkeys(self.folder(line) for line in self.past.of("run_start", "run_end"))
        return {folder: dict(scan(folder)) for folder in folders}

    def cells(self) -> list[Cell]:
        """The sound cells of the last study under any lock of the registration: newest lock first, then newest run."""
        found = (
            [cell for cell in self.stored.get(self.root, {}).values() if isinstance(cell, Cell)] if self.root else []
        )
        order = list(reversed(self.past.digests))
        mine = [cell for cell in found if cell.record.get("lock") in order]
        since = self._recorded()
        return sorted(mine, key=lambda cell: (order.index(str(cell.record["lock"])), -since.get(cell.cell_id, 0)))

    def _recorded(self) -> dict[str, int]:
        """In which line each cell was first recorded."""
        found: dict[str, int] = {}
        for line in self.past.of("run_end"):
            for name in line.facts["cells"]:
                found.setdefault(name, line.number)
        return found

    def checks(self) -> list[Check]:
        """Whether the cells are those that the runs recorded."""
        ends = self.past.of("run_end")
        count = sum(len(line.facts["cells"]) for line in ends)
        return [
            verdict_of("rows", list(self._changed()), TAMPERED, f"{count} recorded cells are as they were recorded"),
            verdict_of("extra cells", list(self._unrecorded()), TAMPERED, "no cell is there that no run recorded"),
            verdict_of(
                "study note", list(self._unknown_lines()), TAMPERED, "the ledger has every line the study knows"
            ),
            verdict_of("runs agree", self._told_apart(), DEVIATION, f"{len(ends)} of them"),
            verdict_of("runs ended", list(self._unfinished()), INCOMPLETE, "every run came to its end"),
        ]

    def _changed(self) -> Iterator[str]:
        for line in self.past.of("run_end"):
            if merkle_root(line.facts["cells"]) != line.facts["root"]:
                yield f"the Merkle root in line {line.number} is not that of the cells it lists."
            folder = self.folder(line)
            there = self.stored[folder]
            if line.facts["cells"] and not there:
                count = len(line.facts["cells"])
                yield (
                    f"line {line.number} recorded {count} cells in {folder}, where there are none (if they were moved, "
                    f"give --study)."
                )
                continue
            latest = self._latest(folder)
            for name in line.facts["cells"]:
                problem = _problem(name, there.get(name), latest[name])
                if problem:
                    yield problem

    def _latest(self, folder: Path) -> dict[str, str]:
        """What was recorded last of each cell in a study."""
        found: dict[str, str] = {}
        for line in self.past.of("run_end"):
            if self.folder(line) == folder:
                found |= line.facts["cells"]
        return found

    def _unrecorded(self) -> Iterator[str]:
        for folder, there in self.stored.items():
            ended = [line for line in self.past.of("run_end") if self.folder(line) == folder]
            open_runs = self._open(folder)
            for name, cell in there.items():
                if any(name in line.facts["cells"] for line in ended):
                    continue
                if isinstance(cell, DamagedCellError):
                    yield str(cell)
                elif cell.record.get("lock") not in self.past.digests:
                    yield f"cell {name} ({spoken(cell.key)}) is from another run: it carries another lock or none."
                elif not open_runs:
                    yield f"cell {name} ({spoken(cell.key)}) carries the lock, but no run recorded it."

    def _unknown_lines(self) -> Iterator[str]:
        known = {line.digest for line in self.past.entries}
        for folder, there in self.stored.items():
            if there and not (folder / NOTE).exists():
                yield f"the study {folder} has lost its {NOTE}, in which every bound run is noted."
        for folder in self._studies():
            try:
                lines = noted(folder)
            except LockError as error:
                yield str(error)
                continue
            for line in lines:
                if line.get("registration") == _id(self.past) and line.get("digest") not in known:
                    yield (
                        f"the study {folder} knows a line {line.get('number')} of the ledger ({line.get('event')}) "
                        f"that is not there: the ledger was cut short."
                    )

    def _studies(self) -> list[Path]:
        """Those that the ledger names, and those that name the ledger."""
        known = {folder.resolve() for folder in self.stored}
        beside = studies_beside(self.files) if self.given is None else ()
        return [*self.stored, *(folder for folder in beside if folder.resolve() not in known)]

    def _told_apart(self) -> list[str]:
        return [] if AGAIN in self.past.declared else self.disagreements()

    def disagreements(self) -> list[str]:
        """Cells that two runs of one lock left with different results."""
        first: dict[str, tuple[str, Entry]] = {}
        found = []
        for line in self.past.of("run_end"):
            for name, value in line.facts["cells"].items():
                before = first.get(name)
                if before and before[0] != value and name not in before[1].facts.get("failed", ()):
                    found.append(
                        f"cell {name} came out otherwise in line {line.number} than in line {before[1].number}."
                    )
                first[name] = (value, line)
        return found

    def _open(self, folder: Path) -> list[Entry]:
        """Runs into a study that began and did not end."""
        over = {str(line.facts.get("start")) for line in self.past.of("run_end")}
        starts = [line for line in self.past.of("run_start") if self.folder(line) == folder]
        return [line for line in starts if line.digest not in over]

    def _unfinished(self) -> Iterator[str]:
        if not self.past.of("run_start"):
            yield "it was never run."
        for folder in self.stored:
            ended = [line.number for line in self.past.of("run_end") if self.folder(line) == folder]
            for line in self._open(folder):
                if not any(number > line.number for number in ended):
                    yield f"the run that began in line {line.number} ({line.time}) never came to its end."


def _problem(name: str, found: Cell | DamagedCellError | None, recorded: str) -> str:
    if found is None:
        return f"cell {name} was recorded by a run and is gone."
    if isinstance(found, DamagedCellError):
        return str(found)
    if leaf(found) != recorded:
        return f"cell {name} ({spoken(found.key)}) is not what the run recorded: its rows or facts were changed."
    return ""


def _id(past: History) -> Any:
    return past.entries[0].registration if past.entries else None


def first_of_each(cells: Sequence[Cell]) -> list[Cell]:
    """Of cells that differ in nothing but their lock, the first."""
    found: dict[bytes, Cell] = {}
    for cell in cells:
        found.setdefault(canonical(without_lock(cell.key)), cell)
    return list(found.values())


def one_a_place(cells: Sequence[Cell]) -> list[Cell]:
    """Of several cells of one method, graph, budget and seed, as after a deviation, the first: none are mixed."""
    found: dict[tuple[Any, ...], Cell] = {}
    for cell in cells:
        found.setdefault(tuple(cell.key[name] for name in ("label", "graph", "budget", "seed")), cell)
    return list(found.values())
