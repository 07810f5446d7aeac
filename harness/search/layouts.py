"""Label layouts: how a heuristic enters the compiled search. Each is a NamedTuple class with two kernels.

`bind(layout, memo, arcs, work, target)` is called once per query and returns how many vertices it settled (mostly
none); `bound(layout, memo, u)` then returns h(u) for that target, and `h_work(layout, memo)` how much work the bounds
have reported since. Numba would recompile a jitted function passed as an argument in every process. A class that an
overload maps to its kernels is found in the cache on disk.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from aacbench.errors import UsageError
from aacbench.graphs.record import Array
from aacbench.search.networks import Network
from aacbench.search.policy import LABEL_LAYOUTS
from aacbench.search.scratch import used_up


class Kernels(NamedTuple):
    """The three functions to compile for a layout class, and one, `memo`, that allocates scratch for one thread."""

    bind: Callable[..., Any]
    bound: Callable[..., Any]
    memo: Callable[[Any], Any]
    work: Callable[..., Any]


KERNELS: dict[Any, Kernels] = {}  # by the NamedTuple class of a label layout


def bind(layout, memo, arcs, work, target):
    """Prepare `memo` for a target with the kernel of the layout's class."""
    return KERNELS[type(layout)].bind(layout, memo, arcs, work, target)


def bound(layout, memo, u):
    """Return the lower bound on the distance from u to the target in `memo`."""
    return KERNELS[type(layout)].bound(layout, memo, u)


def h_work(layout, memo):
    """Return the work that the bounds of this query have reported."""
    return KERNELS[type(layout)].work(layout, memo)


@overload(bind)
def _bind(layout, memo, arcs, work, target):
    kernels = KERNELS.get(getattr(layout, "instance_class", None))
    return kernels.bind if kernels else None


@overload(bound, jit_options={"forceinline": True})
def _bound(layout, memo, u):
    kernels = KERNELS.get(getattr(layout, "instance_class", None))
    return kernels.bound if kernels else None


@overload(h_work, jit_options={"forceinline": True})
def _h_work(layout, memo):
    kernels = KERNELS.get(getattr(layout, "instance_class", None))
    return kernels.work if kernels else None


def memo_for(labels: Any) -> Any:
    return KERNELS[type(labels)].memo(labels)


def no_work(layout, memo):
    return 0


def _bind_differential(layout, memo, arcs, work, target):
    for k in range(np.uint64(len(memo))):
        memo[k] = layout.rows[target, k]
    return 0


def _bound_differential(layout, memo, u):
    best = layout.nothing
    both, total = np.uint64(layout.both), np.uint64(len(memo))
    forward = both + np.uint64(layout.forward)
    if layout.complete:
        for k in range(both):
            best = max(best, abs(layout.rows[u, k] - memo[k]))
        for k in range(both, forward):
            best = max(best, memo[k] - layout.rows[u, k])
        for k in range(forward, total):
            best = max(best, layout.rows[u, k] - memo[k])
    else:
        for k in range(total):
            label = layout.rows[u, k]
            if label >= 0 and memo[k] >= 0:
                if k < forward:
                    best = max(best, memo[k] - label)
                if k < both or k >= forward:
                    best = max(best, label - memo[k])
    return max(best - layout.margin, layout.nothing) * layout.scale


def _memo_differential(layout: Any) -> Array:
    return np.empty(layout.rows.shape[1], dtype=_wide(layout.rows))


class Differential(NamedTuple):
    """Landmark distances, one row per vertex: the bound of ALT and of every subset of its labels.

    The first `both` columns hold d(l, v) = d(v, l), the next `forward` columns d(l, v), the rest d(v, l). `complete`
    says that no label is -1, for no path. `margin` is subtracted from each difference to make up for rounding. `scale`
    converts label units to weights. `nothing` is zero in the type of the differences.
    """

    rows: Array
    both: int
    forward: int
    complete: bool
    margin: Any
    scale: Any
    nothing: Any


KERNELS[Differential] = Kernels(_bind_differential, _bound_differential, _memo_differential, no_work)


def _bind_by_landmark(layout, memo, arcs, work, target):
    for k in range(np.uint64(len(memo))):
        memo[k] = layout.columns[k, target]
    return 0


def _bound_by_landmark(layout, memo, u):
    best = layout.nothing
    both, total = np.uint64(layout.both), np.uint64(len(memo))
    forward = both + np.uint64(layout.forward)
    for k in range(total):
        label = layout.columns[k, u]
        if label >= 0 and memo[k] >= 0:
            if k < forward:
                best = max(best, memo[k] - label)
            if k < both or k >= forward:
                best = max(best, label - memo[k])
    return max(best - layout.margin, layout.nothing) * layout.scale


