"""Splits of a query set into validation, test and training parts by position; strict ones never share a pair."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aacbench.errors import UsageError
from aacbench.graphs.record import Graph
from aacbench.queries.record import QuerySet, first_occurrences
from aacbench.queries.sampling import sample


@dataclass(frozen=True, eq=False, kw_only=True)
class Splits:
    """The three parts of a query set: to learn from, to choose by, and to report on."""

    train: QuerySet
    validation: QuerySet
    test: QuerySet


def split(queries: QuerySet, validation: int, test: int, train: int = 0, strict: bool = False) -> Splits:
    """Cut by position: the first `validation` queries, the next `test`, then `train`; the rest is left out.

    Training comes last, so that the paper's validation and test queries stay the same however much is trained on.
    `strict` first drops every query that repeats an earlier (source, target) pair.
    """
    if min(validation, test, train) < 0:
        raise UsageError(f"a split cannot have {min(validation, test, train)} queries.")
    if strict:
        queries = queries.take(first_occurrences(queries.sources, queries.targets))
    wanted = validation + test + train
    if wanted > len(queries):
        kind = "distinct queries" if strict else "queries"
        raise UsageError(f"the split needs {wanted} {kind}, and the query set has {len(queries)}; draw more.")
    ends = np.cumsum([0, validation, test, train])
    first, second, third = (queries.take(slice(ends[i], ends[i + 1])) for i in range(3))
    return Splits(train=third, validation=first, test=second)


def sample_splits(
    graph: Graph,
    validation: int,
    test: int,
    train: int = 0,
    *,
    mode: str = "uniform",
    seed: int = 42,
    component: npt.ArrayLike | None = None,
    strict: bool = False,
) -> Splits:
    """Draw as many queries as the split needs and cut them; `strict` draws again where a pair repeats."""
    if min(validation, test, train) < 0:
        raise UsageError(f"a split cannot have {min(validation, test, train)} queries.")
    count = validation + test + train
    drawn = sample(graph, count, mode=mode, seed=seed, component=component, strict=strict)
    return split(drawn, validation, test, train, strict)
