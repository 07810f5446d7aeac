"""Budgets, and the conventions that say how bytes per vertex are charged."""

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from aacbench.errors import UsageError

ROOM = "room"  # by this name `fit` may hand on the budget in bytes to `build`; tables leave it out


@dataclass(frozen=True, slots=True)
class Convention:
    """The rules by which memory is charged. The name, version and values are part of every digest.

    `value_bytes` is the charge for one stored value, or None to charge its real width. `direction` decides when a
    graph counts as directed: by its arcs (`computed`) or as its source declares (`declared`). If `enforced`, the
    measured bytes of the deployed arrays must stay within the budget.
    """

    name: str
    version: int
    value_bytes: int | None
    direction: str
    enforced: bool

    @property
    def label(self) -> str:
        """Name and version as written in protocols and reports: `measured/1`."""
        return f"{self.name}/{self.version}"

    def record(self) -> dict[str, Any]:
        """All fields as a dict, for digests."""
        return asdict(self)


MEASURED = Convention("measured", 1, value_bytes=None, direction="computed", enforced=True)
PAPER = Convention("directionality-aware", 1, value_bytes=4, direction="declared", enforced=False)
AS_DECLARED = Convention("as-declared", 1, value_bytes=None, direction="declared", enforced=True)
FOUR_BYTE = Convention("four-byte", 1, value_bytes=4, direction="computed", enforced=False)
CONVENTIONS = {convention.label: convention for convention in (MEASURED, PAPER, AS_DECLARED, FOUR_BYTE)}


def convention(label: str) -> Convention:
    """Return the convention with this label, such as `measured/1`."""
    if label not in CONVENTIONS:
        raise UsageError(f"Unknown accounting convention {label!r}. Known: {', '.join(CONVENTIONS)}.")
    return CONVENTIONS[label]


@dataclass(frozen=True, slots=True)
class GraphInfo:
    """The properties of a graph that a method's `fit` may use; the graph itself is not loaded."""

    name: str
    vertices: int
    arcs: int
    integral: bool
    symmetric: bool
    declared_directed: bool
    label_bytes: int
    """Bytes of one distance label: 4 if every distance fits int32 or if weights are floats, else 8."""
    coordinates: bool = False
    """Whether every vertex has coordinates."""
    side: int = 0
    """Cells a side if the graph is a map of a map set, else 0."""


@dataclass(frozen=True, slots=True)
class Budget:
    """A number of bytes per vertex under a convention."""

    bytes_per_vertex: float
    convention: Convention = MEASURED

    def __post_init__(self) -> None:
        if not 0 < self.bytes_per_vertex < float("inf"):
            raise UsageError(f"A budget must be a positive number of bytes per vertex, not {self.bytes_per_vertex}.")

    @property
    def exact_bytes(self) -> Fraction:
        """The bytes per vertex as they are written in decimals: 17.732 for 500 vertices allows 8866 bytes, not 8865."""
        return Fraction(repr(float(self.bytes_per_vertex)))

    def directed(self, info: GraphInfo) -> bool:
        """Return whether the convention charges labels for both directions."""
        return info.declared_directed if self.convention.direction == "declared" else not info.symmetric

    def value_bytes(self, real: int) -> int:
        """Return the charge, in bytes, for one stored value that is `real` bytes wide."""
        return real if self.convention.value_bytes is None else self.convention.value_bytes

    def total_bytes(self, info: GraphInfo) -> int:
        """Return the whole bytes that may be deployed for all vertices together."""
        return math.floor(self.exact_bytes * info.vertices)

    def values(self, real: int) -> int:
        """Return how many values of `real` bytes fit at each vertex."""
        return int(self.bytes_per_vertex // self.value_bytes(real))
