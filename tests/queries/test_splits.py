"""Splits: cut where the paper cuts, and never a query in two parts under strict."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import UsageError
from aacbench.graphs import from_arcs
from aacbench.queries import QuerySet
from aacbench.queries.sampling import sample
from aacbench.queries.splits import sample_splits, split


def given_queries(pairs):
    sources, targets = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return QuerySet(sources=sources, targets=targets)


def pairs(queries):
    return list(zip(queries.sources.tolist(), queries.targets.tolist(), strict=True))


def ring(size):
    return from_arcs(size, np.arange(size), (np.arange(size) + 1) % size, np.ones(size, dtype=np.int64))


def test_the_first_half_validates_and_the_last_half_tests_whatever_is_trained_on():
    drawn = pairs(sample(ring(500), 260))
    for train in (0, 60):
        parts = sample_splits(ring(500), 100, 100, train)
        assert pairs(parts.validation) == drawn[:100]
        assert pairs(parts.test) == drawn[100:200]
        assert pairs(parts.train) == drawn[200 : 200 + train]


small = st.integers(0, 4)


@given(st.lists(st.tuples(small, small), max_size=30), small, small, small)
def test_strict_parts_are_cut_from_the_distinct_pairs_in_order(drawn, validation, test, train):
    distinct = list(dict.fromkeys(drawn))
    cuts = np.cumsum([validation, test, train])
    if cuts[2] > len(distinct):
        with pytest.raises(
            UsageError, match=f"needs {cuts[2]} distinct queries, and the query set has {len(distinct)}"
        ):
            split(given_queries(drawn), validation, test, train, strict=True)
        return
    parts = split(given_queries(drawn), validation, test, train, strict=True)
    assert pairs(parts.validation) == distinct[: cuts[0]]
    assert pairs(parts.test) == distinct[cuts[0] : cuts[1]]
    assert pairs(parts.train) == distinct[cuts[1] : cuts[2]]


def test_strict_draws_again_until_the_counts_hold():
    plain = sample_splits(ring(6), 10, 10, 10)
    strict = sample_splits(ring(6), 10, 10, 10, strict=True)
    together = [pair for part in (strict.validation, strict.test, strict.train) for pair in pairs(part)]
    assert len(set(together)) == 30
    assert len({pair for part in (plain.validation, plain.test, plain.train) for pair in pairs(part)}) < 30


def test_strict_says_when_the_component_is_too_small():
    with pytest.raises(UsageError, match="6 vertices has 30 distinct queries, not 31"):
        sample_splits(ring(6), 10, 10, 11, strict=True)


def test_a_split_that_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="needs 3 queries, and the query set has 2"):
        split(given_queries([(0, 1), (1, 0)]), 2, 1)
    with pytest.raises(UsageError, match="cannot have -1 queries"):
        split(given_queries([(0, 1), (1, 0)]), -1, 1)
    with pytest.raises(UsageError, match="cannot have -2 queries"):
        sample_splits(ring(6), 5, 1, -2)
