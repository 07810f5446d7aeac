"""Label stores: the arrays in which the labels of chosen landmarks are deployed, and how many landmarks fit in them."""

from dataclasses import replace
from typing import Protocol

import numpy.typing as npt

from aacbench.contract.budget import ROOM
from aacbench.contract.landmarks import PACKED, ROUNDED, STEPS
from aacbench.contract.method import BuildContext, LabelHeuristic, Unsupported
from aacbench.labels.pool import Pool
from aacbench.labels.stores.coded import Coded
from aacbench.labels.stores.lossless import Lossless
from aacbench.labels.stores.quantised import Quantised
from aacbench.labels.stores.selection import Selection
from aacbench.labels.tables import subset

_PROBED = 8  # farthest points from whose bytes the number that fits is estimated


class Store(Protocol):
    """The labels of a selection, in the order of preference, ready to be encoded; bytes grow with their number."""

    def nbytes(self, count: int) -> int:
        """Return the bytes of all arrays with the first `count` of the selection."""
        ...

    def encode(self, count: int) -> LabelHeuristic:
        """Return the heuristic with the first `count` of the selection."""
        ...


def counted(context: BuildContext, name: str) -> BuildContext:
    """Return the context with the number of labels to choose, `name`, set to as many as could fit at most.

    Where a store's size depends on the labels, `fit` leaves the number at 0, and `deployed` finds how many fit.
    """
    if context.params["labels"] not in PACKED or context.params[name]:
        return context
    pool = context.pools.farthest(_PROBED)
    store = _store(context, Selection.of(pool, range(len(pool))))
    if isinstance(store, Unsupported):
        return context
    most = _estimate(store, len(pool), context.params[ROOM])
    labels = 2 if name == "m" and not pool.symmetric else 1
    return replace(context, params={**context.params, name: labels * most, "filled": True})


def deployed(
    context: BuildContext, pool: Pool, forward: npt.ArrayLike, backward: npt.ArrayLike | None = None
) -> LabelHeuristic | Unsupported:
    """Return the labels of the landmarks at `forward`, and at `backward`, in the store that the method was asked for.

    Positions are in the order of preference: where the number of labels is open, the first that fit are deployed.
    """
    labels, chosen = context.params["labels"], _complete(context, Selection.of(pool, forward, backward))
    if labels not in PACKED and labels not in ROUNDED:
        back = None if chosen.paired else chosen.backward
        return subset(context.network, chosen.pool, chosen.forward, back, labels)
    store = _store(context, chosen)
    if isinstance(store, Unsupported):
        return store
    if labels in ROUNDED:
        return store.encode(len(chosen))
    count = most_that_fit(store, len(chosen), context.params[ROOM]) if context.params.get("filled") else len(chosen)
    needed = store.nbytes(max(1, count))
    if needed > context.params[ROOM]:
        landmarks = f"{count} landmarks do" if count > 1 else "A landmark does"
        return Unsupported(f"{landmarks} not fit in {labels} labels", needed)
    made = store.encode(count)
    number = "K" if "K" in context.params else "m"
    return replace(made, facts={"labels": count, **made.facts}, chosen={number: count})


def _complete(context: BuildContext, chosen: Selection) -> Selection:
    """Return the selection with whole rows: a pool that labels were only chosen from may have few columns."""
    return chosen if chosen.pool.vertices is None else chosen.on(context.pools.rows(chosen.pool, chosen.positions()))


def _store(context: BuildContext, chosen: Selection) -> Store | Unsupported:
    labels = context.params["labels"]
    if labels in PACKED:
        return Lossless.of(context.network, chosen, labels)
    return (Quantised if labels in STEPS else Coded).of(context.network, chosen, labels)


def _estimate(store: Store, count: int, room: int) -> int:
    """Return about how many labels fit, rather too many: each costs as much as one more did among the first."""
    known = store.nbytes(count)
    each = max(1.0, (known - store.nbytes(1)) / (count - 1)) if count > 1 else float(max(1, known))
    return max(1, 1 + count + int((room - known) / each))


def most_that_fit(store: Store, count: int, room: int) -> int:
    """Return how many of the first labels fit; a search by halves, begun near the number that the bytes suggest."""
    low, high, needed = 0, count, store.nbytes(count)
    if needed <= room:
        return count
    guess = count * room // needed
    while high - low > 1:
        middle = min(max(guess, low + 1), high - 1)
        low, high = (middle, high) if store.nbytes(middle) <= room else (low, middle)
        guess = (low + high) // 2 if high - low > 4 else low + 1
    return low
