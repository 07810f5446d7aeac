"""Numbers from their text, strictly: no blanks, underscores or words, and decimal fractions correctly rounded."""

import re
from collections.abc import Sequence

import numpy as np

from aacbench.graphs.record import Array

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


def quoted(text: str) -> str:
    """The text as a message shows it: printable and short."""
    return ascii(text if len(text) <= 30 else text[:27] + "...")


def whole(text: str) -> int:
    """A whole number of 64 bits; a ValueError says what is wrong."""
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{quoted(text)} is not a whole number")
    # Python refuses to convert thousands of digits, so the length goes first.
    if len(text.lstrip("+-0")) > 19 or abs(int(text)) >= 2**63:
        raise ValueError(f"{quoted(text)} does not fit a whole number of 64 bits")
    return int(text)


def number(text: str) -> int | float:
    """A finite number, whole where it is written so; a ValueError says what is wrong."""
    if _INTEGER.fullmatch(text):
        return whole(text)
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{quoted(text)} is not a finite number")
    if not _DECIMAL.fullmatch(text):
        raise ValueError(f"{quoted(text)} is not a number")
    value = float(text)
    if not np.isfinite(value):
        raise ValueError(f"{quoted(text)} is too large to be a finite number")
    return value + 0.0  # there is one zero: -0.0 would change the digest


def weight(text: str) -> int | float:
    """A number that is not negative; a ValueError says what is wrong."""
    value = number(text)
    if value < 0:
        raise ValueError(f"the weight {quoted(text)} is negative")
    return value


def column(values: Sequence[int | float]) -> Array:
    """The values as int64 where every one is whole, else as float64."""
    integral = all(isinstance(value, int) for value in values)
    return np.array(values, dtype=np.int64 if integral else np.float64)
