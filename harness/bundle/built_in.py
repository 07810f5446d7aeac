"""The built-in kernels: the arrays and settings that each takes, checked before a layout is made of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from aacbench.bundle.arrays import leaves, sealed
from aacbench.contract.method import Heuristic, LabelHeuristic
from aacbench.errors import UsageError
from aacbench.graphs.record import Array
from aacbench.search.codes import LEVELS, codes, width_of
from aacbench.search.layouts import Layout, differential
from aacbench.search.networks import Network, degrees
from aacbench.search.packed import BLOCK, packed, stored_rows
from aacbench.search.steps import steps

Arrays = Mapping[str, Array]
Settings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """How a kernel's layout is made, and whether its bounds are computed from the graph's arcs besides its arrays.

    The arcs are the graph's, which a search holds anyway, so they are not charged. A kernel that reads them is right
    only where the weights searched are those it was built on, or where the unchanged ones are held and charged too.
    """

    layout: Callable[[Arrays, Settings, Network, str], Layout]
    reads_arcs: Callable[[Settings], bool] = lambda settings: False


def reads_arcs(heuristic: Heuristic) -> bool:
    """Return whether some part of a heuristic needs the arcs of the graph it was built on to compute its bounds."""
    named = [
        part for part in leaves(heuristic).values() if isinstance(part, LabelHeuristic) and part.kernel in BUILT_IN
    ]
    return any(BUILT_IN[str(part.kernel)].reads_arcs(part.settings) for part in named)


def _differential(arrays: Arrays, settings: Settings, network: Network, label_layout: str) -> Layout:
    vertices = network.graph.vertices
    if set(arrays) != {"rows"}:
        raise UsageError("The differential kernel needs exactly one array, named rows.")
    rows = arrays["rows"]
    if rows.ndim != 2 or len(rows) != vertices:
        raise UsageError(f"The array rows must have a row for each of {vertices} vertices, not the shape {rows.shape}.")
    if rows.dtype.kind not in "if" or rows.dtype == np.float16:
        raise UsageError(f"The array rows must hold signed integers, or floats of 4 or 8 bytes, not {rows.dtype}.")
    if rows.dtype.kind == "f" and not np.isfinite(rows).all():
        raise UsageError("The array rows must be finite; the label of an unreachable vertex is -1.")
    unknown = set(settings) - {"both", "forward", "margin", "scale"}
    if unknown:
        raise UsageError(
            f"The differential kernel has no setting {min(unknown)!r}; it has both, forward, margin and scale."
        )
    both, forward, margin = (settings.get(name, np.int64(0)) for name in ("both", "forward", "margin"))
    if not all(isinstance(count, np.int64) and count >= 0 for count in (both, forward)):
        raise UsageError("The settings both and forward must be numbers of columns of rows.")
    if both + forward > rows.shape[1]:
        raise UsageError(f"The settings both={both} and forward={forward} exceed the {rows.shape[1]} columns of rows.")
    if margin < 0 or (rows.dtype.kind == "i" and margin != int(margin)):
        raise UsageError(f"The margin must be 0 or more, and whole for integer rows, not {margin}.")
    scale = settings.get("scale")
    if scale is not None and (network.graph.integral or not scale > 0):
        raise UsageError(f"The scale must be positive and is for float weights only, so {scale} is refused here.")
    columns = {"both": int(both), "forward": int(forward)}
    return differential(network, rows, margin=margin, scale=scale, label_layout=label_layout, **columns)


def _packed(arrays: Arrays, settings: Settings, network: Network, _: str) -> Layout:
    if set(arrays) != {"offsets", "bases", "index"}:
        raise UsageError("The packed kernel needs exactly the arrays offsets, bases and index.")
    offsets, bases, index = arrays["offsets"], arrays["bases"], arrays["index"]
    index = index.reshape(0, 3) if index.shape == (0,) else index
    unknown = set(settings) - {"both", "forward", "nibbles", "cover", "scale", "per_unit"}
    if unknown:
        raise UsageError(f"The packed kernel has no setting {min(unknown)!r}.")
    both, forward, nibbles = (int(settings.get(name, 0)) for name in ("both", "forward", "nibbles"))
    if offsets.ndim != 2 or offsets.dtype.kind != "u" or offsets.dtype.itemsize > 4:
        raise UsageError("The array offsets must be a table of unsigned numbers of at most 4 bytes.")
    if bases.ndim != 2 or bases.dtype != np.int32 or index.ndim != 2 or index.dtype != np.uint64:
        raise UsageError("The array bases must be a table of int32, and index one of uint64.")
    columns = bases.shape[1]
    if offsets.shape[1] != ((columns + 1) // 2 if nibbles else columns) or not 0 <= both <= both + forward <= columns:
        raise UsageError(f"offsets, both={both} and forward={forward} do not fit bases of {columns} columns.")
    if both and not network.graph.symmetric:
        raise UsageError("One label for both directions needs a symmetric graph, where every arc has an equal reverse.")
    _check_index(offsets, bases, index, network, bool(settings.get("cover")))
    return packed(
        network,
        *(sealed(array) for array in (offsets, bases, index)),
        both=both,
        forward=forward,
        nibbles=bool(nibbles),
        scale=settings.get("scale"),
        per_unit=settings.get("per_unit"),
    )


def _check_index(offsets: Array, bases: Array, index: Array, network: Network, cover: bool) -> None:
    """Refuse an index that leads beyond the tables, or to missing rows: the kernel does not check."""
    vertices = network.graph.vertices
    rows, cells = vertices, 1
    if len(index):
        if index.shape != (-(-vertices // BLOCK), 3):
            raise UsageError(f"The array index must have three words for every {BLOCK} vertices.")
        counts = np.bitwise_count(index[:, :2]).astype(np.uint64)
        before = np.cumsum(counts, axis=0) - counts
        first = np.flatnonzero(counts[:, 0])[:1]  # the first row must begin a cell
        lowest = index[first] & (~index[first] + np.uint64(1))
        if (
            (index[:, 1] & ~index[:, 0]).any()
            or (lowest[:, 0] != lowest[:, 1]).any()
            or (index[:, 2] != before[:, 0] | (before[:, 1] << np.uint64(32))).any()
        ):
            raise UsageError("The array index does not count its own bits.")
        rows, cells = (int(total) for total in counts.sum(axis=0))
    if (len(offsets), len(bases)) != (rows, cells) or (rows < vertices and not cover):
        raise UsageError(
            f"The index leads to {rows} rows and {cells} cells; there are {len(offsets)} and {len(bases)}."
        )
    if rows < vertices:
        stored = stored_rows(index, vertices)
        tails = np.repeat(stored, degrees(network.arcs))
        if not (tails | stored[network.arcs.heads]).all():
            raise UsageError("Two neighbours have no row; of every arc, one end must be in the cover.")


def _steps(arrays: Arrays, settings: Settings, network: Network, _: str) -> Layout:
    if set(arrays) != {"rows", "steps"}:
        raise UsageError("The steps kernel needs exactly two arrays, named rows and steps.")
    rows, sizes = arrays["rows"], arrays["steps"]
    if rows.ndim != 2 or len(rows) != network.graph.vertices or rows.dtype.kind != "u" or rows.dtype.itemsize > 2:
        raise UsageError("The array rows must hold unsigned numbers of one or two bytes, with a row for each vertex.")
    if sizes.shape != rows.shape[1:] or not (np.isfinite(sizes) & (sizes > 0)).all():
        raise UsageError("The array steps must hold a positive number for each column of rows.")
    if network.graph.integral and sizes.dtype.kind != "i":
        raise UsageError("The array steps must hold whole numbers, since the graph's weights are.")
    unknown = set(settings) - {"both", "forward", "margin"}
    if unknown:
        raise UsageError(f"The steps kernel has no setting {min(unknown)!r}; it has both, forward and margin.")
    both, forward, margin = (settings.get(name, np.int64(0)) for name in ("both", "forward", "margin"))
    if not 0 <= both <= both + forward <= rows.shape[1] or margin < 0:
        raise UsageError(f"both={both}, forward={forward} and margin={margin} do not fit {rows.shape[1]} columns.")
    return steps(network, rows, sizes, both=int(both), forward=int(forward), margin=float(margin))


def _codes(arrays: Arrays, settings: Settings, network: Network, _: str) -> Layout:
    if set(arrays) != {"rows", "low", "high"}:
        raise UsageError("The codes kernel needs exactly three arrays, named rows, low and high.")
    rows, low, high = arrays["rows"], arrays["low"], arrays["high"]
    unknown = set(settings) - {"columns", "both", "forward", "margin"}
    if unknown:
        raise UsageError(f"The codes kernel has no setting {min(unknown)!r}; it has columns, both, forward and margin.")
    columns, both, forward = (int(settings.get(name, 0)) for name in ("columns", "both", "forward"))
    margin = float(settings.get("margin", 0.0))
    if not 0 <= both <= both + forward <= columns or not margin >= 0:
        raise UsageError(f"both={both}, forward={forward} and margin={margin} do not fit {columns} columns.")
    if rows.dtype != np.uint8 or rows.shape != (network.graph.vertices, width_of(columns)):
        raise UsageError(f"The array rows must hold {width_of(columns)} bytes of codes for each vertex.")
    for name, levels in (("low", low), ("high", high)):
        if levels.dtype != np.float64 or levels.shape != (LEVELS,) or not np.isfinite(levels).all():
            raise UsageError(f"The array {name} must hold a finite 8-byte float for each of {LEVELS} codes.")
    return codes(network, rows, low, high, columns=columns, both=both, forward=forward, margin=margin)


BUILT_IN = {
    "codes": BuiltIn(_codes),
    "differential": BuiltIn(_differential),
    "steps": BuiltIn(_steps),
    "packed": BuiltIn(_packed, lambda settings: bool(settings.get("cover"))),
}
