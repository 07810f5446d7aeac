"""Validation, test and training queries of a graph: drawn, or read from a file, and cut into splits."""

from dataclasses import dataclass, field

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.load import scenario_path
from aacbench.graphs.record import Graph
from aacbench.queries.files import read_csv, read_scenario_queries, spread
from aacbench.queries.in_maps import corner_queries, random_queries
from aacbench.queries.record import QuerySet, first_occurrences
from aacbench.queries.sampling import MODES, random_state, sample
from aacbench.queries.strata import sample_by_rank
from aacbench.util.paths import expanded


def no_queries() -> QuerySet:
    return QuerySet(sources=np.empty(0, dtype=np.int64), targets=np.empty(0, dtype=np.int64))


@dataclass(frozen=True, eq=False, kw_only=True)
class Splits:
    """The queries to learn from, to choose settings by, and to report on; on maps, those from corner to corner too."""

    train: QuerySet
    validation: QuerySet
    test: QuerySet
    corner: QuerySet = field(default_factory=no_queries)


def query_splits(
    graph: Graph,
    *,
    mode: str = "uniform",
    seed: int = 42,
    validation: int = 0,
    test: int = 0,
    train: int = 0,
    strict: bool = False,
    file: str = "",
    shuffle: bool = False,
    random: int | None = None,
) -> Splits:
    """Return the splits that a protocol's `[queries]` table describes; `random` is for maps, so many queries each."""
    if random is not None:
        tests = random_queries(graph, random, mode, seed)
        return Splits(train=no_queries(), validation=no_queries(), test=tests, corner=corner_queries(graph))
    counts = validation, test, train
    if min(counts) < 0:
        raise UsageError(f"A split cannot have {min(counts)} queries.")
    if mode in MODES:
        return split(sample(graph, sum(counts), mode=mode, seed=seed, strict=strict), *counts, strict)
    if mode == "strata":
        return _strata_splits(graph, *counts, seed)
    path = expanded(file) if file else scenario_path(graph.name)
    if mode == "scenario":
        return _scenario_splits(read_scenario_queries(path, graph), *counts, strict)
    queries = read_csv(path, graph)
    if shuffle:
        queries = queries.take(random_state(seed).permutation(len(queries)))
    return split(queries, *counts, strict)


def split(queries: QuerySet, validation: int, test: int, train: int = 0, strict: bool = False) -> Splits:
    """Cut by position: the first `validation` queries, the next `test`, then `train`; the rest is left out.

    Training comes last, so that the validation and test queries do not depend on the number of training queries.
    `strict` first drops every query that repeats an earlier (source, target) pair.
    """
    queries = _enough(queries, validation, test, train, strict)
    ends = np.cumsum([0, validation, test, train])
    first, second, third = (queries.take(slice(ends[i], ends[i + 1])) for i in range(3))
    return Splits(train=third, validation=first, test=second)


def _strata_splits(graph: Graph, validation: int, test: int, train: int, seed: int) -> Splits:
    """Draw by Dijkstra rank, with these numbers of sources; no source is in two splits."""
    queries = sample_by_rank(graph, validation + test + train, seed=seed)
    ends = np.append(
        np.flatnonzero(np.diff(queries.sources, prepend=-1)), len(queries)
    )  # one entry per source, and one
    first, second = ends[validation], ends[validation + test]
    return split(queries, first, second - first, len(queries) - second)


def _scenario_splits(queries: QuerySet, validation: int, test: int, train: int, strict: bool) -> Splits:
    """Spread each split evenly over the buckets: a scenario's problems grow longer along the file."""
    queries = _enough(queries, validation, test, train, strict)
    queries, _ = spread(queries, validation + test + train)
    first, rest = spread(queries, validation)
    second, third = spread(rest, test)
    return Splits(train=third, validation=first, test=second)


def _enough(queries: QuerySet, validation: int, test: int, train: int, strict: bool) -> QuerySet:
    if strict:
        queries = queries.take(first_occurrences(queries.sources, queries.targets))
    wanted = validation + test + train
    if wanted > len(queries):
        kind = "distinct queries" if strict else "queries"
        counts = {"validation": validation, "test": test, "train": train}
        keys = ", ".join(f"queries.{key} ({count})" for key, count in counts.items() if count)
        raise UsageError(
            f"The splits need {wanted} {kind}, but query set {queries.name!r} has only {len(queries)}; lower {keys}, "
            "or give --queries VALIDATION/TEST."
        )
    return queries
