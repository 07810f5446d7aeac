"""The runs in the ledger, compared with the cells on disk and with each other."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from aacbench.errors import DamagedCellError, LockError
from aacbench.prereg.binding import merkle_root, stored_evidence, stored_facts
from aacbench.prereg.checks import DEVIATION, INCOMPLETE, TAMPERED, Check, check_of
from aacbench.prereg.files import Files
from aacbench.prereg.history import History, Run
from aacbench.prereg.key_diff import AGAIN, Change, cell_name
from aacbench.prereg.ledger import Entry
from aacbench.prereg.notes import cut_off, studies_beside
from aacbench.run.layout import REGISTRATION as NOTE
from aacbench.run.store import ANSWERED, Cell, scan
from aacbench.util.text import one_line


@dataclass(frozen=True)
class Runs:
    """The runs of a registration and their studies; `given` is where the last study is now, if it was moved.

    A start that recorded no cell is only named: it showed no result, and its folder may hold anything.
    """

    files: Files
    entries: Sequence[Entry]  # of all registrations of the ledger
    history: History
    given: Path | None = None

    def folder(self, line: Entry) -> Path:
        last = self.history.showing[-1].start if self.history.showing else None
        if self.given is not None and last is not None and line.facts["study"] == last.facts["study"]:
            return self.given
        return self.files.folder / line.facts["study"]

    @property
    def study(self) -> Path | None:
        """The folder of the last study, if it is there."""
        folder = self.folder(self.history.showing[-1].start) if self.history.showing else None
        return folder if folder is not None and folder.is_dir() else None

    @cached_property
    def stored(self) -> Mapping[Path, Mapping[str, Cell | DamagedCellError]]:
        folders = dict.fromkeys(self.folder(run.start) for run in self.history.showing)
        return {folder: dict(scan(folder)) for folder in folders}

    def cells(self) -> list[Cell]:
        """The undamaged cells of the last study under any lock: newest lock first, then newest run."""
        if not self.history.showing:
            return []
        folder = self.folder(self.history.showing[-1].start)
        order = list(reversed(self.history.digests))
        mine = [
            cell for cell in self.stored[folder].values() if isinstance(cell, Cell) and cell.record.get("lock") in order
        ]
        first = {name: run.start.number for run in reversed(self._runs(folder)) for name in run.digests}
        return sorted(mine, key=lambda cell: (order.index(cell.record["lock"]), -first.get(cell.cell_id, 0)))

    def of_run(self, run: Run) -> list[Cell]:
        """The cells of one run that are still as it recorded them."""
        there = self.stored[self.folder(run.start)]
        found = [cell for name in run.digests if isinstance(cell := there.get(name), Cell)]
        return [cell for cell in found if stored_evidence(cell) == run.digests[cell.cell_id]]

    def checks(self) -> list[Check]:
        count = sum(len(names) for names in self._names.values())
        declared = self.history.declared()
        undeclared = [sentence for sentence, change in self.disagreements() if change.identity not in declared]
        ended = sum(run.end is not None for run in self.history.runs)
        return [
            check_of("rows", self._changed(), TAMPERED, f"{count} cells are unchanged since they were recorded"),
            check_of("cell lines", self._contradictions(), TAMPERED, "they agree with each other, and with the cells"),
            check_of("extra cells", self._unrecorded(), TAMPERED, "a run recorded every cell"),
            check_of("study note", self._missing_lines(), TAMPERED, "the ledger has all lines noted in the study"),
            check_of("runs agree", undeclared, DEVIATION, f"{ended} finished"),
            check_of("recorded cells", self._not_there(), INCOMPLETE, "every recorded cell is there"),
            check_of("runs ended", self._unfinished(), INCOMPLETE, "nothing is left to run"),
        ]

    def events(self) -> Iterator[str]:
        """A sentence about each run: when it began, how it ended, and how many cells it recorded."""
        for run in self.history.runs:
            entered = len({line.facts["cell"] for line in run.cells})
            public = run.start.facts.get("public")
            told = f"line {run.start.number}, {run.start.time[:19].replace('T', ' ')}: a run began"
            told += f" with the public text {public!r}" if public is not None else ""
            told += f", recorded {entered} cell{'' if entered == 1 else 's'}"
            if run.end is not None:
                kept = len(run.digests) - entered
                yield f"{told}{f', kept {kept} of earlier runs' if kept else ''}, and ended in line {run.end.number}."
            elif run.abort is not None:
                reason = one_line(str(run.abort.facts.get("reason")))
                yield f"{told}, and was aborted in line {run.abort.number}: {reason}."
            else:
                yield f"{told}, and did not end: it was killed, the disk was full, or it is still running."

    def repeated(self) -> Iterator[str]:
        """A sentence about cells that were recorded, were not there later, and were run again with the same results."""
        seen: dict[tuple[object, ...], Entry] = {}
        found = []
        for run in self.history.runs:
            for line in run.cells:
                if line.facts["outcome"] not in ANSWERED:
                    continue  # it was tried again, and failed again
                which = (run.start.facts["study"], line.facts["cell"], line.facts["digest"])
                before = seen.setdefault(which, line)
                if before.facts["start"] != line.facts["start"]:
                    found.append(f"{line.facts['place']} (lines {before.number} and {line.number})")
        if found:
            more = f" and {len(found) - 1} more" if found[1:] else ""
            yield (
                f"Recorded, then missing (deleted, or stopped before it was stored), and run again with the same "
                f"results: {found[0]}{more}."
            )

    def _runs(self, folder: Path) -> list[Run]:
        return [run for run in self.history.showing if self.folder(run.start) == folder]

    @cached_property
    def _names(self) -> Mapping[Path, Mapping[str, list[tuple[Run, str]]]]:
        """What was recorded of each cell of each study: by which run, and its digest, in order."""
        found: dict[Path, dict[str, list[tuple[Run, str]]]] = {folder: {} for folder in self.stored}
        for run in self.history.showing:
            for name, value in run.digests.items():
                found[self.folder(run.start)].setdefault(name, []).append((run, value))
        return found

    def _changed(self) -> Iterator[str]:
        for run in self.history.showing:
            if run.end is not None and merkle_root(run.end.facts["cells"]) != run.end.facts["root"]:
                yield f"the Merkle root in line {run.end.number} does not match the cells listed there."
        for folder, names in self._names.items():
            there = self.stored[folder]
            ended = [run for run in self._runs(folder) if run.end is not None]
            if ended and not there:
                yield (
                    f"the run in line {ended[-1].start.number} recorded {len(ended[-1].digests)} cells in {folder}, "
                    f"but there are none (if the study was moved, use --study)."
                )
                continue
            for name, recorded in names.items():
                if problem := _problem(name, there.get(name), recorded):
                    yield problem

    def _contradictions(self) -> Iterator[str]:
        """The lines that tell another thing of a cell than an earlier line does, or than the cell itself."""
        subjects: dict[str, tuple[str, str]] = {}
        results: dict[tuple[str, str], tuple[str, str]] = {}
        latest: dict[str, str] = {}
        for line in self.history.of("cell", "run_end"):
            facts = line.facts
            if line.event == "run_end":
                for name, value in facts["cells"].items():
                    if latest.get(name, value) != value:
                        yield f"line {line.number} gives cell {name} another digest than the line that recorded it."
                continue
            name, value = facts["cell"], facts["digest"]
            latest[name] = value
            subject, result = (facts["label"], facts["place"]), (facts["outcome"], facts["result"])
            same = subjects.setdefault(name, subject) == subject and results.setdefault((name, value), result) == result
            if not same:
                yield f"line {line.number} contradicts an earlier line about cell {name}."
        for there in self.stored.values():
            for name, cell in there.items():
                if not isinstance(cell, Cell) or name not in subjects:
                    continue
                facts = stored_facts(cell)
                told = results.get((name, facts["digest"]), (facts["outcome"], facts["result"]))
                if (*subjects[name], *told) != tuple(facts[key] for key in ("label", "place", "outcome", "result")):
                    yield f"the line about cell {name} tells another thing than the cell."

    def _unrecorded(self) -> Iterator[str]:
        entered = {line.facts["cell"] for line in self.history.of("cell")}
        for there in self.stored.values():
            for name, cell in there.items():
                if name in entered:
                    continue
                if isinstance(cell, DamagedCellError):
                    yield str(cell)
                elif cell.record.get("lock") not in self.history.digests:
                    yield f"cell {name} ({cell_name(cell.key)}) is from another run: it has another lock or none."
                else:
                    yield f"cell {name} ({cell_name(cell.key)}) has the lock, but no run recorded it when it was made."

    def _missing_lines(self) -> Iterator[str]:
        for folder, there in self.stored.items():
            if there and not (folder / NOTE).exists():
                yield f"the study {folder} has no {NOTE}, in which every bound run is noted."
        for folder in self._studies():
            try:
                yield from cut_off(folder, self.entries)
            except LockError as error:
                yield str(error)

    def _studies(self) -> list[Path]:
        """The studies that the ledger names, and those that name the ledger."""
        known = {folder.resolve() for folder in self.stored}
        beside = studies_beside(self.files) if self.given is None else ()
        return [*self.stored, *(folder for folder in beside if folder.resolve() not in known)]

    def disagreements(self) -> list[tuple[str, Change]]:
        """The cells that came out otherwise in a later run, unless they had failed before; each with the change."""
        entered = [line.facts for run in self.history.showing for line in run.cells]
        failed = {(facts["cell"], facts["digest"]) for facts in entered if facts["outcome"] not in ANSWERED}
        last: dict[str, tuple[str, int]] = {}
        found = []
        for run in self.history.showing:
            at = (run.end or run.start).number
            for name, value in run.digests.items():
                before, line = last.get(name, (value, at))
                if before != value and (name, before) not in failed:
                    sentence = f"cell {name} has other results in line {at} than in line {line}."
                    found.append((sentence, Change(AGAIN, name, before, value)))
                last[name] = (value, at)
        return found

    def _unfinished(self) -> Iterator[str]:
        if not self.history.showing:
            yield "no run recorded a cell." if self.history.runs else "the registration was never run."
        elif (last := self.history.showing[-1]).end is None:
            yield f"the run that began in line {last.start.number} ({last.start.time}) has not ended."

    def _not_there(self) -> Iterator[str]:
        there = {name for cells in self.stored.values() for name in cells}
        places = {line.facts["cell"]: line.facts["place"] for line in self.history.of("cell")}
        done = {places.get(name) for name in there}  # also under a later lock, which gives the cell another name
        for names in self._names.values():
            for name, recorded in names.items():
                if name not in there and places.get(name) not in done and all(run.end is None for run, _ in recorded):
                    yield (
                        f"cell {name} was recorded by the run in line {recorded[-1][0].start.number} and is not there: "
                        f"it was deleted, or the run was killed at that moment; run it again."
                    )


def _problem(name: str, found: Cell | DamagedCellError | None, recorded: list[tuple[Run, str]]) -> str:
    """What is wrong with a cell; a run that did not end may have been killed before it stored what it recorded."""
    run, value = recorded[-1]
    if found is None:
        stored = any(run.end is not None for run, _ in recorded)
        return f"cell {name} was recorded by a run and is missing." if stored else ""
    if isinstance(found, DamagedCellError):
        return str(found)
    allowed = {value} if run.end is not None else {value for _, value in recorded}
    if stored_evidence(found) not in allowed:
        return f"cell {name} ({cell_name(found.key)}) differs from what the run recorded; it was changed."
    return ""


def first_of_each(cells: Iterable[Cell], identity: Callable[[Cell], Hashable]) -> list[Cell]:
    found: dict[Hashable, Cell] = {}
    for cell in cells:
        found.setdefault(identity(cell), cell)
    return list(found.values())
