"""What the tuned compressor learns from: vertices that a search for some target expands unless a label prevents it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aacbench.graphs.record import Array
from aacbench.labels import distances
from aacbench.labels.pool import Pool
from aacbench.queries.record import QuerySet
from aacbench.search.networks import Network

TARGETS = 2  # drawn for each source: distances from a source serve all of them
VERTICES = 100  # sampled for each pair
RELATIVE_SLACK = 1e-9  # of the largest distance: what float sums may be apart and still count as equal


@dataclass(frozen=True, slots=True)
class Examples:
    """Vertices u nearer to a source s than the target t. A search expands u unless h(u, t) reaches `need`.

    `need` is d(s, t) - d(s, u); a bound that equals it leaves u on the plateau f = C*, which some searches expand.
    `weight` is how many vertices of the search an example stands for.
    """

    vertex: Array
    target: Array
    need: Array
    weight: Array

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


def draw_examples(network: Network, inside: Array, pairs: tuple[Array, Array], rng: np.random.Generator) -> Examples:
    """For each pair some of the vertices that Dijkstra would settle before the target."""
    found: list[tuple[Array, Array, Array, Array]] = []
    sources, targets = pairs
    for source in np.unique(sources):
        away = distances(network, int(source))
        for target in targets[sources == source]:
            nearer = inside[away[inside] < away[target]]
            if len(nearer):
                vertices = rng.choice(nearer, VERTICES)
                share = np.full(VERTICES, len(nearer) / VERTICES)
                found.append((vertices, np.full(VERTICES, target), away[target] - away[vertices], share))
    if not found:
        nothing = np.empty(0, dtype=np.int64)
        return Examples(nothing, nothing, nothing, nothing.astype(np.float64))
    return Examples(*map(np.concatenate, zip(*found, strict=True)))


def prevented(pool: Pool, examples: Examples, matrices: int) -> tuple[list[Array], Array]:
    """Which landmark's label alone keeps which example from being expanded, a row an example, and their weights.

    Each example is there twice, at half its weight: once a bound that equals the need is enough, once it is not.
    Examples that no label or most labels settle tell nothing about a choice and are left out.
    """
    u, t, need = examples.vertex, examples.target, examples.need
    slack = 0 if need.dtype.kind == "i" else RELATIVE_SLACK * float(need.max(initial=0.0))
    bounds = [pool.forward[:, t] - pool.forward[:, u]]
    bounds = [np.abs(bounds[0])] if matrices == 1 else [*bounds, pool.backward[:, u] - pool.backward[:, t]]
    tables = [np.concatenate([rows >= need - slack, rows > need + slack], axis=1) for rows in bounds]
    weight = np.concatenate([examples.weight, examples.weight]) / 2
    settled = sum(table.mean(axis=0) for table in tables) / matrices
    telling = (settled > 0) & (settled < 1 / 2)
    return [np.ascontiguousarray(table[:, telling].T) for table in tables], weight[telling]


def left_over(tables: Sequence[Array], weight: Array, picks: Sequence[Sequence[int]]) -> float:
    """How many expansions, by the examples, these labels do not prevent."""
    kept = np.zeros(len(weight), dtype=bool)
    for table, rows in zip(tables, picks, strict=True):
        kept |= table[:, list(rows)].any(axis=1)
    return float(weight[~kept].sum())
