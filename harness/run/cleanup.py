"""Remove what killed processes left in a study, and restore cells whose replacement was interrupted."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from aacbench.run.layout import CELLS, DERIVED, ID_DIGITS, REPLACED, RUNS, artifact_folders
from aacbench.util.atomic_io import remove
from aacbench.util.cleanup import UNFINISHED, abandoned, is_scratch, scratch_name
from aacbench.util.file_lock import sweep_locks


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
    """Return the id of the cell that was set aside under this name."""
    return name[len(REPLACED) : len(REPLACED) + ID_DIGITS]


def _scratch(root: Path) -> Iterator[Path]:
    inner = [found for part in (root / RUNS, root / CELLS, *artifact_folders(root)) for found in part.glob("*")]
    for folder in (root, root / DERIVED, *inner):
        for kind in (UNFINISHED, REPLACED):
            yield from (path for path in folder.glob(f"{kind}*") if is_scratch(path))


def _restore(aside: Path) -> None:
    with suppress(OSError):  # fails if the new cell is in place
        aside.rename(aside.with_name(replaced_id(aside.name)))
