"""Maps with the costs that an encoder's cell holds, as blocks of a graph that is found by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from aacbench.contract.budget import GraphInfo
from aacbench.contract.families import MapFamily
from aacbench.errors import DataError
from aacbench.graphs.record import Graph
from aacbench.maps.atlas import atlas
from aacbench.maps.names import CELLS
from aacbench.maps.record import TEST, TRAIN, VALIDATION
from aacbench.run.loaded_graph import GraphOf
from aacbench.run.predicted import PREDICTED, Predictions, of_cell
from aacbench.run.records import ATLAS
from aacbench.run.store import read_cell
from aacbench.search.networks import network

MOST_TRAINING, MOST_VALIDATION = 200, 100  # maps with predicted costs that a method may choose cells on


def wanted(counts: Mapping[str, int]) -> dict[str, int]:
    """Return how many maps of each split are predicted, in the order of `costs.npy`."""
    most = {TRAIN: MOST_TRAINING, VALIDATION: MOST_VALIDATION}
    return {split: min(counts[split], most.get(split, counts[split])) for split in PREDICTED}


def family(found: Predictions, split: str) -> MapFamily | None:
    """The maps of a split as a graph, or None where there are no predictions."""
    costs = found.costs.get(split)
    return None if costs is None or not len(costs) else MapFamily(network(atlas(costs, found.edges)), found.side)


@lru_cache(maxsize=4)
def predictions(root: Path, cell_id: str) -> Predictions:
    cell = read_cell(root, cell_id)
    if cell is None or cell.outcome != "ok":
        raise DataError(f"The cell {cell_id} of an encoder is not in {root}, or is not ok; run the study again.")
    return of_cell(cell)


@dataclass(frozen=True, slots=True)
class AtlasOf:
    """Finds graphs by name, the maps of an encoder's cell among them. Equal for equal fields, as a worker needs."""

    graph_of: GraphOf
    root: Path

    def __call__(self, name: str) -> Graph:
        short, mark, cell = name.rpartition(f"={ATLAS}")
        if not mark:
            return self.graph_of(name)
        found = predictions(self.root, cell)
        return atlas(found.costs[TEST], found.edges, short)


def map_info(name: str, side: int, edges: str = CELLS) -> GraphInfo:
    """What a method is asked to fit: one map of so many cells a side."""
    arcs = 8 * side * side - 12 * side + 4
    return GraphInfo(name, side * side, arcs, edges == CELLS, True, False, 4, coordinates=True, side=side)
