"""Generators: graphs that follow from a name and are the same on every machine."""

from collections.abc import Callable

from aacbench.errors import UsageError
from aacbench.graphs.catalogue import FIXED, SIZED
from aacbench.graphs.generators.road import road, twoway
from aacbench.graphs.generators.textbook import ba_10k, grid, maze, p7, sbm_10k
from aacbench.graphs.record import Graph

__all__ = ["ba_10k", "describe", "generate", "grid", "maze", "p7", "road", "sbm_10k", "twoway"]

_FIXED: dict[str, Callable[[], Graph]] = dict(zip(FIXED, (sbm_10k, ba_10k, p7), strict=True))
_SIZED: dict[str, Callable[[int, int], Graph]] = {"road": road, "twoway": twoway, "grid": grid, "maze": maze}
_DEFAULT_SIZE = {"grid": "64", "maze": "64"}
_MOST_DIGITS = 18


def generate(name: str) -> Graph | None:
    """Return the graph of this name, or None where it is not the name of a generated graph."""
    if name in _FIXED:
        return _FIXED[name]()
    match = SIZED.fullmatch(name)
    if match is None:
        return None
    size = match["size"] or _DEFAULT_SIZE.get(match["kind"])
    if size is None:
        raise UsageError(f"{name!r} needs a number of vertices, as in 'road-5000'.")
    return _SIZED[match["kind"]](_number(size, name), _number(match["seed"] or "0", name))


def describe() -> list[tuple[str, str]]:
    return [
        ("sbm-10k", "the paper's stochastic block model: 10,000 vertices, undirected, float weights"),
        ("ba-10k", "the paper's Barabási-Albert graph: 10,000 vertices, undirected, float weights"),
        ("road-N[-sSEED]", "a synthetic directed street network with N vertices; travel times in milliseconds"),
        (
            "twoway-N[-sSEED]",
            "the streets of road-N, all two-way: symmetric, yet declared directed as DIMACS is",
        ),
        ("grid-N[-sSEED]", "an open N x N grid, four neighbours, undirected, integer weights 1 to 10; grid is grid-64"),
        ("maze-N[-sSEED]", "an N x N maze with a few loops, undirected, unit weights; maze is maze-64"),
        ("p7", "the path on seven vertices, undirected, unit weights"),
    ]


def _number(digits: str, name: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise UsageError(f"{name[:40]!r} has a number of {len(digits)} digits; use a smaller one.")
    return int(digits)
