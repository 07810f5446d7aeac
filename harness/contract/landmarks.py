"""The settings that methods with landmarks share: how a pool is chosen, how wide a label is, how many fit."""

from typing import Any

from aacbench.contract.budget import Budget, GraphInfo
from aacbench.contract.method import Parameter, Params, Unsupported

GROWING = ("fps", "avoid", "random", "degree")  # whose first K of a longer run are the run for K
BY_COORDINATES = ("planar", "boundary")
SELECTORS = (*GROWING, *BY_COORDINATES, "maxcover", "mixed")

LABELS = Parameter(
    "auto",
    "exact, fixed (4 bytes for float weights) or replay (exact, and rounding is not cared for); auto is exact, for "
    "float weights fixed, or replay where widths are not charged",
    choices=("auto", "exact", "fixed", "replay"),
)


def pool_parameter(default: str = "fps", choices: tuple[str, ...] = SELECTORS) -> Parameter:
    """The setting `pool`: by which selector its landmarks are chosen."""
    return Parameter(default, f"how the landmarks of the pool are chosen: {', '.join(choices)}", choices=choices)


def cannot_select(info: GraphInfo, selector: Any) -> Unsupported | None:
    """Why this selector cannot be used on this graph, or None where it can."""
    if selector in BY_COORDINATES and not info.coordinates:
        return Unsupported(f"the {selector} pool is chosen by coordinates, and the graph has none")
    return None


def landmarks_that_fit(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """As many landmarks as the budget pays for: in both directions where the convention says the graph is directed."""
    impossible = cannot_select(info, params.get("pool"))
    if impossible:
        return impossible
    values = values_that_fit(budget, info, params["labels"])
    if isinstance(values, Unsupported):
        return values
    fits = values // (2 if budget.directed(info) else 1)
    wanted = params["K"]
    if fits < max(1, wanted):
        return Unsupported(
            f"{max(1, wanted)} landmarks do not fit {budget.bytes_per_vertex:g} bytes per vertex; {fits} do"
        )
    labels = resolved(budget, info, params["labels"])
    return {**params, "K": min(wanted or fits, info.vertices), "labels": labels}


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
