"""What a method gets to build one heuristic for all maps of a set."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aacbench.contract.method import Array, Params
    from aacbench.queries.record import QuerySet
    from aacbench.search.networks import Network


@dataclass(frozen=True, eq=False, slots=True)
class MapFamily:
    """Maps of one size as blocks of one graph: cell c of map i is the vertex i * side^2 + c."""

    network: "Network"
    side: int

    @property
    def cells(self) -> int:
        """The cells of a map."""
        return self.side * self.side

    @property
    def maps(self) -> int:
        """How many maps there are."""
        return self.network.graph.vertices // self.cells


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class MapsContext:
    """Everything a method gets to build a heuristic for a family of maps.

    `test` are the maps to be searched, with their predicted costs and without any query. `train` and `validation` are
    other maps with predicted costs, to choose cells on; None where the encoder predicts none. Their queries are drawn
    as the test queries are, and are none of them. `label(cells)` returns
    the distances of every vertex of `test` from these cells of its own map, one row per vertex.
    """

    test: MapFamily
    train: MapFamily | None
    validation: MapFamily | None
    train_queries: "QuerySet"
    validation_queries: "QuerySet"
    params: "Params"
    seed: int
    label: "Callable[[Array], Array]"
    progress: Callable[[str], None] = field(default=lambda _: None)
