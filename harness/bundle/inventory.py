"""The bytes a heuristic deploys, array by array, held against its budget."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from aacbench.bundle.arrays import arrays_of, checked_scratch, checked_settings, leaves
from aacbench.contract.budget import Budget
from aacbench.contract.method import BatchHeuristic, Heuristic, LabelHeuristic, ScalarHeuristic
from aacbench.errors import OverBudgetError, UsageError
from aacbench.graphs.record import Array
from aacbench.search.scratch import scratch_bytes
from aacbench.util.array_store import sha256_of

SETTING_BYTES = 8
_WITH_ARRAYS = LabelHeuristic | BatchHeuristic

# Not held against a budget: eight numbers for each part of a maximum, not per vertex. Labels that fill their share
# of a budget to the byte would otherwise lose a whole landmark to the numbers that say how many there are.
SETTINGS_ALLOWANCE = 64
MOST_ALLOWANCES = 4  # parts: a maximum of many would be a store of its own
NAMES_ALLOWANCE = 256  # characters of all names together; more are data, and charged a byte each


@dataclass(frozen=True, slots=True)
class ArrayBytes:
    """One deployed array. `same_as` names an earlier one over exactly the same memory, which is saved only once."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    sha256: str
    same_as: str | None = None


@dataclass(frozen=True, slots=True)
class Inventory:
    """Every byte a heuristic deploys; `measured` is False where the bytes are self-reported.

    `scratch_bytes` is what a search thread keeps for it besides, cleared with every query and not held against it.
    """

    vertices: int
    arrays: tuple[ArrayBytes, ...]
    settings_bytes: int
    total_bytes: int
    measured: bool = True
    scratch_bytes: int = 0
    allowed_bytes: int = 0
    """Of the settings, what is not held against a budget."""

    @property
    def bytes_per_vertex(self) -> float:
        return self.total_bytes / self.vertices

    @property
    def charged_bytes(self) -> int:
        """The bytes held against a budget: all but a fixed allowance for the settings of each part."""
        return self.total_bytes - self.allowed_bytes

    def record(self) -> dict[str, Any]:
        return {
            "measured": self.measured,
            "measured_per_vertex": self.bytes_per_vertex,
            "total": self.total_bytes,
            "settings": self.settings_bytes,
            "scratch": self.scratch_bytes,
            "arrays": [{**asdict(array), "shape": list(array.shape)} for array in self.arrays],
        }


def inventory(heuristic: Heuristic, vertices: int, digests: Mapping[str, str] | None = None) -> Inventory:
    """List and sum what must be saved to have the heuristic again: of a view, what it shows.

    `digests` has the sha256 of each array where it is known.
    """
    parts = leaves(heuristic).values()
    scalars = [part for part in parts if isinstance(part, ScalarHeuristic)]
    seen: dict[tuple[Any, ...], str] = {}
    entries = []
    for name, array in arrays_of(heuristic).items():
        first = seen.setdefault(memory_of(array), name)
        known = sha256_of(array) if digests is None else digests[name]
        same_as = None if first == name else first
        entries.append(ArrayBytes(name, str(array.dtype), array.shape, array.nbytes, known, same_as))
    settings = [
        SETTING_BYTES * len(checked_settings(part.settings)) for part in parts if isinstance(part, _WITH_ARRAYS)
    ]
    settled = sum(settings) + _outside_the_arrays(heuristic, vertices)
    total = sum(entry.nbytes for entry in entries if entry.same_as is None) + settled
    total += sum(_declared(part.declared_bytes_per_vertex, vertices) for part in scalars)
    goals = [part.goal for part in parts if isinstance(part, LabelHeuristic) and part.goal is not None]
    scratch = sum(SETTING_BYTES * goal.memo + scratch_bytes(checked_scratch(goal.scratch), vertices) for goal in goals)
    allowed = min(sum(min(taken, SETTINGS_ALLOWANCE) for taken in settings), MOST_ALLOWANCES * SETTINGS_ALLOWANCE)
    return Inventory(vertices, tuple(entries), settled, total, not scalars, scratch, allowed)


def check_budget(inventory: Inventory, budget: Budget) -> None:
    """Refuse a heuristic that exceeds its budget by a byte or more, under a convention that measures bytes."""
    allowed = budget.exact_bytes * inventory.vertices
    if not budget.convention.enforced or inventory.charged_bytes <= allowed:
        return
    largest = max(inventory.arrays, key=lambda array: array.nbytes, default=None)
    without = " in settings alone" if inventory.measured else " as declared"
    detail = f"; its largest array is {largest.name} with {largest.nbytes} bytes" if largest else without
    raise OverBudgetError(
        f"The heuristic deploys {inventory.charged_bytes} bytes, but {budget.bytes_per_vertex:g} bytes a vertex "
        f"allow {math.floor(allowed)}{detail}.",
        inventory.charged_bytes,
    )


def _outside_the_arrays(heuristic: Heuristic, vertices: int) -> int:
    """Bytes of data outside the arrays: in names, and in the shapes of arrays without numbers."""
    parts = leaves(heuristic).values()
    arrays = [part.arrays for part in parts if isinstance(part, _WITH_ARRAYS)]
    settings = [part.settings for part in parts if isinstance(part, _WITH_ARRAYS)]
    characters = sum(len(name) for named in (*arrays, *settings) for name in named)
    empty = [array for named in arrays for array in named.values() if array.shape not in ((0,), (vertices, 0))]
    shapes = SETTING_BYTES * sum(array.ndim for array in empty if not array.size)
    return max(0, characters - NAMES_ALLOWANCE) + shapes


def memory_of(array: Array) -> tuple[Any, ...]:
    """A key that two arrays share only if they are the same numbers in the same memory."""
    where = array.__array_interface__["data"][0] if array.size else id(array)
    return where, array.dtype.str, array.shape, array.strides


def _declared(per_vertex: Any, vertices: int) -> int:
    if isinstance(per_vertex, bool) or not isinstance(per_vertex, int | float) or not 0 <= per_vertex < math.inf:
        raise UsageError(f"The declared bytes per vertex must be a number from 0 up, not {per_vertex!r}.")
    return math.ceil(Fraction(per_vertex) * vertices)
