"""Parameters and budget rules shared by methods with landmarks."""

from typing import Any

from aacbench.contract.budget import ROOM, Budget, GraphInfo
from aacbench.contract.method import Parameter, Params, Unsupported

GROWING = ("fps", "avoid", "random", "degree")  # the first K landmarks of a longer run are the run for K
BY_COORDINATES = ("planar", "boundary")
SELECTORS = (*GROWING, *BY_COORDINATES, "maxcover", "mixed")

PACKED = ("for16", "cover", "packed")  # lossless and narrow: how many landmarks fit is known once they are encoded
STEPS = {"u16": 2, "u8": 1}  # bytes of a label in whole steps
STEP_BYTES = 8  # of the step of each column
CODE_BITS, CODE_BYTES = 6, 1008  # of a label of u6, and of the levels that all columns share
ROUNDED = (*STEPS, "u6")  # rounded down: how many landmarks fit is known at once

_REAL_BYTES = "{} labels need a convention that charges real bytes, such as measured/1"

_WIDE = ("auto", "exact", "fixed", "replay")
_WIDE_HELP = (
    "how distances are stored: exact (integers, or 8-byte floats with a margin for rounding), fixed (float weights "
    "rounded down to 4-byte integers, still admissible), replay (8-byte floats without a margin, as published)"
)
_NARROW_HELP = (
    ", or in one of the narrow stores for16 (2-byte offsets in blocks), cover (rows of a vertex cover), packed (both; "
    "like the first two without loss), u16 (2-byte steps, rounded down), u8 (1-byte steps, rounded down) and u6 "
    "(6-bit codes, rounded down)"
)
_AUTO_HELP = (
    "; auto is exact for integer weights, else fixed, or replay where the convention does not charge real widths"
)
LABELS = Parameter("auto", _WIDE_HELP + _NARROW_HELP + _AUTO_HELP, choices=(*_WIDE, *PACKED, *ROUNDED))
WIDE_LABELS = Parameter("auto", _WIDE_HELP + _AUTO_HELP, choices=_WIDE)  # of methods that no narrow store serves


def pool_parameter(default: str = "fps", choices: tuple[str, ...] = SELECTORS) -> Parameter:
    """Return the parameter `pool`, which names the selector that chooses the landmarks."""
    return Parameter(default, "selector of the landmarks", choices=choices)


def cannot_select(info: GraphInfo, selector: Any) -> Unsupported | None:
    """Return why the selector cannot be used on this graph, or None if it can."""
    if selector in BY_COORDINATES and not info.coordinates:
        return Unsupported(f"The {selector} selector needs coordinates, and the graph has none")
    return None


def landmarks_that_fit(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """Return the params with `K`, the number of landmarks that fit; a directed graph needs two labels for each."""
    impossible = cannot_select(info, params.get("pool"))
    if impossible:
        return impossible
    if params["labels"] in PACKED:
        return room_for(budget, info, params)
    values = values_that_fit(budget, info, params["labels"])
    if isinstance(values, Unsupported):
        return values
    fits = values // (2 if budget.directed(info) else 1)
    wanted = params["K"]
    if fits < max(1, wanted):
        return does_not_fit("landmarks", wanted, budget, fits)
    labels = resolved(budget, info, params["labels"])
    return {**params, "K": min(wanted or fits, info.vertices), "labels": labels}


def room_for(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """Return the params with the bytes that a narrow store may take; how many labels these hold, the build finds."""
    labels = params["labels"]
    if budget.convention.value_bytes is not None:
        return Unsupported(_REAL_BYTES.format(labels))
    if info.label_bytes > 4:
        return Unsupported(f"{labels} labels are for distances that fit 4 bytes; use labels=exact")
    return {**params, ROOM: budget.total_bytes(info)}


def does_not_fit(what: str, wanted: int, budget: Budget, fits: int) -> Unsupported:
    """Return the answer to a user who asked for `wanted` landmarks or labels where only `fits` fit the budget."""
    return Unsupported(f"{max(1, wanted)} {what} do not fit {budget.bytes_per_vertex:g} bytes per vertex; {fits} do")


def values_that_fit(budget: Budget, info: GraphInfo, labels: str) -> int | Unsupported:
    """Return how many labels fit at each vertex, given the value of the parameter `labels`."""
    if labels in ROUNDED:
        return _columns_that_fit(budget, info, labels)
    if info.integral and labels == "fixed":
        return Unsupported("Fixed-point labels are for float weights; use labels=exact for integer weights")
    width = info.label_bytes if info.integral or labels not in ("exact", "replay") else 8
    fits = budget.values(width)
    if fits < 1:
        return Unsupported(f"A label of {width} bytes does not fit {budget.bytes_per_vertex:g} bytes per vertex")
    return fits


def _columns_that_fit(budget: Budget, info: GraphInfo, labels: str) -> int | Unsupported:
    """Return how many columns of labels fit; the steps or levels are charged too."""
    if budget.convention.value_bytes is not None:
        return Unsupported(_REAL_BYTES.format(labels))
    total = budget.total_bytes(info)
    if labels in STEPS:
        fits = total // (info.vertices * STEPS[labels] + STEP_BYTES)
    else:
        fits = max(0, total - CODE_BYTES) // info.vertices * 8 // CODE_BITS
    return fits or Unsupported(f"A column of {labels} labels does not fit {budget.bytes_per_vertex:g} bytes per vertex")


def waived(params: Params) -> tuple[str, ...]:
    """Return the claims that methods with landmarks do not make: rounded labels are not consistent."""
    return ("consistent",) if params["labels"] in ROUNDED else ()


def resolved(budget: Budget, info: GraphInfo, labels: str) -> str:
    """Return the value of `labels` with `auto` replaced by the choice it stands for."""
    if labels != "auto":
        return labels
    narrow = "fixed" if budget.convention.value_bytes is None else "replay"
    return "exact" if info.integral else narrow
