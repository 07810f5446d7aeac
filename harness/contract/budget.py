"""Accounting conventions: how bytes per vertex are charged. Named, versioned, and part of every digest."""

from dataclasses import asdict, dataclass
from typing import Any

from aacbench.errors import UsageError


@dataclass(frozen=True, slots=True)
class Convention:
    """How a budget is turned into numbers of labels, and what is held against it.

    `value_bytes` is what a stored value is charged whatever its real width, or None for its real width. `direction`
    says whose word counts on whether a graph is directed: that of its arcs (`computed`) or of its source (`declared`).
    `enforced` says whether the bytes measured on the deployed arrays must stay within the budget.
    """

    name: str
    version: int
    value_bytes: int | None
    direction: str
    enforced: bool

    @property
    def label(self) -> str:
        """Name and version, as protocols and reports spell it."""
        return f"{self.name}/{self.version}"

    def record(self) -> dict[str, Any]:
        """Every value, for digests."""
        return asdict(self)


MEASURED = Convention("measured", 1, value_bytes=None, direction="computed", enforced=True)
PAPER = Convention("directionality-aware", 1, value_bytes=4, direction="declared", enforced=False)
CONVENTIONS = {convention.label: convention for convention in (MEASURED, PAPER)}


def convention(label: str) -> Convention:
    """The convention of this label."""
    if label not in CONVENTIONS:
        raise UsageError(f"there is no accounting convention {label!r}; there are {', '.join(CONVENTIONS)}.")
    return CONVENTIONS[label]


@dataclass(frozen=True, slots=True)
class GraphInfo:
    """What a method may know of a graph when it is asked how much fits a budget."""

    name: str
    vertices: int
    arcs: int
    integral: bool
    symmetric: bool
    declared_directed: bool
    label_bytes: int
    """Bytes of one distance label: 4 where every distance fits int32, or as float32 for float weights, else 8."""
    coordinates: bool = False
    """Whether every vertex has coordinates."""


@dataclass(frozen=True, slots=True)
class Budget:
    """So many bytes per vertex under a convention."""

    bytes_per_vertex: float
    convention: Convention = MEASURED

    def __post_init__(self) -> None:
        if not 0 < self.bytes_per_vertex < float("inf"):
            raise UsageError(f"a budget is a positive number of bytes per vertex, not {self.bytes_per_vertex}.")

    def directed(self, info: GraphInfo) -> bool:
        """Whether labels in both directions must be paid for."""
        return info.declared_directed if self.convention.direction == "declared" else not info.symmetric

    def value_bytes(self, real: int) -> int:
        """What one stored value of `real` bytes is charged."""
        return real if self.convention.value_bytes is None else self.convention.value_bytes

    def values(self, real: int) -> int:
        """How many values of `real` bytes a vertex may hold."""
        return int(self.bytes_per_vertex // self.value_bytes(real))
