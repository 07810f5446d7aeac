"""How landmarks are chosen, by the setting every method with a pool offers; nothing heavy is imported for it."""

from typing import Any

from aacbench.memory.conventions import GraphInfo
from aacbench.method import Parameter, Unsupported

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
