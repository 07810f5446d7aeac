"""Every byte that must be saved is counted, and a budget is not exceeded by one of them."""

import hashlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from aacbench.bundle.inventory import SETTINGS_ALLOWANCE, check_budget, inventory
from aacbench.contract.budget import MEASURED, PAPER, Budget
from aacbench.contract.method import BatchHeuristic, LabelHeuristic, MaxHeuristic, ScalarHeuristic
from aacbench.errors import OverBudgetError, UsageError

DTYPES = st.sampled_from(["?", "i1", "u2", "i4", "i8", "f4", "f8"])
ARRAYS = hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6), fill=st.nothing())
NAMES = st.sampled_from(["rows", "base", "offsets", "cells"])


def many(arrays, us, t):
    return np.zeros(len(us))


def of_bytes(count, settings=0):
    """A heuristic whose arrays hold so many bytes."""
    arrays = {"rows": np.zeros(count - count // 3, np.int8), "side": np.zeros(count // 3, np.int8)}
    return LabelHeuristic(arrays, "differential", {f"s{k}": k for k in range(settings)})


@given(st.dictionaries(NAMES, ARRAYS), st.integers(1, 50))
def test_the_total_is_numpys_nbytes(arrays, vertices):
    found = inventory(BatchHeuristic(arrays, many), vertices)
    assert found.total_bytes - found.settings_bytes == sum(array.nbytes for array in arrays.values())
    assert found.bytes_per_vertex == found.total_bytes / vertices
    for entry, (name, array) in zip(found.arrays, arrays.items(), strict=True):
        assert (entry.name, entry.dtype, entry.shape) == (name, str(array.dtype), array.shape)
        assert entry.nbytes == array.nbytes
        head = f"{array.dtype.newbyteorder('<').str}{array.shape}".encode() + b"\0"
        assert entry.sha256 == hashlib.sha256(head + array.tobytes()).hexdigest()


def test_memory_is_counted_once_only_where_it_is_shared_exactly():
    rows = np.arange(12, dtype=np.int32).reshape(6, 2)
    arrays = {
        "rows": rows,
        "again": rows[:],
        "copy": rows.copy(),
        "part": rows[:3],
        "wide": np.broadcast_to(rows, (4, 6, 2)),
    }
    found = inventory(BatchHeuristic(arrays, many), 6)
    assert [entry.same_as for entry in found.arrays] == [None, "rows", None, None, None]
    assert found.total_bytes == 48 + 48 + 24 + 4 * 48


def test_settings_are_charged_eight_bytes_each():
    found = inventory(of_bytes(100, settings=3), 10)
    assert (found.settings_bytes, found.total_bytes) == (24, 124)


@given(st.integers(1, 40), st.floats(0.125, 40, allow_nan=False))
def test_a_budget_is_exceeded_by_one_byte_and_not_met_by_none(vertices, bytes_per_vertex):
    allowed = int(Fraction(repr(bytes_per_vertex)) * vertices)
    check_budget(inventory(of_bytes(allowed), vertices), Budget(bytes_per_vertex))
    with pytest.raises(
        OverBudgetError, match=f"deploys {allowed + 1} bytes.* allow {allowed}; its largest array is rows"
    ):
        check_budget(inventory(of_bytes(allowed + 1), vertices), Budget(bytes_per_vertex))


def test_settings_beyond_the_allowance_are_held_against_a_budget():
    free = SETTINGS_ALLOWANCE // 8
    check_budget(inventory(of_bytes(80, settings=free), 10), Budget(8))
    with pytest.raises(OverBudgetError, match="deploys 88 bytes"):
        check_budget(inventory(of_bytes(80, settings=free + 1), 10), Budget(8))


@pytest.mark.parametrize(
    ("shape", "charged"), [((0,), 0), ((10, 0), 0), ((9, 0), 16), ((0, 5), 16), ((0, 7, 8, 9), 32), ((5, 1), 0)]
)
def test_shapes_that_say_what_no_byte_does_are_charged(shape, charged):
    found = inventory(BatchHeuristic({"rows": np.zeros(shape, np.int8)}, many), 10)
    assert found.charged_bytes == np.zeros(shape).size + charged


def test_no_array_has_so_many_dimensions_that_its_shape_could_say_much():
    with pytest.raises(UsageError, match="'rows' has 5 dimensions; at most 4 are allowed"):
        inventory(BatchHeuristic({"rows": np.zeros((1,) * 5)}, many), 10)


@pytest.mark.parametrize("name", ["n" * 101, "\u00e9" * 51])
def test_an_array_has_a_name_that_a_file_can_have(name):
    inventory(BatchHeuristic({name[:-1]: np.zeros(1)}, many), 10)
    with pytest.raises(UsageError, match="is too long; use at most 100 bytes"):
        inventory(BatchHeuristic({name: np.zeros(1)}, many), 10)


def test_names_are_free_until_they_are_data():
    named = {"n" * length: np.zeros(1, np.int8) for length in (1, 55)}
    heuristic = LabelHeuristic(named, "differential", {"s" * 200: 1})
    assert inventory(heuristic, 10).charged_bytes == 2
    longer = LabelHeuristic({**named, "abc": np.zeros(1, np.int8)}, "differential", {"s" * 200: 1})
    assert inventory(longer, 10).charged_bytes == 3 + 3


def test_a_maximum_of_many_parts_is_no_store_of_settings():
    part = LabelHeuristic({}, "differential", {f"s{k}": k for k in range(8)})
    assert inventory(MaxHeuristic((part,) * 4), 10).charged_bytes == 0
    assert inventory(MaxHeuristic((part,) * 7), 10).charged_bytes == 3 * 64


def test_each_part_of_a_maximum_has_an_allowance_of_its_own():
    free = SETTINGS_ALLOWANCE // 8
    one, other = of_bytes(40, settings=free), of_bytes(40, settings=free - 1)
    found = inventory(MaxHeuristic((one, MaxHeuristic((other,)))), 10)
    assert found.settings_bytes == 8 * (2 * free - 1)
    check_budget(found, Budget(8))
    over = of_bytes(40, settings=free + 1)
    with pytest.raises(OverBudgetError, match="deploys 88 bytes"):
        check_budget(inventory(MaxHeuristic((over, other)), 10), Budget(8))


def test_only_an_enforced_convention_refuses():
    over = inventory(of_bytes(81), 10)
    check_budget(over, Budget(8, PAPER))
    with pytest.raises(OverBudgetError):
        check_budget(over, Budget(8, MEASURED))


def test_a_scalar_heuristic_counts_as_declared():
    found = inventory(ScalarHeuristic(lambda u, t: 0, declared_bytes_per_vertex=2.5), 3)
    assert (found.measured, found.total_bytes, found.arrays) == (False, 8, ())
    with pytest.raises(OverBudgetError, match="as declared"):
        check_budget(found, Budget(2.5))
    for junk in (-1, float("nan"), float("inf"), "4", True):
        with pytest.raises(UsageError, match="declared"):
            inventory(ScalarHeuristic(lambda u, t: 0, declared_bytes_per_vertex=junk), 3)


def test_the_record_is_plain():
    found = inventory(of_bytes(3, settings=1), 2).record()
    assert found["arrays"][0] == {
        "name": "rows",
        "dtype": "int8",
        "shape": [2],
        "nbytes": 2,
        "sha256": hashlib.sha256(b"|i1(2,)\0\0\0").hexdigest(),
        "same_as": None,
    }
    assert (found["measured_per_vertex"], found["total"], found["settings"]) == (5.5, 11, 8)
