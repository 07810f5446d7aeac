"""Building a method for a family of maps: by its own `build_maps`, or on each map by itself, with the rows stacked."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from aacbench.contract.families import MapFamily, MapsContext
from aacbench.contract.method import (
    BatchHeuristic,
    BuildContext,
    Heuristic,
    LabelHeuristic,
    MaxHeuristic,
    Method,
    Params,
    Unsupported,
)
from aacbench.graphs.record import Array
from aacbench.labels.blocks import block_labels
from aacbench.maps.atlas import atlas
from aacbench.maps.record import TEST, TRAIN, VALIDATION
from aacbench.queries.in_maps import random_queries
from aacbench.queries.record import QuerySet
from aacbench.queries.splits import no_queries
from aacbench.run.predicted import Predictions
from aacbench.run.predictions import family
from aacbench.run.records import QueryPlan
from aacbench.run.shared import Pools
from aacbench.search.networks import Network, network

PAIRS = 16  # queries on each map that a method may learn from


def build_on_maps(
    found: Predictions,
    test: Network,
    method: Method,
    params: Params,
    seed: int,
    queries: QueryPlan,
    progress: Callable[[str], None] = lambda _: None,
) -> Heuristic | Unsupported:
    """Return one heuristic for all test maps."""
    if method.build_maps is None:
        return _on_each(found, method, params, seed, progress)

    def label(cells: Array) -> Array:
        return block_labels(test, found.side * found.side, cells)

    train, validation = family(found, TRAIN), family(found, VALIDATION)
    tests = len(found.costs[TEST]) * (queries.random or 0)
    trained = 0 if train is None else train.maps * PAIRS
    context = MapsContext(
        test=MapFamily(test, found.side),
        train=train,
        validation=validation,
        train_queries=_queries(train, queries, tests),
        validation_queries=_queries(validation, queries, tests + trained),
        params=dict(params),
        seed=seed,
        label=label,
        progress=progress,
    )
    return method.build_maps(context)


def _queries(maps: MapFamily | None, queries: QueryPlan, skip: int) -> QuerySet:
    """Queries on other maps than the test maps, drawn after theirs."""
    if maps is None:
        return no_queries()
    return random_queries(maps.network.graph, PAIRS, queries.mode, queries.seed, skip)


def _on_each(
    found: Predictions, method: Method, params: Params, seed: int, progress: Callable[[str], None]
) -> Heuristic | Unsupported:
    """Build the method on each map, as on any graph, and put the arrays of all maps below each other."""
    built = []
    for number, costs in enumerate(found.costs[TEST]):
        net = network(atlas(costs[None], found.edges, f"map {number}"))
        context = BuildContext(
            network=net,
            params=dict(params),
            seed=seed,
            train=no_queries(),
            validation=no_queries(),
            pools=Pools(net),
            method=method.name,
        )
        heuristic = method.build(context)
        if isinstance(heuristic, Unsupported):
            return replace(heuristic, bytes_needed=None)
        built.append(heuristic)
        if number % 50 == 49:
            progress(f"{number + 1} of {len(found.costs[TEST])} maps")
    return stacked(built, found.side * found.side)


def stacked(built: list[Heuristic], cells: int) -> Heuristic | Unsupported:
    """Return one heuristic from those of all maps: the same function and settings, with the arrays stacked."""
    first = built[0]
    if isinstance(first, MaxHeuristic):
        parts = [each.parts for each in built if isinstance(each, MaxHeuristic)]
        if len({len(part) for part in parts}) != 1 or len(parts) != len(built):
            return Unsupported("The method builds maxima of different parts on different maps")
        joined = [stacked(list(same), cells) for same in zip(*parts, strict=True)]
        refused = next((part for part in joined if isinstance(part, Unsupported)), None)
        return refused or MaxHeuristic(tuple(part for part in joined if not isinstance(part, Unsupported)))
    if not isinstance(first, LabelHeuristic | BatchHeuristic):
        return Unsupported("A heuristic without arrays cannot be stacked; give the method a build_maps")
    alike = [each for each in built if type(each) is type(first) and _described(each) == _described(first)]
    if len(alike) < len(built):
        return Unsupported("The method has another kernel or other settings on different maps; give it a build_maps")
    arrays = [each.arrays for each in alike if isinstance(each, LabelHeuristic | BatchHeuristic)]
    for name, array in first.arrays.items():
        if array.ndim == 0 or len(array) != cells or any(one[name].shape != array.shape for one in arrays):
            return Unsupported(f"The array {name!r} does not have a row for each vertex; give the method a build_maps")
    return replace(first, arrays={name: np.concatenate([one[name] for one in arrays]) for name in first.arrays})


def _described(heuristic: Heuristic) -> object:
    if isinstance(heuristic, LabelHeuristic):
        return heuristic.kernel, dict(heuristic.settings), heuristic.goal, set(heuristic.arrays)
    return (
        (heuristic.many, dict(heuristic.settings), set(heuristic.arrays))
        if isinstance(heuristic, BatchHeuristic)
        else None
    )
