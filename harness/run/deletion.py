"""Deleting a study, or parts of it; never what a run works on, or what is not the study's."""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from aacbench.errors import UsageError
from aacbench.run.layout import ARTIFACTS, CELLS, DERIVED, PLAN, REGISTRATION, RUNS, cell_folder
from aacbench.util.atomic_io import storing
from aacbench.util.cleanup import UNFINISHED, is_scratch, scratch_name
from aacbench.util.file_lock import LOCKS, any_locked, file_lock

# The plan comes last: as long as it is there, the folder is a study and can be deleted again.
PARTS = (CELLS, ARTIFACTS, RUNS, DERIVED, REGISTRATION, LOCKS, PLAN)
_INSTEAD = "give one that you may change"


def delete_study(root: Path) -> None:
    """Delete all that belongs to a study, and its folder if nothing else is in it."""
    check_idle(root)
    leftovers = [path for path in root.iterdir() if path.name.startswith(UNFINISHED) and is_scratch(path)]
    with storing(root, _INSTEAD):
        for path in (*leftovers, *(root / name for name in PARTS)):
            _remove(path)
    with suppress(OSError):  # it has other files, or is a link to a folder elsewhere
        root.rmdir()


def delete_artifacts(root: Path) -> None:
    check_idle(root)
    with storing(root, _INSTEAD):
        _remove(root / ARTIFACTS)


def delete_cells(root: Path, names: Iterable[str]) -> None:
    """Delete these cells: all of them, or none if a run works on one. The plan still has them, as missing."""
    chosen = list(names)
    with _locked(root, chosen), storing(root, _INSTEAD):
        for name in chosen:
            folder = cell_folder(root, name)
            aside = folder.with_name(scratch_name(UNFINISHED))  # so that no reader finds a part of it
            folder.rename(aside)
            _remove(aside)


def check_idle(root: Path) -> None:
    """Refuse a study of which a run holds a lock."""
    if any_locked(root):
        raise UsageError(f"A run works on {root}; stop it first, or wait until it is done.")


@contextmanager
def _locked(root: Path, names: Iterable[str]) -> Iterator[None]:
    with ExitStack() as locks:
        if not all(locks.enter_context(file_lock(root, name)) for name in names):
            raise UsageError(f"A run works on one of these cells of {root}; stop it first, or wait until it is done.")
        yield


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