def _memo_by_landmark(layout: Any) -> Array:
    return np.empty(len(layout.columns), dtype=_wide(layout.columns))


class ByLandmark(NamedTuple):
    """The labels of `Differential` with one row per landmark, each tested for a missing path whenever it is read.

    The paper's code stores ALT's labels so, and those of AAC by vertex; this layout shows what that is worth in time.
    """

    columns: Array
    both: int
    forward: int
    margin: Any
    scale: Any
    nothing: Any


KERNELS[ByLandmark] = Kernels(_bind_by_landmark, _bound_by_landmark, _memo_by_landmark, no_work)


def _bind_max(layout, memo, arcs, work, target):
    settled = bind(layout.one, memo[0], arcs, work, target)
    return settled + bind(layout.other, memo[1], arcs, work, target)


def _bound_max(layout, memo, u):
    one, other = bound(layout.one, memo[0], u), bound(layout.other, memo[1], u)
    if one >= other:
        return one
    return other if other > one else one + other  # NaN must reach the search, which reports it


def _memo_max(layout: Any) -> tuple[Any, Any]:
    return memo_for(layout.one), memo_for(layout.other)


def _work_max(layout, memo):
    return h_work(layout.one, memo[0]) + h_work(layout.other, memo[1])


class MaxOf(NamedTuple):
    """The larger bound of two layouts; each may itself be a `MaxOf`."""

    one: Any
    other: Any


KERNELS[MaxOf] = Kernels(_bind_max, _bound_max, _memo_max, _work_max)


@dataclass(frozen=True, eq=False, slots=True)
class Layout:
    """Labels in the vertex order of one network, to be searched with that network only.

    `idle` is scratch of threads that have ended, for the next ones: that of a lazy heuristic grows with the graph.
    """

    network: Network
    labels: Any
    idle: list[Any] = field(default_factory=list, repr=False)

    def borrow(self) -> Any:
        """Return scratch for one thread, to be given back by appending it to `idle`."""
        try:
            memo = self.idle.pop()
        except IndexError:
            return memo_for(self.labels)
        return memo_for(self.labels) if used_up(memo) else memo

    def check_fits(self, network: Network) -> None:
        """Raise UsageError for another network, whose vertices are numbered differently."""
        mine = self.network
        if mine is not network and (mine.order != network.order or mine.graph.digest != network.graph.digest):
            raise UsageError("The labels were laid out for another network; create the layout for this one.")


def differential(
    network: Network,
    rows: Array,
    *,
    both: int = 0,
    forward: int = 0,
    margin: float = 0.0,
    scale: float | None = None,
    label_layout: str = LABEL_LAYOUTS[0],
) -> Layout:
    if rows.ndim != 2 or len(rows) != network.graph.vertices or rows.dtype.kind not in "if":
        raise UsageError(
            f"Labels must be numbers with one row for each of the graph's {network.graph.vertices} vertices; "
            f"these have type {rows.dtype} and shape {rows.shape}."
        )
    if not 0 <= both <= both + forward <= rows.shape[1]:
        raise UsageError(f"both={both} and forward={forward} do not fit a table of {rows.shape[1]} columns.")
    if both and not network.graph.symmetric:
        raise UsageError("One label for both directions needs a symmetric graph, where every arc has an equal reverse.")
    placed = np.take(np.asarray(rows), network.original, axis=0)
    wide = _wide(rows)
    unit = wide(1) if scale is None else np.float64(scale)
    if label_layout != LABEL_LAYOUTS[0] and rows.shape[1]:
        columns = np.ascontiguousarray(placed.T)
        columns.flags.writeable = False
        return Layout(network, ByLandmark(columns, both, forward, wide(margin), unit, wide(0)))
    placed.flags.writeable = False
    complete = not placed.size or bool(placed.min() >= 0)
    return Layout(network, Differential(placed, both, forward, complete, wide(margin), unit, wide(0)))


def _wide(rows: Array) -> type[np.int64] | type[np.float64]:
    return np.int64 if rows.dtype.kind == "i" else np.float64


def knows_nothing(layout: Any) -> bool:
    """Return whether the layout has no labels, so that a search with it is Dijkstra's."""
    labels = getattr(layout, "labels", None)
    return isinstance(labels, Differential) and labels.rows.shape[1] == 0


def max_of(layouts: Sequence[Layout]) -> Layout:
    last, *others = reversed(layouts)
    labels = last.labels
    for layout in others:
        layout.check_fits(last.network)
        labels = MaxOf(layout.labels, labels)
    return Layout(last.network, labels)


def no_labels(network: Network) -> Layout:
    """Return the layout without labels: h = 0, so A* with it is Dijkstra."""
    dtype = np.int32 if network.graph.integral else np.float64
    return differential(network, np.empty((network.graph.vertices, 0), dtype=dtype))
