"""Cells on disk: written completely or not at all, and every byte checked when read."""

import errno
import hashlib
import json
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from aacbench.errors import DamagedCellError, DataError, NewerFormatError
from aacbench.run.layout import (
    CELL_FILE,
    CELLS,
    DERIVED,
    ID_DIGITS,
    QUERIES_FILE,
    REPLACED,
    RUNS,
    artifact_folders,
    cell_folder,
    id_of_spelt,
    is_cell_id,
)
from aacbench.run.layout import cell_id as id_of
from aacbench.run.records import CANDIDATE, ENCODE, OUTCOMES, TEST, VALIDATION
from aacbench.run.verified import Verified
from aacbench.util.atomic_io import is_still, make_folder, read_in, remove, storing, sync_folder, write_file
from aacbench.util.canonical import digest, digest_of, pretty
from aacbench.util.cleanup import UNFINISHED, abandoned, is_scratch, scratch_name
from aacbench.util.file_lock import sweep_locks
from aacbench.util.pretty_text import read_again, read_pretty
from aacbench.version import VERSION

if TYPE_CHECKING:
    from aacbench.graphs.record import Array
    from aacbench.stats.paired import Counts

T = TypeVar("T")

CELLS_AT_ONCE = 500  # whose rows are parsed at once
FAMILY, NUMBER = "aacbench.cell.json", 1
FORMAT = f"{FAMILY}/{NUMBER}"
_FORMAT_LINE = f'\n "format": "{FORMAT}",\n'.encode()  # of every cell in this format, so that few must be parsed


