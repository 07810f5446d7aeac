"""The names of map sets; nothing heavy is imported, so that plugins and `--help` can look them up."""

import re
from pathlib import Path

from aacbench.errors import MissingDataError, UsageError
from aacbench.util.paths import data_folder, expanded

TERRAIN = re.compile(r"terrain-(?P<side>[0-9]{1,3})(-s(?P<seed>[0-9]{1,9}))?")
WARCRAFT = tuple(f"warcraft:{side}x{side}" for side in (12, 18, 24, 30))
FOLDER_PREFIX = "mapset:"
CELLS, PAPER = EDGES = ("cells", "paper")  # what an edge weighs: see `maps.atlas`
DEFAULT_SEED = 42
_ORIGINAL = "warcraft_shortest_path_oneskin"  # the folder in the archive of the original set
_ARCHIVE = "warcraft_maps.tar.gz (doi 10.17617/3.YJCQ5S)"
# What the original has, and what is generated unless told.
ORIGINAL_COUNTS = {"train": 10_000, "validation": 500, "calibration": 500, "test": 1000}
DEFAULT_COUNTS = {"train": 2000, "validation": 300, "calibration": 300, "test": 300}


def comes_with_us(name: str) -> bool:
    return TERRAIN.fullmatch(name) is not None or name in WARCRAFT or name.startswith(FOLDER_PREFIX)


def describe() -> list[tuple[str, str, str]]:
    """Return name, where it is, and a summary of the map sets that come with aacbench."""
    rows = [
        (f"terrain-{side}", "generated", f"{side} x {side} cells of five kinds of terrain; another seed: -s7")
        for side in (12, 18, 24, 30)
    ]
    for name in WARCRAFT:
        there = "in $AACBENCH_DATA" if _is_there(name) else "to be got by hand"
        rows.append((name, there, f"the original Warcraft maps of {name.partition(':')[2]} cells"))
    return rows


def terrain_of(name: str) -> tuple[int, int] | None:
    """Return side and seed of generated terrain, or None for another name."""
    from aacbench.maps.record import LEAST_SIDE, MOST_SIDE

    found = TERRAIN.fullmatch(name)
    if found is None:
        return None
    side = int(found["side"])
    if not LEAST_SIDE <= side <= MOST_SIDE:
        raise UsageError(f"{name}: terrain has from {LEAST_SIDE} to {MOST_SIDE} cells a side, such as terrain-12.")
    return side, int(found["seed"] or DEFAULT_SEED)


def folder_of(name: str) -> Path | None:
    """Return the folder of a map set that is read from files, or None for another name."""
    if name.startswith(FOLDER_PREFIX):
        folder = expanded(name.removeprefix(FOLDER_PREFIX))
        if not folder.is_dir():
            raise MissingDataError(f"{name}: {folder.absolute()} is not a folder; name the one with train_maps.npy.")
        return folder
    if name not in WARCRAFT:
        return None
    below = f"{_ORIGINAL}/{name.partition(':')[2]}"
    folder = (data_folder() or Path("$AACBENCH_DATA")) / below
    if not _is_there(name):
        side = name.partition("x")[2]
        raise MissingDataError(
            f"{name} needs train_maps.npy and the other files of {_ARCHIVE}; put them in {folder}. "
            f"terrain-{side} is embedded."
        )
    return folder


def _is_there(name: str) -> bool:
    root = data_folder()
    return root is not None and (root / _ORIGINAL / name.partition(":")[2] / "train_maps.npy").is_file()
