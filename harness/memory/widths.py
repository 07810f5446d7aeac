"""How wide a distance label is, by the choice every method with landmark labels offers, and how many fit."""

from aacbench.memory.conventions import Budget, GraphInfo
from aacbench.method import Parameter, Unsupported

LABELS = Parameter(
    "auto",
    "exact, fixed (4 bytes for float weights) or replay (exact, and rounding is not cared for); auto is exact, for "
    "float weights fixed, or replay where widths are not charged",
    choices=("auto", "exact", "fixed", "replay"),
)


def values_that_fit(budget: Budget, info: GraphInfo, labels: str) -> int | Unsupported:
    """How many labels a vertex may hold, of the width that this choice of LABELS has."""
    if info.integral and labels == "fixed":
        return Unsupported("fixed labels are for float weights; those of integer weights are exact as they are")
    width = info.label_bytes if info.integral or labels not in ("exact", "replay") else 8
    fits = budget.values(width)
    if fits < 1:
        return Unsupported(f"{budget.bytes_per_vertex:g} bytes per vertex hold no label of {width} bytes")
    return fits


def resolved(budget: Budget, info: GraphInfo, labels: str) -> str:
    """What `auto` comes to: exact for integers, for floats four bytes, or the paper's labels where width is free."""
    if labels != "auto":
        return labels
    narrow = "fixed" if budget.convention.value_bytes is None else "replay"
    return "exact" if info.integral else narrow
