import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aacbench.graphs.readers import values


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_as_the_nearest_double(value):
    assert values.number(repr(value)) == value


def test_there_is_one_zero():
    assert math.copysign(1, values.number("-0.0")) == 1


@pytest.mark.parametrize(
    "text", ["1_000", " 1", "1 ", "", "-", "+", ".", "e5", "1e", "0x10", "\u0661", "1,5", "1.2.3", "[1, 2]"]
)
def test_text_that_python_might_accept_but_no_file_means_is_refused(text):
    with pytest.raises(ValueError, match="is not a number"):
        values.number(text)


@pytest.mark.parametrize("text", ["nan", "-inf", "Infinity", "1e999"])
def test_numbers_must_be_finite(text):
    with pytest.raises(ValueError, match="finite number"):
        values.number(text)


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775808", "1" * 5000])
def test_whole_numbers_must_fit_64_bits(text):
    with pytest.raises(ValueError, match="64 bits"):
        values.number(text)


def test_whole_numbers_stay_whole():
    assert values.number("+0009223372036854775807") == 2**63 - 1
    assert values.column([1, 2]).dtype == np.int64
    assert values.column([1, 2.5]).dtype == np.float64


def test_a_message_shows_a_long_or_strange_text_short_and_printable():
    assert values.quoted("\x00\xff") == r"'\x00\xff'"
    assert len(values.quoted("x" * 1000)) < 40