@dataclass(frozen=True)  # without slots, which `cached_property` cannot have
class Cell:
    """A committed cell: the contents of `cell.json`, and the bytes of the files beside it."""

    cell_id: str
    record: Mapping[str, Any]
    files: Mapping[str, bytes]

    @cached_property
    def key(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.record["key"]
        return found

    @property
    def outcome(self) -> str:
        return self.record["outcome"]

    @property
    def claims(self) -> Mapping[str, Any]:
        """The claims of the method; empty if the cell never ran."""
        return self.record.get("claims", {})

    @property
    def variant(self) -> str:
        """The variant of the study that the cell belongs to; empty for the study itself."""
        name: str = self.key.get("variant", "")
        return name

    @property
    def timing_group(self) -> tuple[str, float, str]:
        """What cells that are timed together have in common: graph, budget and test queries."""
        return self.key["graph"], self.key["budget"], self.key.get("query_digests", {}).get(TEST, "")

    @cached_property
    def is_reported(self) -> bool:
        """Whether results are reported of this cell: it has test queries and is not a mere candidate."""
        return TEST in self.key["splits"] and self.key.get("role") not in (CANDIDATE, ENCODE)

    @cached_property
    def queries(self) -> "Mapping[str, Array]":
        """The columns of `queries.csv`, parsed once; do not write into them."""
        from aacbench.run.rows import read_queries  # imports numpy, which `status` does not need

        return read_queries(self.files[QUERIES_FILE])

    def mean(self, split: str, column: str = "expanded") -> float | None:
        """The mean of a column over the queries of a split; None if there are no such queries."""
        total, count = self._total(split, column)
        return float(total) / count if count else None

    def count(self, split: str) -> int:
        """The number of queries of a split."""
        return self._total(split, "expanded")[1]

    def _total(self, split: str, column: str) -> tuple[float, int]:
        if (split, column) not in self._totals:
            values = self.queries[column][self.queries["split"] == split]
            self._totals[split, column] = float(values.sum()), len(values)
        return self._totals[split, column]

    @cached_property
    def _totals(self) -> dict[tuple[str, str], tuple[float, int]]:
        return {}

    @cached_property
    def counts(self) -> "dict[str, Counts]":
        """The expansions by query that were read ahead, by split."""
        return {}


def read_totals(cells: Sequence[Cell]) -> None:
    """Read what the means of many cells need, five times as fast as one cell after the other, without keeping rows."""
    from aacbench.run.rows import totals_of

    with_rows = [cell for cell in cells if QUERIES_FILE in cell.files]
    for begin in range(0, len(with_rows), CELLS_AT_ONCE):
        some = with_rows[begin : begin + CELLS_AT_ONCE]
        found = totals_of([cell.files[QUERIES_FILE] for cell in some], (VALIDATION, TEST), ("expanded", "h_work"))
        for cell, totals in zip(some, found or (), strict=found is not None):
            cell._totals.update(totals)


def read_counts(cells: Iterable[Cell], split: str = TEST) -> None:
    """Read the expansions of many cells, without keeping rows; not of those in which a query was not answered."""
    from aacbench.run.rows import counts_of
    from aacbench.stats.paired import Counts

    wanted = [cell for cell in cells if QUERIES_FILE in cell.files and split not in cell.counts]
    places: dict[bytes, dict[Hashable, int]] = {}
    for begin in range(0, len(wanted), CELLS_AT_ONCE):
        some = wanted[begin : begin + CELLS_AT_ONCE]
        read = counts_of([cell.files[QUERIES_FILE] for cell in some], split, "expanded")
        for cell, (queries, counts) in ((cell, found) for cell, found in zip(some, read, strict=True) if found):
            known = places.get(same := queries.tobytes())
            if known is None:
                known = places[same] = {tuple(query): place for place, query in enumerate(queries.tolist())}
            if len(known) == len(counts):  # else a query is there twice
                cell.counts[split] = Counts(known, counts)


def commit(
    root: Path, cell_id: str, record: Mapping[str, Any], files: Mapping[str, bytes], *, replace: bool = False
) -> bool:
    """Store a cell and return whether it was stored; an existing cell stays unless `replace`."""
    content = _content(cell_id, record, files)
    folder = cell_folder(root, cell_id)
    if not replace and _current(root, cell_id) is not None:
        return False
    unfinished = folder.with_name(scratch_name(UNFINISHED))
    with storing(root):
        make_folder(folder.parent)
        try:
            _fill(unfinished, content)
            return _put_in_place(unfinished, folder, replace)
        finally:
            remove(unfinished)


def read_cell(root: Path, cell_id: str, verified: Verified | None = None) -> Cell | None:
    """Return the cell, or None if there is none; raise DamagedCellError if it is not as it was written.

    A cell of a newer format raises NewerFormatError. One that is right is added to the `verified`, and one that is
    among these is only hashed.
    """
    if verified is not None and (content := verified.content(cell_id)) is not None:
        record = read_again(content[0])
        del record["integrity"]
        return Cell(cell_id, record, content[1])
    folder: Path | None = cell_folder(root, cell_id)
    while folder is not None:
        # All files are read through one descriptor of the folder, so they belong to the same cell.
        descriptor = _open_folder(folder, cell_id)
        if descriptor is not None:
            try:
                return _checked(descriptor, folder, cell_id, verified)
            except DamagedCellError:
                now = _current(root, cell_id)
                if now is not None and is_still(now, descriptor):
                    raise  # otherwise another run replaced the cell and removed the files while they were read
            finally:
                os.close(descriptor)
        folder = _current(root, cell_id)
    return None


def read_or_damage(root: Path, cell_id: str, verified: Verified | None = None) -> Cell | DamagedCellError | None:
    """Return the cell, None if there is none, or the error that says how it is damaged."""
    try:
        return read_cell(root, cell_id, verified)
    except DamagedCellError as damage:
        return damage


def outcome_of(root: Path, cell_id: str, verified: Verified | None = None) -> str | DamagedCellError | None:
    """Return the outcome of a cell, of which every byte is checked; else as `read_or_damage`."""
    if verified is not None and (outcome := verified.outcome(cell_id)) is not None:
        return outcome
    cell = read_or_damage(root, cell_id, verified)
    return cell.outcome if isinstance(cell, Cell) else cell


def outcomes(root: Path, *, remember: bool = True) -> dict[str, str | DamagedCellError]:
    """Return the outcome of every cell, or the error that says how it is damaged, with one cell at a time in memory.

    A `cell.json` that was checked before is only hashed; those that were found right now are remembered if asked to.
    """
    verified = Verified(root)
    found = dict(_scan(root, lambda name: outcome_of(root, name, verified)))
    if remember:
        verified.save()
    return found


def scan(root: Path, verified: Verified | None = None) -> Iterator[tuple[str, Cell | DamagedCellError]]:
    """Yield every cell in the order of ids, or the error that says how it is damaged."""
    return _scan(root, lambda name: read_or_damage(root, name, verified))


def _scan(root: Path, read: Callable[[str], T | DamagedCellError | None]) -> Iterator[tuple[str, T | DamagedCellError]]:
    for parent in sorted((root / CELLS).glob("*")):
        names = (path.name for path in parent.iterdir()) if parent.is_dir() else iter(())
        for name in sorted(set(map(_cell_name, names)) - {""}):
            if not is_cell_id(name) or parent.name != name[:2]:
                yield name, DamagedCellError(f"{parent / name} is not a cell, and no cell belongs there; remove it.")
            elif (found := read(name)) is not None:
                yield name, found


def _content(cell_id: str, record: Mapping[str, Any], files: Mapping[str, bytes]) -> dict[str, bytes]:
    if id_of(record["key"]) != cell_id:
        raise DataError(f"The key of cell {cell_id} belongs to cell {id_of(record['key'])}.")
    if record["outcome"] not in OUTCOMES:
        raise DataError(f"Cell {cell_id} has the unknown outcome {record['outcome']!r}; use {', '.join(OUTCOMES)}.")
    for name in files:
        if Path(name).name != name or name.startswith(".") or name == CELL_FILE:
            raise DataError(f"A file of cell {cell_id} cannot be named {name!r}.")
    digests = {name: _sha256(data) for name, data in files.items()}
    complete = {**record, "format": FORMAT, "version": VERSION, "cell_id": cell_id, "files": digests}
    complete.pop("integrity", None)  # left from a cell that was read before
    return {**files, CELL_FILE: _encoded(complete)}


def _encoded(record: Mapping[str, Any]) -> bytes:
    """Return the bytes of `cell.json`; they follow from its values, so any changed byte is detected."""
    return pretty({**record, "integrity": digest(record, FORMAT)})


def _fill(folder: Path, content: Mapping[str, bytes]) -> None:
    folder.mkdir()
    for name, data in content.items():
        write_file(folder / name, data)
    sync_folder(folder)


def _put_in_place(unfinished: Path, folder: Path, replace: bool) -> bool:
    aside = _set_aside(folder) if replace else None
    try:
        unfinished.rename(folder)
    except BaseException as error:
        if aside is not None:
            with suppress(OSError):  # if this fails, readers find it under its new name and a later run restores it
                aside.rename(folder)
        if not (isinstance(error, OSError) and error.errno in (errno.ENOTEMPTY, errno.EEXIST)):
            raise
        if aside is not None:
            discard(aside)
        return False  # another run was first
    sync_folder(folder.parent)
    if aside is not None:
        discard(aside)
    return True


def _set_aside(folder: Path) -> Path | None:
    aside = folder.with_name(scratch_name(REPLACED + folder.name))
    try:
        folder.rename(aside)
    except FileNotFoundError:
        return None
    return aside


def _current(root: Path, cell_id: str) -> Path | None:
    """Return where a cell is: its folder, or during a replacement the old folder that was set aside."""
    folder = cell_folder(root, cell_id)
    if os.path.lexists(folder):
        return folder
    aside = min(folder.parent.glob(f"{REPLACED}{cell_id}~*"), default=None)
    return folder if os.path.lexists(folder) else aside  # the replacement may have ended in between


def _open_folder(folder: Path, cell_id: str) -> int | None:
    """Return a descriptor of the folder, or None if it was removed in between."""
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not folder.is_symlink():
            return None
        raise _damage(cell_id, folder, f"it cannot be opened ({error.strerror})") from error


def _checked(descriptor: int, folder: Path, cell_id: str, verified: Verified | None) -> Cell:
    data = _read(descriptor, CELL_FILE, folder, cell_id)
    record = _record(data, folder, cell_id)
    files = {name: _read(descriptor, name, folder, cell_id) for name in record["files"]}
    changed = [name for name, content in files.items() if _sha256(content) != record["files"][name]]
    if changed:
        raise _damage(cell_id, folder, f"{', '.join(changed)} changed since it was written")
    if verified is not None:
        verified.add(cell_id, data)
    return Cell(cell_id, record, files)


def _record(data: bytes, folder: Path, cell_id: str) -> dict[str, Any]:
    """Return the contents of a `cell.json` without its integrity; raise unless it is as it was written."""
    record, its_id = _parsed(data)
    if record is None:
        _refuse_newer(data, folder, cell_id)
        raise _damage(cell_id, folder, f"{CELL_FILE} is not what was written")
    if its_id != cell_id:
        raise _damage(cell_id, folder, f"its key belongs to cell {its_id}")
    return record


def _read(descriptor: int, name: str, folder: Path, cell_id: str) -> bytes:
    try:
        return read_in(descriptor, name)
    except FileNotFoundError as error:
        raise _damage(cell_id, folder, f"{name} is missing") from error
    except OSError as error:
        raise _damage(cell_id, folder, f"{name} cannot be read ({error.strerror})") from error


def _parsed(data: bytes) -> tuple[dict[str, Any] | None, str]:
    """Return the contents of `cell.json` without its integrity, or None if it is damaged, and the id of its key."""
    try:
        record, spelt = read_pretty(data)
        integrity, _ = record.pop("integrity"), spelt.pop("integrity")
        complete = record["format"] == FORMAT and {"key", "outcome", "files"} <= set(record)
        if not complete or integrity != digest_of(f"{{{','.join(spelt.values())}}}".encode(), FORMAT):
            return None, ""
        return record, id_of_spelt(spelt["key"].removeprefix('"key":').encode())
    except (ValueError, LookupError, TypeError, AttributeError):
        return None, ""


def _refuse_newer(data: bytes, folder: Path, cell_id: str) -> None:
    if _FORMAT_LINE not in data and (writer := _newer_writer(data)):
        raise NewerFormatError(
            f"Cell {cell_id} in {folder} was written in a newer format ({writer}); use that version or newer."
        )


def _newer_writer(data: bytes) -> str:
    """Return format and version of a `cell.json` in a newer format, whose integrity is not known here; else nothing."""
    try:
        record = json.loads(data)
        family, number = record["format"].split("/")
        newer = family == FAMILY and int(number) > NUMBER
        return f"{record['format']}, by aacbench {record.get('version', 'of unknown version')}" if newer else ""
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ""


def _cell_name(name: str) -> str:
    """Return the cell that an entry of a cell folder stands for; unfinished and hidden entries stand for none."""
    if name.startswith(REPLACED):
        return replaced_id(name)
    return "" if name.startswith(".") else name


def _damage(cell_id: str, folder: Path, what: str) -> DamagedCellError:
    return DamagedCellError(f"Cell {cell_id} in {folder} is damaged: {what}; run it again, or restore it from a copy.")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# The meaning of `--existing`. A missing cell is always run. For the others:
#
#               | ok   | failed | damaged
# keep          | skip | skip   | run
# retry-failed  | skip | run    | run
# verify        | skip | skip   | report    existing cells are never changed
# replace       | run  | run    | run
Existing = Literal["keep", "retry-failed", "verify", "replace"]
State = Literal["missing", "ok", "failed", "damaged"]
Decision = Literal["run", "skip", "report"]

# A method that answered `unsupported` would do so again, so the cell counts as done.
ANSWERED = ("ok", "unsupported")

_UNLESS_SKIPPED: dict[Existing, dict[State, Decision]] = {
    "keep": {"damaged": "run"},
    "retry-failed": {"failed": "run", "damaged": "run"},
    "verify": {"damaged": "report"},
    "replace": {"ok": "run", "failed": "run", "damaged": "run"},
}


def decide(existing: Existing, state: State) -> Decision:
    return "run" if state == "missing" else _UNLESS_SKIPPED[existing].get(state, "skip")


def state_of(outcome: str | DamagedCellError | None) -> State:
    if outcome is None:
        return "missing"
    if isinstance(outcome, DamagedCellError):
        return "damaged"
    return "ok" if outcome in ANSWERED else "failed"


def sweep(root: Path) -> None:
    """Remove abandoned files and locks; restore cells whose replacement was interrupted."""
    for folder in (root, *artifact_folders(root)):
        sweep_locks(folder)
    for path in _scratch(root):
        if not abandoned(path):
            continue
        if path.name.startswith(REPLACED):
            _restore(path)
            discard(path)
        else:
            remove(path)


def discard(aside: Path) -> None:
    """Remove a cell that was set aside; rename it first, because readers trust its present name."""
    with suppress(OSError):
        remove(aside.rename(aside.with_name(scratch_name(UNFINISHED))))


def replaced_id(name: str) -> str:
    return name[len(REPLACED) : len(REPLACED) + ID_DIGITS]


def _scratch(root: Path) -> Iterator[Path]:
    inner = [found for part in (root / RUNS, root / CELLS, *artifact_folders(root)) for found in part.glob("*")]
    for folder in (root, root / DERIVED, *inner):
        for kind in (UNFINISHED, REPLACED):
            yield from (path for path in folder.glob(f"{kind}*") if is_scratch(path))


def _restore(aside: Path) -> None:
    with suppress(OSError):  # fails if the new cell is in place
        aside.rename(aside.with_name(replaced_id(aside.name)))
