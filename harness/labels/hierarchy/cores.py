"""How far to contract where a whole hierarchy does not fit, and the labels on the core that is left."""

from collections.abc import Iterator

import numpy as np

from aacbench.contract.method import LabelHeuristic
from aacbench.graphs.record import Array
from aacbench.labels.hierarchy.contraction import Contraction
from aacbench.labels.hierarchy.deployed import core_graph, core_labels, packed_heuristic
from aacbench.labels.hierarchy.numbering import hierarchy
from aacbench.labels.hierarchy.packed import all_begins

MOST_LANDMARKS = 64  # more would make each bound of a core vertex slow
_LABEL = 4  # bytes
_TRIES, _STEPS = 6, 200


def core_heuristics(
    made: Contraction, unit: int | float, room: int, symmetric: bool, landmarks: int = 0
) -> Iterator[LabelHeuristic]:
    """Yield heuristics with a core, ever smaller ones, to take the first that fits; none if ALT has more landmarks.

    The sizes of records with a core are estimated to choose how many vertices to contract: as many as leave room for
    the most landmarks, or for the number wanted. The labels on the core are plain; `core_labels` is the only place
    that knows.
    """
    sides = 1 if symmetric else 2
    alone = room // (_LABEL * sides * made.vertices)
    records, left = _record_bytes(made), room
    for _ in range(_TRIES):
        contracted, count = _choice(made, records, left, sides, landmarks)
        if count <= (0 if landmarks else alone) or contracted == 0:
            return
        cut = hierarchy(made, contracted)
        labels = core_labels(core_graph(cut), count, symmetric)
        found = packed_heuristic(cut, unit, labels)
        if found is None:
            return
        yield found
        taken = sum({id(array): array.nbytes for array in found.arrays.values()}.values())
        left -= max(taken - room, room // 200)


def _choice(made: Contraction, records: Array, room: int, sides: int, landmarks: int) -> tuple[int, int]:
    """Return how many vertices to contract, and for how many landmarks there is room then."""
    cuts = np.unique(np.linspace(0, min(len(made.order), made.vertices - 1), _STEPS).astype(np.int64))
    core = made.vertices - cuts
    fits = (room - records[cuts]) // (_LABEL * sides * core)
    fits = np.minimum(np.minimum(fits, core), landmarks or MOST_LANDMARKS)
    best = len(fits) - 1 - int(np.argmax(fits[::-1]))  # of equal ones the smallest core
    return int(cuts[best]), max(0, int(fits[best]))


def _record_bytes(made: Contraction) -> Array:
    """The bytes of the first so many records, with offsets and the map, for every number of them.

    Those of the whole form are taken. With a core they differ a little, since its vertices have other numbers.
    """
    contracted = len(made.order)
    whole = hierarchy(made, contracted)
    found = packed_heuristic(whole, 1)
    if found is None:
        return np.full(contracted + 1, np.inf)
    arrays, sides = found.arrays, ("up",) if whole.down is whole.up else ("up", "down")
    row = whole.place[made.order] - whole.core
    records = np.concatenate([[0], np.cumsum(sum(np.diff(all_begins(arrays, side))[row] for side in sides))])
    total = sum(array.nbytes for array in {id(array): array for array in arrays.values()}.values())
    place = arrays["place"].nbytes + arrays["widths"].nbytes
    offsets = total - place - records[-1]
    return place + records + offsets * np.arange(contracted + 1) / max(1, contracted)
