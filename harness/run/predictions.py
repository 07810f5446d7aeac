"""The predicted costs that a cell of an encoder holds, and the maps with these costs as blocks of a graph."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from aacbench.contract.budget import GraphInfo
from aacbench.contract.families import MapFamily
from aacbench.errors import DataError
from aacbench.graphs.record import Array, Graph
from aacbench.maps.atlas import SCALE, atlas
from aacbench.maps.record import CALIBRATION, TEST, TRAIN, VALIDATION
from aacbench.run.loaded_graph import GraphOf
from aacbench.run.plan import ATLAS
from aacbench.run.store import Cell, read_cell
from aacbench.search.networks import network

COSTS_FILE, TRUTH_FILE, IMAGE_FILE = "costs.npy", "truth.npy", "image.npy"
MAPS_FILE, CONTEXT_FILE = "maps.csv", "context.csv"
PREDICTED = (TEST, CALIBRATION, TRAIN, VALIDATION)  # the order of the maps in `costs.npy`
MOST_TRAINING, MOST_VALIDATION = 200, 100  # maps with predicted costs that a method may choose cells on


def wanted(counts: Mapping[str, int]) -> dict[str, int]:
    """Return how many maps of each split are predicted, in the order of `costs.npy`."""
    most = {TRAIN: MOST_TRAINING, VALIDATION: MOST_VALIDATION}
    return {split: min(counts[split], most.get(split, counts[split])) for split in PREDICTED}


@dataclass(frozen=True, eq=False, slots=True)
class Predictions:
    """Costs of cells in 10240ths by split, and the true ones of test and calibration maps in units."""

    costs: Mapping[str, Array]
    truth: Mapping[str, Array]
    unit: float

    @property
    def side(self) -> int:
        side: int = self.costs[TEST].shape[-1]
        return side

    @property
    def scale(self) -> int:
        """What one unit of true cost is in 10240ths."""
        return round(SCALE * self.unit)

    def family(self, split: str) -> MapFamily | None:
        """The maps of a split as a graph, or None where there are no predictions."""
        costs = self.costs.get(split)
        return None if costs is None or not len(costs) else MapFamily(network(atlas(costs)), self.side)


def of_cell(cell: Cell) -> Predictions:
    """The predictions in a cell of an encoder that is ok."""
    costs, truth = (array_of(cell.files[name]) for name in (COSTS_FILE, TRUTH_FILE))
    counts: Mapping[str, int] = cell.record["predicted"]
    ends = np.cumsum([0, *(counts[split] for split in PREDICTED)])
    found = {split: costs[ends[k] : ends[k + 1]] for k, split in enumerate(PREDICTED)}
    tests = counts[TEST]
    return Predictions(found, {TEST: truth[:tests], CALIBRATION: truth[tests:]}, cell.record["unit"])


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
        return atlas(predictions(self.root, cell).costs[TEST], name=short) if mark else self.graph_of(name)


def map_info(name: str, side: int) -> GraphInfo:
    """What a method is asked to fit: one map of so many cells a side."""
    arcs = 8 * side * side - 12 * side + 4
    return GraphInfo(name, side * side, arcs, True, True, False, 4, coordinates=True, side=side)


def array_of(data: bytes) -> Array:
    """The array in the bytes of an .npy file."""
    found: Array = np.load(io.BytesIO(data), allow_pickle=False)
    return found
