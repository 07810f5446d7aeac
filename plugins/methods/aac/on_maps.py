"""The compressor on maps: cells are chosen once, on maps with predicted costs, and labelled on every test map."""

from collections.abc import Iterator, Mapping

import numpy as np
import torch

from aacbench.bundle.deploy import deploy
from aacbench.contract.families import MapFamily, MapsContext
from aacbench.contract.landmarks import PACKED, ROUNDED
from aacbench.contract.method import LabelHeuristic, Unsupported
from aacbench.graphs.record import Array
from aacbench.labels import distances
from aacbench.labels.blocks import block_labels, farthest_cells
from aacbench.labels.pool import Pool
from aacbench.maps.atlas import SCALE
from aacbench.plugins.methods.aac import Picks, kept_epochs
from aacbench.plugins.methods.aac.building import INITIAL, first_landmarks, takes_whole_pool
from aacbench.plugins.methods.aac.examples import Examples, training_tables
from aacbench.plugins.methods.aac.training import isolated_torch, schedule_of, statistics, train
from aacbench.plugins.methods.aac.tuned import FIRST, start_logits, train_rows
from aacbench.queries.record import QuerySet
from aacbench.search import search

UNTRAINED = Unsupported("The encoder predicts no training maps to choose cells on")
NARROW, EXACT = (*PACKED, *ROUNDED), "Labels on maps are stored exactly; leave out labels={}"
MOST_LABELS = 60_000_000  # of a pool on training maps: fewer maps are used where they are large


def aac(context: MapsContext) -> LabelHeuristic | Unsupported:
    """The published training: rows by straight-through Gumbel-softmax, to close the gap to the whole pool."""
    params = context.params
    if params["labels"] in NARROW:
        return Unsupported(EXACT.format(params["labels"]))
    if context.train is None:
        return UNTRAINED
    cells = _pool_cells(context)
    rows, wanted = (params["m"],), kept_epochs(params)
    if len(wanted) > 1 and context.validation is None:
        return UNTRAINED
    pool = _labels_of(context.train, cells)
    if takes_whole_pool(len(pool), rows):
        return _deployed(context, cells, first_landmarks(rows), first_landmarks(rows))
    vertices = np.arange(pool.forward.shape[1])
    table = pool.forward / SCALE  # as in the data set's own scale, which the weight of the entropy is meant for
    scaled = Pool(pool.landmarks, table, table, 0.0)
    schedule = schedule_of(params)
    start, block = INITIAL[params["init"]], context.test.cells
    kept = train(scaled, vertices, rows, start, schedule, context.seed, wanted | {0}, block)
    best = _best(context, cells, {epoch: kept[epoch] for epoch in sorted(wanted)})
    return _deployed(context, cells, kept[best], kept[0], {"epoch": best})


def _best(context: MapsContext, cells: Array, picks: dict[int, Picks]) -> int:
    """Return the epoch with the fewest expansions on validation maps; ties go to the earliest."""
    if len(picks) == 1:
        return next(iter(picks))
    assert context.validation is not None
    queries = context.validation_queries
    totals = {at: _expansions(context.validation, cells[list(picks[at][0])], queries) for at in picks}
    return min(totals, key=totals.__getitem__)


def aac_tuned(context: MapsContext) -> LabelHeuristic | Unsupported:
    """Rows trained on prevented expansions from a greedy start; the best on validation maps, or the farthest cells."""
    params, rng = context.params, np.random.default_rng(context.seed)
    if params["labels"] in NARROW:
        return Unsupported(EXACT.format(params["labels"]))
    if context.train is None or context.validation is None:
        return UNTRAINED
    cells = _pool_cells(context)
    rows = (params["m"],)
    pool = _labels_of(context.train, cells)
    if takes_whole_pool(len(pool), rows):
        return _deployed(context, cells, first_landmarks(rows), first_landmarks(rows))
    tables, weight = training_tables([pool], _examples(context, pool), rows, rng)
    context.progress(f"{len(weight)} examples")
    with isolated_torch():
        torch.manual_seed(context.seed)
        picks = train_rows(start_logits(params["init"], tables, weight, rows, len(pool)), tables, weight, params)
    picks[FIRST] = first_landmarks(rows)  # the farthest cells of the unit grid
    totals = {
        at: _expansions(context.validation, cells[list(picks[at][0])], context.validation_queries) for at in picks
    }
    best = min(totals, key=totals.__getitem__)
    facts = {"epoch": best, "expanded": totals[best], "expanded_at_start": totals[0], "expanded_by_fps": totals[FIRST]}
    return _deployed(context, cells, picks[best], picks[0], facts)


def _pool_cells(context: MapsContext) -> Array:
    count = min(int(context.params["K0"]), context.test.cells)
    if context.params["pool"] == "random":
        return np.random.default_rng(context.seed).permutation(context.test.cells)[:count]
    return farthest_cells(context.test.side, count)


def _labels_of(family: MapFamily, cells: Array) -> Pool:
    """The distances from these cells on as many maps as there is room for."""
    labels = block_labels(family.network, family.cells, cells)
    room = max(1, MOST_LABELS // (family.cells * len(cells)))
    table = np.ascontiguousarray(labels[: room * family.cells].T)
    return Pool(cells, table, table, 0.0)


def _examples(context: MapsContext, pool: Pool) -> Iterator[Examples]:
    """Yield for each training map the cells that Dijkstra settles before the target of each of its queries."""
    assert context.train is not None
    queries, size = context.train_queries, context.train.cells
    maps = queries.sources // size
    for block in range(pool.forward.shape[1] // size):
        inside = np.arange(block * size, (block + 1) * size)
        found = []
        for source in np.unique(queries.sources[maps == block]).tolist():
            away = distances(context.train.network, source)
            ends = queries.targets[queries.sources == source]
            target, vertex = np.nonzero(away[inside] < away[ends][:, None])
            found.append((inside[vertex], ends[target], away[ends[target]] - away[inside[vertex]]))
        if found:
            yield Examples(*(np.concatenate(part) for part in zip(*found, strict=True)))


def _expansions(family: MapFamily, cells: Array, queries: QuerySet) -> int:
    rows = block_labels(family.network, family.cells, cells)
    layout = deploy(LabelHeuristic({"rows": rows}, "differential", {"both": len(cells)}), family.network).searched
    return int(search(family.network, layout, queries.sources, queries.targets).expanded.sum())


def _deployed(
    context: MapsContext, cells: Array, picks: Picks, initial: Picks, facts: Mapping[str, int | float] | None = None
) -> LabelHeuristic:
    chosen = cells[list(picks[0])]
    told = {**(facts or {}), **statistics(picks, initial)}
    return LabelHeuristic({"rows": context.label(chosen)}, "differential", {"both": len(chosen)}, facts=told)
