"""What the tuned compressor learns from: vertices that a search for some target expands unless a label prevents it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from aacbench.graphs.record import Array
from aacbench.labels import distances
from aacbench.labels.pool import Pool
from aacbench.queries.record import QuerySet
from aacbench.search.networks import Network

TARGETS = 8  # drawn for each source: distances from a source serve all of them
VERTICES = 800  # sampled around each source, for all its targets
LEAST_KEPT = 0.02  # of the examples that almost any choice of labels prevents
RELATIVE_SLACK = 1e-9  # of the largest distance: what float sums may be apart and still count as equal


@dataclass(frozen=True, slots=True)
class Examples:
    """Vertices u nearer to a source s than the target t. A search expands u unless h(u, t) reaches `need`.

    `need` is d(s, t) - d(s, u); a bound that equals it leaves u on the plateau f = C*, which some searches expand.
    """

    vertex: Array
    target: Array
    need: Array

    def __len__(self) -> int:
        return len(self.vertex)


def draw_pairs(train: QuerySet, inside: Array, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Training pairs inside the component: the first ones given, or else drawn."""
    if len(train):
        within = np.isin(train.sources, inside) & np.isin(train.targets, inside)
        return train.sources[within][:count], train.targets[within][:count]
    sources = np.repeat(rng.choice(inside, max(1, count // TARGETS)), TARGETS)
    return sources, rng.choice(inside, len(sources))


def held_out(pairs: tuple[Array, Array], count: int, most: int) -> tuple[tuple[Array, Array], QuerySet]:
    """What to train on, and of the last pairs those beyond `count`, or else a quarter, that are never trained on."""
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
    """For each source some vertices, and for each of its targets those that Dijkstra would settle before it.

    Each stands for as many vertices as any other, so a long search counts for more than a short one.
    """
    sources, targets = pairs
    for source in np.unique(sources):
        away = distances(network, int(source))
        around = np.sort(rng.choice(inside, min(VERTICES, len(inside)), replace=False))
        ends = targets[sources == source]
        target, vertex = np.nonzero(away[around] < away[ends][:, None])
        yield Examples(around[vertex], ends[target], away[ends[target]] - away[around[vertex]])


def prevented(pool: Pool, examples: Examples, matrices: int) -> tuple[list[Array], Array]:
    """Which landmark's label alone keeps which example from being expanded, a row an example, and their weights.

    An example for which it matters is there twice, at half its weight: once a bound that equals the need is enough,
    once it is not. Examples that no label prevents tell nothing about a choice and are left out.
    """
    need = examples.need
    slack = 0 if need.dtype.kind == "i" else RELATIVE_SLACK * float(need.max(initial=0.0))
    bounds = _differences(pool, examples, matrices)
    reached, exceeded = [rows >= need - slack for rows in bounds], [rows > need + slack for rows in bounds]
    twice = np.any([(one != other).any(axis=0) for one, other in zip(reached, exceeded, strict=True)], axis=0)
    tables = [np.concatenate([one, other[:, twice]], axis=1) for one, other in zip(reached, exceeded, strict=True)]
    weight = np.concatenate([np.where(twice, 0.5, 1.0), np.full(int(twice.sum()), 0.5)])
    telling = np.any([table.any(axis=0) for table in tables], axis=0)
    return [np.ascontiguousarray(table[:, telling].T) for table in tables], weight[telling]


def _differences(pool: Pool, examples: Examples, matrices: int) -> list[Array]:
    """The bound of each landmark's label for each example."""
    vertices, u = np.unique(examples.vertex, return_inverse=True)  # columns of a large table are dear to fetch
    targets, t = np.unique(examples.target, return_inverse=True)
    ahead = pool.forward[:, targets][:, t] - pool.forward[:, vertices][:, u]
    if matrices == 1:
        return [np.abs(ahead)]
    return [ahead, pool.backward[:, vertices][:, u] - pool.backward[:, targets][:, t]]


def thinned(
    tables: Sequence[Array], weight: Array, rows: Sequence[int], rng: np.random.Generator
) -> tuple[list[Array], Array]:
    """Fewer of the examples that most choices of so many labels prevent, each for more: they hardly tell choices apart.

    An example that `hits` labels of a random choice would prevent is kept with probability exp(-hits / 2).
    """
    hits = np.sum([count * table.mean(axis=1) for table, count in zip(tables, rows, strict=True)], axis=0)
    chance = np.maximum(LEAST_KEPT, np.exp(-hits / 2))
    kept = rng.random(len(weight)) < chance
    return [table[kept] for table in tables], (weight / chance)[kept]


def cases(
    pool: Pool, examples: Iterator[Examples], rows: Sequence[int], rng: np.random.Generator
) -> tuple[list[Array], Array]:
    """The tables of all examples that tell something of a choice of so many labels, and their weights."""
    none = [np.empty((0, len(pool)), dtype=bool) for _ in rows], np.empty(0)
    found = [none, *(thinned(*prevented(pool, some, len(rows)), rows, rng) for some in examples)]
    tables = [np.concatenate([some[side] for some, _ in found]) for side in range(len(rows))]
    return tables, np.concatenate([weight for _, weight in found])


def left_over(tables: Sequence[Array], weight: Array, picks: Sequence[Sequence[int]]) -> float:
    """How many expansions, by the examples, these labels do not prevent."""
    kept = np.zeros(len(weight), dtype=bool)
    for table, rows in zip(tables, picks, strict=True):
        kept |= table[:, list(rows)].any(axis=1)
    return float(weight[~kept].sum())
