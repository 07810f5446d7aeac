"""The files of cells on maps, and the predicted costs that an encoder's cell holds; reading them needs no compiler."""

import io
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from aacbench.graphs.record import Array
from aacbench.maps.atlas import SCALE
from aacbench.maps.names import CELLS
from aacbench.maps.record import CALIBRATION, TEST, TRAIN, VALIDATION
from aacbench.run.rows import NUMBER, TEXT, WHOLE
from aacbench.run.store import Cell

COSTS_FILE, TRUTH_FILE, IMAGE_FILE = "costs.npy", "truth.npy", "image.npy"
MAPS_FILE, CONTEXT_FILE = "maps.csv", "context.csv"
PREDICTED = (TEST, CALIBRATION, TRAIN, VALIDATION)  # the order of the maps in `costs.npy`
MAP_COLUMNS = {
    "split": TEXT,
    "map": WHOLE,
    "true_optimum": WHOLE,
    "true_cost": WHOLE,
    "match": WHOLE,
    "jaccard": NUMBER,
}
CONTEXT_COLUMNS = {
    "query": WHOLE,
    "split": TEXT,
    "map": WHOLE,
    "true_cost": WHOLE,
    "true_optimum": WHOLE,
    "h_source_excess": NUMBER,
    "certificate": WHOLE,
}


@dataclass(frozen=True, eq=False, slots=True)
class Predictions:
    """Costs of cells in 10240ths by split, true ones of test and calibration maps in units, the rule of edges."""

    costs: Mapping[str, Array]
    truth: Mapping[str, Array]
    unit: float
    edges: str = CELLS

    @property
    def side(self) -> int:
        side: int = self.costs[TEST].shape[-1]
        return side

    @property
    def scale(self) -> int:
        """What one unit of true cost is in 10240ths."""
        return round(SCALE * self.unit)


def of_cell(cell: Cell) -> Predictions:
    """The predictions in a cell of an encoder that is ok."""
    costs, truth = (array_of(cell.files[name]) for name in (COSTS_FILE, TRUTH_FILE))
    counts: Mapping[str, int] = cell.record["predicted"]
    ends = np.cumsum([0, *(counts[split] for split in PREDICTED)])
    found = {split: costs[ends[k] : ends[k + 1]] for k, split in enumerate(PREDICTED)}
    tests = counts[TEST]
    edges = cell.record.get("edges", CELLS)
    return Predictions(found, {TEST: truth[:tests], CALIBRATION: truth[tests:]}, cell.record["unit"], edges)


def array_of(data: bytes) -> Array:
    """The array in the bytes of an .npy file."""
    found: Array = np.load(io.BytesIO(data), allow_pickle=False)
    return found
