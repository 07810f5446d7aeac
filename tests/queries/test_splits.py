"""Splits: cut where the paper cuts, and never a query in two parts under strict."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import UsageError
from aacbench.graphs import from_arcs
from aacbench.queries import QuerySet
from aacbench.queries.sampling import sample
from aacbench.queries.splits import query_splits, split


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
        parts = query_splits(ring(500), validation=100, test=100, train=train)
        assert pairs(parts.validation) == drawn[:100]
        assert pairs(parts.test) == drawn[100:200]
        assert pairs(parts.train) == drawn[200 : 200 + train]


small = st.integers(0, 4)


@given(st.lists(st.tuples(small, small), max_size=30), small, small, small)
def test_strict_parts_are_cut_from_the_distinct_pairs_in_order(drawn, validation, test, train):
    distinct = list(dict.fromkeys(drawn))
    cuts = np.cumsum([validation, test, train])
    if cuts[2] > len(distinct):
        with pytest.raises(UsageError, match=f"need {cuts[2]} distinct queries, .* has only {len(distinct)}"):
            split(given_queries(drawn), validation, test, train, strict=True)
        return
    parts = split(given_queries(drawn), validation, test, train, strict=True)
    assert pairs(parts.validation) == distinct[: cuts[0]]
    assert pairs(parts.test) == distinct[cuts[0] : cuts[1]]
    assert pairs(parts.train) == distinct[cuts[1] : cuts[2]]


def test_strict_draws_again_until_the_counts_hold():
    counts = {"validation": 10, "test": 10, "train": 10}
    plain, strict = (query_splits(ring(6), **counts, strict=strict) for strict in (False, True))
    together = [pair for part in (strict.validation, strict.test, strict.train) for pair in pairs(part)]
    assert len(set(together)) == 30
    assert len({pair for part in (plain.validation, plain.test, plain.train) for pair in pairs(part)}) < 30


def test_strict_says_when_the_component_is_too_small():
    with pytest.raises(UsageError, match="6 vertices has 30 distinct queries, not 31"):
        query_splits(ring(6), validation=10, test=10, train=11, strict=True)


def test_a_split_that_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match=r"need 3 queries, .* has only 2; lower queries\.\w+ \(\d+\)"):
        split(given_queries([(0, 1), (1, 0)]), 2, 1)
    with pytest.raises(UsageError, match="cannot have -2 queries"):
        query_splits(ring(6), validation=5, test=1, train=-2)


def parts_of(graph, **settings):
    """The pairs of the three splits of a plan, in the order validation, test, train."""
    parts = query_splits(graph, **{"seed": 42, "validation": 2, "test": 3, **settings})
    return [pairs(part) for part in (parts.validation, parts.test, parts.train)]


def test_drawn_modes_are_those_of_sampling():
    drawn = pairs(sample(ring(50), 9, mode="hotspot", seed=7))
    assert parts_of(ring(50), mode="hotspot", seed=7, train=4) == [drawn[:2], drawn[2:5], drawn[5:]]


def test_strata_have_so_many_sources_in_each_split_and_none_in_two():
    graph = ring(40)
    parts = query_splits(graph, mode="strata", seed=5, validation=2, test=3, train=1)
    splits = (parts.validation, parts.test, parts.train)
    assert [len(set(part.sources.tolist())) for part in splits] == [2, 3, 1]
    assert len({source for part in splits for source in part.sources.tolist()}) == 6
    for part in splits:
        assert part.buckets.tolist() == [1, 2, 3, 4, 5] * len(set(part.sources.tolist()))
    assert parts_of(graph, mode="strata", seed=5)[:2] == [pairs(parts.validation), pairs(parts.test)]
    assert parts_of(graph, mode="strata", seed=6)[0] != pairs(parts.validation)


def test_no_validation_queries_by_rank_leave_that_split_empty():
    assert [len(part) for part in parts_of(ring(40), mode="strata", validation=0, test=1)] == [0, 5, 0]


def test_a_file_is_cut_as_it_is_or_after_a_seeded_shuffle(tmp_path):
    path = tmp_path / "mine.csv"
    listed = [(v, v + 1) for v in range(8)] + [(0, 1)]
    path.write_text("source,target\n" + "".join(f"{s},{t}\n" for s, t in listed), encoding="utf-8")
    given_file = {"mode": "file", "file": str(path), "train": 4}
    assert parts_of(ring(9), **given_file) == [listed[:2], listed[2:5], listed[5:]]
    validation, test, train = shuffled = parts_of(ring(9), **given_file, shuffle=True)
    assert validation + test + train != listed
    assert sorted(validation + test + train) == sorted(listed)
    assert shuffled == parts_of(ring(9), **given_file, shuffle=True)
    assert shuffled != parts_of(ring(9), **given_file, shuffle=True, seed=1)
    with pytest.raises(UsageError, match="need 9 distinct queries, but query set 'mine' has only 8"):
        parts_of(ring(9), **given_file, strict=True)


def test_each_split_of_a_scenario_is_spread_over_its_buckets(tmp_path):
    path = tmp_path / "small.scen"
    rows = [f"{bucket}\tline.map\t40\t1\t{x}\t0\t{x + bucket}\t0\t{bucket}" for bucket in range(4) for x in range(9)]
    path.write_text("\n".join(["version 1", *rows]), encoding="utf-8")
    places = np.stack([np.arange(40), np.zeros(40, dtype=int)], axis=1)
    graph = from_arcs(40, np.arange(39), np.arange(1, 40), np.ones(39), coords=places, name="line")
    parts = query_splits(graph, mode="scenario", file=str(path), seed=0, validation=4, test=8, train=4)
    assert parts.validation.buckets.tolist() == [0, 1, 2, 3]
    assert parts.test.buckets.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert parts.train.buckets.tolist() == [0, 1, 2, 3]
    every = [pair for part in (parts.validation, parts.test, parts.train) for pair in pairs(part)]
    assert len(set(every)) == 16
    with pytest.raises(UsageError, match="need 37 queries, but query set 'line' has only 36"):
        query_splits(graph, mode="scenario", file=str(path), seed=0, validation=4, test=33)
    with pytest.raises(UsageError, match="no scenario"):
        query_splits(graph, mode="scenario", seed=0, validation=4, test=8)
