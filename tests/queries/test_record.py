"""The query set record: what it refuses, what its digest counts, and that nobody can change it."""

import dataclasses
import hashlib
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.errors import DataError, UsageError
from aacbench.graphs import from_arcs
from aacbench.queries import QuerySet
from aacbench.queries.record import first_occurrences


def queries(**changes):
    values = {
        "sources": np.array([3, 1, 4]),
        "targets": np.array([1, 5, 9]),
        "optima": np.array([2.5, 0.0, 7.0]),
        "buckets": np.array([0, 0, 1]),
    }
    return QuerySet(**{**values, **changes})


def test_arrays_are_read_only_copies_of_the_canonical_types():
    given_sources = np.array([3, 1, 4], dtype=np.int16)
    built = queries(sources=given_sources)
    given_sources[0] = 7
    assert built.sources.tolist() == [3, 1, 4]
    assert [built.sources.dtype, built.optima.dtype] == [np.int64, np.float64]
    for array in (built.sources, built.targets, built.optima, built.buckets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        built.name = "other"


def test_take_keeps_what_is_known_of_each_query():
    taken = queries(name="n", mode="m", seed=7).take([2, 0])
    assert len(taken) == 2
    assert (taken.sources.tolist(), taken.targets.tolist()) == ([4, 3], [9, 1])
    assert (taken.optima.tolist(), taken.buckets.tolist()) == ([7.0, 2.5], [1, 0])
    assert (taken.name, taken.mode, taken.seed) == ("n", "m", 7)
    assert queries().take(slice(1, None)).sources.tolist() == [1, 4]
    assert len(queries().take([])) == 0


@pytest.mark.parametrize("indices", [[3], [-1], [0.5], [True, False, True]])
def test_take_refuses_what_is_not_a_position(indices):
    with pytest.raises(UsageError, match="Positions of queries"):
        queries().take(indices)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sources": np.array([0.5, 1, 2])}, "whole numbers"),
        ({"sources": np.array([[3, 1, 4]])}, "flat list"),
        ({"targets": np.array([1, 2])}, "3 sources and 2 targets"),
        ({"optima": np.array([1.0])}, "3 sources and 1 optima"),
        ({"buckets": np.array([1])}, "3 sources and 1 buckets"),
        ({"targets": np.array([1, -2, 3])}, "query 1 names the negative vertex -2"),
        ({"sources": np.array([1, 2, 2**63], dtype=np.uint64)}, "below 2\\^63"),
        ({"optima": np.array([1.0, np.nan, 1.0])}, "query 1 has the optimum nan"),
        ({"optima": np.array([1.0, 1.0, np.inf])}, "query 2 has the optimum inf"),
        ({"optima": np.array([-1.0, 1.0, 1.0])}, "query 0 has the optimum -1"),
        ({"optima": np.array(["a", "b", "c"])}, "flat list of numbers"),
    ],
)
def test_a_set_that_makes_no_sense_is_refused(changes, message):
    with pytest.raises(DataError, match=message):
        queries(**changes)


def test_digest_ignores_name_mode_seed_and_the_arrays_memory_layout():
    same = queries(
        name="x", mode="y", seed=1, sources=np.array([3, 1, 4], dtype=">i4"), optima=np.array([2.5, -0.0, 7.0])
    )
    assert same.digest == queries().digest


def test_digest_is_of_little_endian_bytes_after_a_format_tag():
    head = '{"buckets": ["<i8", 3], "optima": ["<f8", 3], "sources": ["<i8", 3], "targets": ["<i8", 3]}'
    values = struct.pack("<3q3q3d3q", 3, 1, 4, 1, 5, 9, 2.5, 0.0, 7.0, 0, 0, 1)
    wanted = hashlib.sha256(b"aacbench.queries/1\0" + head.encode() + b"\0" + values)
    assert queries().digest == wanted.hexdigest()


@pytest.mark.parametrize(
    "changes",
    [
        {"sources": np.array([3, 1, 5])},
        {"targets": np.array([1, 5, 8])},
        {"optima": np.array([2.5, 0.0, np.nextafter(7.0, 8.0)])},
        {"buckets": np.array([0, 1, 1])},
        {"optima": None},
        {"buckets": None},
        {"sources": np.array([1, 5, 9]), "targets": np.array([3, 1, 4])},
    ],
)
def test_digest_changes_with_any_value(changes):
    assert queries(**changes).digest != queries().digest


def test_published_optima_may_be_rounded_to_six_digits_where_costs_are_floats():
    published = queries(optima=np.array([1006.02, 454.764, 1.41421]))
    published.check_optima(np.array([1006.0244, 454.7645, 2**0.5]))
    with pytest.raises(DataError, match=r"from 1 to 5 has the published optimum 454.764, but Dijkstra finds 454.77"):
        published.check_optima(np.array([1006.0244, 454.77, 2**0.5]))
    with pytest.raises(DataError, match=r"from 4 to 9 .* but there is no path"):
        published.check_optima(np.array([1006.0244, 454.7645, -1.0]))
    queries(optima=None).check_optima(np.array([-1.0, 0.0, 5.0]))


def test_published_optima_are_exact_where_costs_are_whole():
    published = queries(optima=np.array([3000000.0, 0.0, 7.0]))
    published.check_optima(np.array([3000000, 0, 7]))
    with pytest.raises(DataError, match="from 3 to 1 has the published optimum 3000000, but Dijkstra finds 3000001"):
        published.check_optima(np.array([3000001, 0, 7]))


def test_a_wrong_optimum_is_found_by_its_line_and_the_words_of_the_file():
    named = from_arcs(4, [0], [1], [1], names=["Linz", "Graz", "Wien", "Enns"])
    trips = QuerySet(
        sources=np.arange(4),
        targets=np.arange(4)[::-1],
        optima=np.array([7.0, 8.0, 9.0, 5.0]),
        lines=np.array([2, 3, 5, 6]),
        name="trips",
        mode="file",
    )
    assert trips.digest == dataclasses.replace(trips, lines=None).digest
    told = r"^Queries of 'trips', line 5: the query from Wien to Graz has .* 9, but Dijkstra finds 10; "
    with pytest.raises(DataError, match=told + r"1 of 3 queries differs, so correct the file\.$"):
        trips.take([0, 1, 2]).check_optima(np.array([7, 8, 10]), named)
    with pytest.raises(DataError, match=r"3 of 4 queries differ, so they belong to another graph or to other weights"):
        trips.check_optima(np.array([7, 9, 10, 11]), named)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_first_occurrences_are_those_of_a_plain_loop(pairs):
    seen: dict[tuple[int, int], int] = {}
    for place, pair in enumerate(pairs):
        seen.setdefault(pair, place)
    sources, targets = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    assert first_occurrences(sources, targets).tolist() == list(seen.values())
