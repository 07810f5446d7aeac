"""The names of files and folders in a study folder."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aacbench.errors import UsageError
from aacbench.util.canonical import canonical, digest_of

STUDIES = Path("studies")  # where studies go unless told
PLAN, CELLS, RUNS, ARTIFACTS, DERIVED = "plan.json", "cells", "runs", "artifacts", "derived"
CELL_FILE, QUERIES_FILE, TIMINGS_FILE, CONTROL_FILE = "cell.json", "queries.csv", "timings.csv", "control.csv"
TIMED_ON = "timed_on"  # in cell.json: the machine of a cluster that its searches were timed on
REGISTRATION = "registration.json"  # in a study of a registered run: the ledger lines about it
BUNDLES = "bundles"  # in the artifacts: heuristics as they were measured
REPLACED = ".replaced-"
CELL_TAG = "aacbench.cell/1"
ID_DIGITS = 24
SHORT_DIGITS = 8  # of an id, where a person reads it

_ID = re.compile(f"[0-9a-f]{{{ID_DIGITS}}}")


def artifact_folders(root: Path) -> list[Path]:
    """Where artifacts are kept: those of built-in methods, bundles, and those of each plugin."""
    shared = root / ARTIFACTS
    return [shared, shared / BUNDLES, *(path for path in shared.glob("*-*") if path.is_dir())]


def cell_id(key: Mapping[str, Any]) -> str:
    """Return the id that a key has."""
    return id_of_spelt(canonical(key))


def id_of_spelt(key: bytes) -> str:
    """Return the id that a key has, from its canonical JSON."""
    return digest_of(key, CELL_TAG)[:ID_DIGITS]


def short_ids(names: Iterable[str]) -> dict[str, str]:
    """Return the beginning of each id, as long as is needed to tell all of them apart, and at least eight digits."""
    known = set(names)
    lengths = range(SHORT_DIGITS, ID_DIGITS + 1)
    length = next((n for n in lengths if len({name[:n] for name in known}) == len(known)), ID_DIGITS)
    return {name: name[:length] for name in known}


def is_cell_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def cell_folder(root: Path, cell_id: str) -> Path:
    if not is_cell_id(cell_id):
        raise UsageError(f"{cell_id!r} is not a cell id: it must have {ID_DIGITS} digits and letters a to f.")
    return root.joinpath(CELLS, cell_id[:2], cell_id)
