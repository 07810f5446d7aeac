"""Cells on disk: written whole or not at all, and every byte checked when read."""

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aacbench.errors import AacbenchError, DamagedCellError, DataError
from aacbench.run.cleanup import discard, replaced_id
from aacbench.run.layout import CELL_FILE, CELLS, REPLACED, cell_folder, is_cell_id
from aacbench.run.layout import cell_id as id_of
from aacbench.run.records import OUTCOMES
from aacbench.util.atomic_io import is_still, make_folder, remove, storing, sync_folder, write_file
from aacbench.util.canonical import digest, pretty
from aacbench.util.cleanup import UNFINISHED, scratch_name

FORMAT = "aacbench.cell.json/1"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it was committed: what `cell.json` says, and the bytes of the files beside it."""

    cell_id: str
    record: Mapping[str, Any]
    files: Mapping[str, bytes]

    @property
    def key(self) -> Mapping[str, Any]:
        """Everything that decides what the cell computes."""
        return self.record["key"]

    @property
    def outcome(self) -> str:
        """One of `OUTCOMES`."""
        return self.record["outcome"]


def commit(
    root: Path, cell_id: str, record: Mapping[str, Any], files: Mapping[str, bytes], *, replace: bool = False
) -> bool:
    """Store a cell and say whether it was; one that is there already stays, unless `replace`."""
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


def read_cell(root: Path, cell_id: str) -> Cell | None:
    """The cell, or None where there is none; one that is not as it was written is an error."""
    while (folder := _current(root, cell_id)) is not None:
        # Everything is read through the opened folder, so that all of it is from one cell.
        descriptor = _opened(folder, cell_id)
        if descriptor is None:
            continue
        try:
            return _verified(descriptor, folder, cell_id)
        except DamagedCellError:
            now = _current(root, cell_id)
            if now is not None and is_still(now, descriptor):
                raise  # else another run has replaced it meanwhile, and removed what was being read
        finally:
            os.close(descriptor)
    return None


def scan(root: Path) -> Iterator[tuple[str, Cell | DamagedCellError]]:
    """Every cell in the order of ids, or what is wrong with it."""
    for parent in sorted((root / CELLS).glob("*")):
        for name in sorted({_cell_name(path.name) for path in parent.glob("*")} - {""}):
            found = _look(root, parent / name)
            if found is not None:
                yield name, found


def _content(cell_id: str, record: Mapping[str, Any], files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a cell, `cell.json` last."""
    if id_of(record["key"]) != cell_id:
        raise DataError(f"the key of cell {cell_id} is that of cell {id_of(record['key'])}.")
    if record["outcome"] not in OUTCOMES:
        raise DataError(f"cell {cell_id} has the outcome {record['outcome']!r}; there are {', '.join(OUTCOMES)}.")
    for name in files:
        if Path(name).name != name or name.startswith(".") or name == CELL_FILE:
            raise DataError(f"a file of cell {cell_id} cannot be named {name!r}.")
    digests = {name: _sha256(data) for name, data in files.items()}
    whole = {**record, "format": FORMAT, "cell_id": cell_id, "files": digests}
    whole.pop("integrity", None)  # that of a cell read before
    return {**files, CELL_FILE: _spelt(whole)}


def _spelt(record: Mapping[str, Any]) -> bytes:
    """`cell.json` as it is written: its bytes follow from its values, so that no byte can change unseen."""
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
            with suppress(OSError):  # then readers find it where it is, and a later run brings it back
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
    """Where a cell is: its folder, or between the two renames of a replacement the old one, set aside."""
    folder = cell_folder(root, cell_id)
    if os.path.lexists(folder):
        return folder
    aside = min(folder.parent.glob(f"{REPLACED}{cell_id}~*"), default=None)
    return folder if os.path.lexists(folder) else aside  # the replacement may have ended meanwhile


def _opened(folder: Path, cell_id: str) -> int | None:
    """The folder opened, or None where it has gone meanwhile."""
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not folder.is_symlink():
            return None
        raise DamagedCellError(_sentence(cell_id, folder, f"it cannot be opened ({error.strerror})")) from error


def _verified(descriptor: int, folder: Path, cell_id: str) -> Cell:
    def read(name: str) -> bytes:
        with _explained(cell_id, folder, name), os.fdopen(os.open(name, os.O_RDONLY, dir_fd=descriptor), "rb") as file:
            return file.read()

    data = read(CELL_FILE)
    record = _parsed(data)
    if record is None:
        raise DamagedCellError(_sentence(cell_id, folder, f"{CELL_FILE} is not what was written"))
    if id_of(record["key"]) != cell_id:
        raise DamagedCellError(_sentence(cell_id, folder, f"its key is that of cell {id_of(record['key'])}"))
    files = {name: read(name) for name in record["files"]}
    changed = [name for name, data in files.items() if _sha256(data) != record["files"][name]]
    if changed:
        raise DamagedCellError(_sentence(cell_id, folder, f"not what was written: {', '.join(changed)}"))
    return Cell(cell_id, record, files)


def _parsed(data: bytes) -> dict[str, Any] | None:
    """What an undamaged `cell.json` says, without its integrity."""
    try:
        record = json.loads(data)
        record.pop("integrity")
        whole = record["format"] == FORMAT and {"key", "outcome", "files"} <= set(record)
        return record if whole and _spelt(record) == data else None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, AacbenchError):
        return None


@contextmanager
def _explained(cell_id: str, folder: Path, name: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise DamagedCellError(_sentence(cell_id, folder, f"{name} is missing")) from error
    except OSError as error:
        raise DamagedCellError(_sentence(cell_id, folder, f"{name} cannot be read ({error.strerror})")) from error


def _cell_name(name: str) -> str:
    """The cell that a name in a folder of cells stands for; leftovers and hidden files are none."""
    if name.startswith(REPLACED):
        return replaced_id(name)
    return "" if name.startswith(".") else name


def _look(root: Path, folder: Path) -> Cell | DamagedCellError | None:
    if not is_cell_id(folder.name) or folder != cell_folder(root, folder.name):
        return DamagedCellError(f"{folder} is not a cell, and no cell belongs there; remove it.")
    try:
        return read_cell(root, folder.name)
    except DamagedCellError as damage:
        return damage


def _sentence(cell_id: str, folder: Path, what: str) -> str:
    return f"cell {cell_id} in {folder} is damaged: {what}; run it again, or restore it from a copy."


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
