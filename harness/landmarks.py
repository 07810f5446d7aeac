"""How landmarks are chosen, by the setting every method with a pool offers; nothing heavy is imported for it."""

from typing import Any

from aacbench.memory.conventions import Budget, GraphInfo
from aacbench.memory.widths import resolved, values_that_fit
from aacbench.method import Parameter, Params, Unsupported

GROWING = ("fps", "avoid", "random", "degree")  # whose first K of a longer run are the run for K
BY_COORDINATES = ("planar", "boundary")
SELECTORS = (*GROWING, *BY_COORDINATES, "maxcover", "mixed")


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
