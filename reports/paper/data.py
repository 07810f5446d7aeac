"""Which graphs of the paper are on this machine; what is missing, and where to put it. Nothing is downloaded."""

from collections.abc import Sequence

from aacbench.graphs import fetch
from aacbench.graphs.catalogue import DataFile, catalogue, comes_with_us
from aacbench.util.paths import cache_folder, data_folder


def missing_data(name: str) -> str:
    """Say which files a graph needs that are not on this machine, and where to put them; empty if it can be loaded."""
    entry = catalogue().get(name)
    if entry is None:
        return "" if comes_with_us(name) else f"{name} cannot be read: aacbench knows no format of its files"
    files = [file for file in entry.graph_files.values() if not (fetch.in_data_folder(file) or fetch.in_cache(file))]
    return f"{name} is not here: {_instruction(name, files)}" if files else ""


def is_unchecked(name: str) -> bool:
    """Return whether a data set of the catalogue is read from files of which no digest is known."""
    entry = catalogue().get(name)
    return entry is not None and not all(file.sha256 for file in entry.graph_files.values())


def _instruction(name: str, files: Sequence[DataFile]) -> str:
    folder = data_folder() or cache_folder() / "data"
    places = " and ".join(str(folder / file.at) for file in files)
    if all(file.address for file in files):
        return f"`aacbench graphs show {name}` downloads it; or put it at {places}"
    ways = " and ".join(dict.fromkeys(file.how_to_get for file in files if file.how_to_get))
    return f"{ways}, and put it at {places}" if ways else f"put it at {places}"
