"""Training data of the tuned compressor: vertices that a search expands unless a label prevents it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from aacbench.graphs.record import Array
from aacbench.labels.exact import distance_rows
from aacbench.labels.pool import Pool
from aacbench.plugins.methods.aac import Picks
from aacbench.queries.record import QuerySet
from aacbench.search.networks import Network

TARGETS = 8  # drawn per source; the distances from a source serve all of them
VERTICES = 800  # sampled per source, for all its targets
LEAST_KEPT = 0.02  # share kept of the examples that almost any selection prevents
RELATIVE_SLACK = 1e-9  # of the largest distance: float sums this close count as equal
AT_ONCE = 4096  # examples per matrix product; the whole table as floats would be eight times its size


@dataclass(frozen=True, slots=True)
class Examples:
    """Vertices u that are nearer to a source s than the target t. A search expands u unless h(u, t) reaches `need`.

    `need` is d(s, t) - d(s, u). A bound equal to it puts u on the plateau f = C*, which some searches expand.
    """

    vertex: Array
    target: Array
    need: Array

    def __len__(self) -> int:
        return len(self.vertex)


def draw_pairs(train: QuerySet, inside: Array, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the first `count` training pairs inside the component, or random ones if none are given."""
    if len(train):
        within = np.isin(train.sources, inside) & np.isin(train.targets, inside)
        return train.sources[within][:count], train.targets[within][:count]
    sources = np.repeat(rng.choice(inside, max(1, count // TARGETS)), TARGETS)
    return sources, rng.choice(inside, len(sources))


def hold_out(pairs: tuple[Array, Array], count: int, most: int) -> tuple[tuple[Array, Array], QuerySet]:
    """Return the pairs to train on, and up to `most` of the last pairs as queries to judge on.

    The judges are the pairs beyond the first `count`, but at least a quarter of all; they are never trained on.
    """
    sources, targets = (ends.astype(np.int64) for ends in pairs)
    kept = len(sources) - min(most, max(len(sources) - count, len(sources) // 4))
    names = sources * (targets.max(initial=0) + 1) + targets
    late = np.arange(len(sources)) >= kept
    judges = late & (sources != targets)
    train = ~late & ~np.isin(names, names[judges])
    return (sources[train], targets[train]), QuerySet(sources=sources[judges], targets=targets[judges])


def draw_examples(
    network: Network, inside: Array, pairs: tuple[Array, Array], rng: np.random.Generator
) -> Iterator[Examples]:
    """Yield for each source the examples of all its targets: sampled vertices that Dijkstra settles before the target.

    Every example represents equally many vertices, so a long search counts more than a short one.
    """
    sources, targets = pairs
    every = np.unique(sources)
    for source, away in zip(every, distance_rows(network, every.tolist()), strict=True):
        around = np.sort(rng.choice(inside, min(VERTICES, len(inside)), replace=False))
        ends = targets[sources == source]
        target, vertex = np.nonzero(away[around] < away[ends][:, None])
        yield Examples(around[vertex], ends[target], away[ends[target]] - away[around[vertex]])


def prevention_tables(pools: Sequence[Pool], examples: Examples, matrices: int) -> tuple[list[Array], Array]:
    """Return tables of which landmark's label prevents which example, one row per example, and the examples' weights.

    The landmarks are those of all pools, one pool after the other. If a bound may equal the need, the example appears
    twice with half its weight: once equality prevents the expansion, once it does not. Examples that no label prevents
    do not depend on the selection and are left out.
    """
    need = examples.need
    slack = 0 if need.dtype.kind == "i" else RELATIVE_SLACK * float(need.max(initial=0.0))
    parts = [_differences(pool, examples, matrices) for pool in pools]
    bounds = [np.concatenate(side) for side in zip(*parts, strict=True)]
    reached, exceeded = [rows >= need - slack for rows in bounds], [rows > need + slack for rows in bounds]
    twice = np.any([(one != other).any(axis=0) for one, other in zip(reached, exceeded, strict=True)], axis=0)
    tables = [np.concatenate([one, other[:, twice]], axis=1) for one, other in zip(reached, exceeded, strict=True)]
    weight = np.concatenate([np.where(twice, 0.5, 1.0), np.full(int(twice.sum()), 0.5)])
    relevant = np.any([table.any(axis=0) for table in tables], axis=0)
    return [np.ascontiguousarray(table[:, relevant].T) for table in tables], weight[relevant]


def _differences(pool: Pool, examples: Examples, matrices: int) -> list[Array]:
    vertices, u = np.unique(pool.columns_of(examples.vertex), return_inverse=True)  # columns are fetched slowly
    targets, t = np.unique(pool.columns_of(examples.target), return_inverse=True)
    ahead = pool.forward[:, targets][:, t] - pool.forward[:, vertices][:, u]
    if matrices == 1:
        return [np.abs(ahead)]
    return [ahead, pool.backward[:, vertices][:, u] - pool.backward[:, targets][:, t]]


def thin_out(
    tables: Sequence[Array], weight: Array, rows: Sequence[int], rng: np.random.Generator
) -> tuple[list[Array], Array]:
    """Drop most examples that almost any selection prevents, and raise the weights of the others of that kind.

    An example that on average `hits` labels of a random selection prevent is kept with probability exp(-hits / 2).
    """
    hits = np.sum([count * table.mean(axis=1) for table, count in zip(tables, rows, strict=True)], axis=0)
    chance = np.maximum(LEAST_KEPT, np.exp(-hits / 2))
    kept = rng.random(len(weight)) < chance
    return [table[kept] for table in tables], (weight / chance)[kept]


def training_tables(
    pools: Sequence[Pool], examples: Iterable[Examples], rows: Sequence[int], rng: np.random.Generator
) -> tuple[list[Array], Array]:
    landmarks = sum(map(len, pools))
    sides: list[list[Array]] = [[np.empty((0, landmarks), dtype=bool)] for _ in rows]
    weights = [np.empty(0)]
    for some in examples:
        tables, weight = thin_out(*prevention_tables(pools, some, len(rows)), rows, rng)
        for side, table in zip(sides, tables, strict=True):
            side.append(table)
        weights.append(weight)
    joined = []
    for side in sides:
        joined.append(np.concatenate(side))
        side.clear()  # so that no more than one side is there twice
    return joined, np.concatenate(weights)


def greedy(tables: Sequence[Array], weight: Array, rows: Sequence[int]) -> Picks:
    """Return the landmarks chosen one by one, each preventing most of the weight that is left.

    From each table as many columns are taken as `rows` says. Ties go to the first table, then to the lowest column.
    Each example is read only twice: for the initial gains, and when it becomes prevented.
    """
    left = np.arange(len(weight))
    gains = _prevented_weight(tables, weight, left)
    taken: list[list[int]] = [[] for _ in rows]
    while open_sides := [side for side, count in enumerate(rows) if len(taken[side]) < count]:
        side = max(open_sides, key=lambda one: gains[one].max())  # ties: the first
        best = int(gains[side].argmax())
        taken[side].append(best)
        hit = tables[side][left, best]
        for gain, lost in zip(gains, _prevented_weight(tables, weight, left[hit]), strict=True):
            gain -= lost
        gains[side][best] = -np.inf
        left = left[~hit]
    return tuple(tuple(found) for found in taken)


def _prevented_weight(tables: Sequence[Array], weight: Array, examples: Array) -> list[Array]:
    totals = [np.zeros(table.shape[1]) for table in tables]
    for start in range(0, len(examples), AT_ONCE):
        some = examples[start : start + AT_ONCE]
        for total, table in zip(totals, tables, strict=True):
            total += weight[some] @ table[some]
    return totals
