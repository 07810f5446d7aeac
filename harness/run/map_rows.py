"""What a search on maps with predicted costs means for the true ones: the rows of `context.csv`, and a few facts."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from aacbench.bundle.deploy import Deployed
from aacbench.graphs.record import Array
from aacbench.maps.record import TEST
from aacbench.queries.record import QuerySet
from aacbench.run.map_paths import distances_to, query_distances, true_optima
from aacbench.run.predicted import CONTEXT_COLUMNS, Predictions
from aacbench.run.rows import write_table
from aacbench.search import Answers
from aacbench.search.astar import RELATIVE_TOLERANCE
from aacbench.search.certificate import certify, verify
from aacbench.search.networks import Network

EXAMINED = 50  # maps on which the bound of every cell is compared with the true distance
CERTIFIED = 16  # random queries, each on another map as far as there are, that get a certificate


def context_rows(
    found: Predictions, splits: Mapping[str, tuple[QuerySet, Answers]], certified: Mapping[int, str]
) -> bytes:
    """Return `context.csv`: for each query the true cost of its path, the least one, and by how much h exceeds it.

    The excess is in 10240ths, as the costs in `queries.csv` are. `certified` has what is wrong with the certificate of
    each test query that has one: the column is 1 if it proves its path, -1 if not, and 0 without one.
    """
    tables = [_rows(found, name, *part) for name, part in splits.items()]
    for table in tables:
        table["certificate"] = np.zeros(len(table["query"]), dtype=np.int64)
    for query, wrong in certified.items():
        tables[list(splits).index(TEST)]["certificate"][query] = -1 if wrong else 1
    columns = {name: np.concatenate([table[name] for table in tables]) for name in CONTEXT_COLUMNS}
    return write_table(CONTEXT_COLUMNS, columns, "context.csv")


def _rows(found: Predictions, split: str, queries: QuerySet, answers: Answers) -> dict[str, Array]:
    assert answers.paths is not None
    truth = found.truth[TEST].astype(np.int64)
    cells = truth[0].size
    flat = truth.reshape(-1)
    maps = queries.sources // cells
    costs = np.array([flat[path].sum() for path in answers.paths], dtype=np.int64)
    optima = true_optima(truth, queries)
    distance = query_distances(truth, found.edges, queries, optima)
    return {
        "query": np.arange(len(queries)),
        "split": np.full(len(queries), split, dtype=object),
        "map": maps,
        "true_cost": costs,
        "true_optimum": optima,
        "h_source_excess": _excess(found, answers.h_source, distance),
    }


def certificates(net: Network, deployed: Deployed, queries: QuerySet, policy: str) -> dict[int, str]:
    """Return what is wrong with the certificate of each of a few queries; empty texts are proofs.

    There are none on float weights, whose sums are not exact.
    """
    if deployed.tier != "compiled" or not net.graph.integral:
        return {}
    chosen = np.unique(np.linspace(0, len(queries) - 1, CERTIFIED).astype(np.int64)).tolist()
    found = {}
    for query in chosen:
        ends = int(queries.sources[query]), int(queries.targets[query])
        found[query] = verify(certify(net, deployed.searched, deployed.many, *ends, policy), net.graph)
    return found


def true_violations(found: Predictions, deployed: Deployed, queries: QuerySet) -> dict[str, Any]:
    """Compare h with the true distance at every cell of some maps, for the target of a query on each.

    `largest_ratios` has the largest ratio of h to the true distance on each of these maps.
    """
    truth = found.truth[TEST].astype(np.int64)
    cells = truth[0].size
    _, first = np.unique(queries.targets // cells, return_index=True)
    high = compared = 0
    worst = []
    for target in queries.targets[first[:EXAMINED]].tolist():
        block, at = divmod(target, cells)
        distance = distances_to(truth[block], found.edges, at)
        h = deployed.many(block * cells + np.arange(cells), target)
        high += int((_excess(found, h, distance) > 0).sum())
        compared += cells
        away = np.arange(cells) != at
        worst.append(float((h[away] / (found.scale * distance[away])).max()))
    return {"cells": compared, "above_true_distance": high, "largest_ratios": worst}


def _excess(found: Predictions, h: Array, distance: Array) -> Array:
    """Return h less the true distance where it is larger, else 0, in 10240ths."""
    most = found.scale * distance
    slack = RELATIVE_TOLERANCE * most if most.dtype.kind == "f" else 0
    return np.where(h > most + slack, h - most, 0)
