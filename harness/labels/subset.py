"""Some labels of a pool as a heuristic: what ALT deploys, and every method that chooses among landmarks."""

from typing import Any

import numpy as np
import numpy.typing as npt

from aacbench.contract.method import LabelHeuristic
from aacbench.graphs.record import Array, frozen
from aacbench.labels.pool import Pool
from aacbench.labels.tables import fixed_point, rounding_margin
from aacbench.search.networks import Network


def subset(
    network: Network, pool: Pool, forward: npt.ArrayLike, backward: npt.ArrayLike | None = None, labels: str = "exact"
) -> LabelHeuristic:
    """The heuristic of the labels d(l, v) of the landmarks at the positions `forward`, and d(v, l) at `backward`.

    Without `backward` each landmark serves in both directions: on a symmetric graph by one label, else by two.
    """
    ahead = np.asarray(forward, dtype=np.int64)
    back = ahead if backward is None else np.asarray(backward, dtype=np.int64)
    settings: dict[str, Any] = {}
    if labels == "fixed":
        wanted = np.unique(np.concatenate((ahead, back)))
        pool, settings["scale"] = fixed_point(network, pool.landmarks[wanted])
        ahead, back = np.searchsorted(wanted, ahead), np.searchsorted(wanted, back)
    if backward is None and pool.symmetric:
        rows, columns = _rows(pool.forward[ahead]), {"both": len(ahead)}
    else:
        rows, columns = _rows(pool.forward[ahead], pool.backward[back]), {"forward": len(ahead)}
    if rows.dtype.kind == "f" and labels != "replay":
        settings["margin"] = rounding_margin(rows)
    return LabelHeuristic({"rows": rows}, "differential", settings | columns)


def _rows(*tables: Array) -> Array:
    return frozen(np.concatenate(tables, axis=0).T, np.result_type(*tables))
