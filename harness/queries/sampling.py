"""Random queries in the paper's three modes, from one `numpy.random.RandomState` stream per set.

The stream is read pair by pair, so a shorter set is always the beginning of a longer one.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.graphs import components
from aacbench.graphs.record import Array, Graph
from aacbench.queries.record import QuerySet, first_occurrences

HOTSPOTS = 8
HOTSPOT_SHARE = 0.90
DEGREE_POWER = 1.5
DRAWS_PER_QUERY = 10_000
MAX_QUERIES = 10_000_000

Draw = Callable[[int], Array]


def sample(
    graph: Graph,
    count: int,
    *,
    mode: str = "uniform",
    seed: int = 42,
    component: npt.ArrayLike | None = None,
    strict: bool = False,
) -> QuerySet:
    """Draw `count` queries with different ends; `strict` also refuses a pair that was drawn before.

    `component` holds the vertices to draw from, by default the largest strong component.
    """
    if mode not in MODES:
        raise UsageError(f"Unknown query mode {mode!r}; choose one of {', '.join(sorted(MODES))}.")
    if not 0 <= count <= MAX_QUERIES:
        raise UsageError(f"A query set has from 0 to {MAX_QUERIES} queries, not {count}.")
    vertices = component_vertices(graph, component)
    possible = len(vertices) * (len(vertices) - 1)
    if strict and count > possible:
        raise UsageError(f"A component of {len(vertices)} vertices has {possible} distinct queries, not {count}.")
    pairs = draw_pairs(MODES[mode](random_state(seed), graph, vertices), count, strict)
    return QuerySet(sources=pairs[:, 0], targets=pairs[:, 1], name=graph.name, mode=mode, seed=seed)


def component_vertices(graph: Graph, component: npt.ArrayLike | None) -> Array:
    vertices = components.largest(graph, "strong") if component is None else components.vertex_set(graph, component)
    if len(vertices) >= 2:
        return vertices
    where = f"Graph {graph.name!r}: queries" if graph.name else "Queries"
    if component is not None:
        raise UsageError(f"{where} need a component of at least 2 vertices, but this one has {len(vertices)}.")
    hint = "; if edges go both ways, add ?directed=no to the file of an edge list" if graph.arcs else ""
    raise UsageError(
        f"{where} are drawn from the largest strong component (vertices that all reach each other), which must have "
        f"at least 2 vertices, but has {len(vertices)}{hint}."
    )


def random_state(seed: int) -> np.random.RandomState:
    """Return the generator that the paper's recipes use; NumPy guarantees that its stream never changes."""
    if not 0 <= seed < 2**32:
        raise UsageError(f"A query seed must lie between 0 and 2^32 - 1, not {seed}.")
    return np.random.RandomState(seed)


def draw_pairs(draw: Draw, count: int, strict: bool) -> Array:
    """Return `count` pairs with different ends; `strict` also refuses a pair that was drawn before."""
    kept, drawn = np.empty((0, 2), dtype=np.int64), 0
    while len(kept) < count:
        if drawn > DRAWS_PER_QUERY * (count + 100):
            kind = "distinct queries" if strict else "queries with different ends"
            raise UsageError(
                f"{drawn} draws gave only {len(kept)} of {count} {kind}; ask for fewer, or use mode 'uniform'."
            )
        # Batches grow with the number of draws, so that few rounds are needed even where most pairs are dropped.
        batch = max(count - len(kept), drawn // 4)
        pairs = draw(batch)
        drawn += batch
        kept = np.concatenate([kept, pairs[pairs[:, 0] != pairs[:, 1]]])
        if strict:
            kept = kept[first_occurrences(kept[:, 0], kept[:, 1])]
    return kept[:count]


def _uniform(state: np.random.RandomState, graph: Graph, vertices: Array) -> Draw:
    # `choice(vertices)` is `vertices[randint(0, len)]`, and one call for many reads the same stream.
    return lambda pairs: vertices[state.randint(0, len(vertices), size=(pairs, 2))]


def _hotspot(state: np.random.RandomState, graph: Graph, vertices: Array) -> Draw:
    if len(vertices) < HOTSPOTS:
        raise UsageError(f"Hotspot queries need at least {HOTSPOTS} vertices, but the component has {len(vertices)}.")
    hotspots = state.choice(vertices, HOTSPOTS, replace=False)

    def end() -> int:
        pool = hotspots if state.rand() < HOTSPOT_SHARE else vertices
        return int(pool[state.randint(0, len(pool))])

    return lambda pairs: np.array([end() for _ in range(2 * pairs)], dtype=np.int64).reshape(pairs, 2)


def _powerlaw(state: np.random.RandomState, graph: Graph, vertices: Array) -> Draw:
    # Arcs of the whole graph count, out and in: an undirected edge, being two arcs, counts twice at either end.
    degrees = np.diff(graph.indptr) + np.bincount(graph.indices, minlength=graph.vertices)
    chance = np.maximum(degrees[vertices], 1).astype(np.float64) ** DEGREE_POWER
    # The same as `choice(vertices, p=...)` at each draw, but the sums are computed once.
    cumulative = (chance / chance.sum()).cumsum()
    cumulative /= cumulative[-1]
    return lambda pairs: vertices[cumulative.searchsorted(state.random_sample((pairs, 2)), side="right")]


MODES: dict[str, Callable[[np.random.RandomState, Graph, Array], Draw]] = {
    "uniform": _uniform,
    "hotspot": _hotspot,
    "powerlaw": _powerlaw,
}
