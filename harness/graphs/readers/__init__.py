"""Readers: one module per format, each a function from a path to a `Graph`. Here is what they share.

A data file in memory is unpacked, its errors name the file and the line, and numbers are read strictly from text.
"""

import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import numpy as np

from aacbench.errors import DataError
from aacbench.graphs.record import Array
from aacbench.util.input_file import open_input
from aacbench.util.unpack import unpacked

# A vertex without arcs is legal, but a small file that claims billions of them must not use all memory.
ISOLATED_VERTICES = 1_000_000
_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """The bytes of a file."""

    path: Path
    data: bytes

    @cached_property
    def buffer(self) -> Array:
        return np.frombuffer(self.data, dtype=np.uint8)

    @cached_property
    def text(self) -> str:
        try:
            text = self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.error("this is not UTF-8 text; save the file as UTF-8.", at=error.start) from None
        if not text.strip():
            raise self.error("the file is empty; fetch it again.")
        return text

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text without line ends; blank lines at the end are left out."""
        lines = [line.removesuffix("\r") for line in self.text.split("\n")]
        while lines and not lines[-1].strip():
            lines.pop()
        return lines

    def error(self, message: str, *, line: int | None = None, at: int | None = None) -> DataError:
        """Return an error about this file, or about one line, given by its number or by an offset in the bytes."""
        if at is not None:
            line = self.data.count(b"\n", 0, at) + 1
        where = "" if line is None else f", line {line}"
        return DataError(f"{self.path.name}{where}: {message}")

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        try:
            yield
        except DataError as error:
            raise self.error(str(error)) from None


def open_source(path: Path) -> Source:
    """Read a whole file without its byte-order mark; gzip is recognised by its first bytes, whatever the name."""
    path = Path(path)
    try:
        with open_input(path) as stream:
            packed = stream.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
            stream.seek(0)
            data = _unpacked(path, stream) if packed else stream.read()
    except FileNotFoundError:
        raise DataError(f"File {path} does not exist; check the path.") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; name a file in it.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error}).") from None
    data = data.removeprefix(_BYTE_ORDER_MARK)
    if not data.strip():
        raise DataError(f"{path.name}: the file is empty; fetch it again.")
    return Source(path, data)


def _unpacked(path: Path, stream: BinaryIO) -> bytes:
    content = io.BytesIO()
    try:
        content.writelines(unpacked(path, stream))
        return content.getvalue()
    except EOFError:
        raise DataError(f"{path.name}: the gzip file is cut short; fetch it again.") from None
    except (OSError, zlib.error) as error:
        raise DataError(f"{path.name}: the gzip file is damaged ({error}); fetch it again.") from None


def quoted(text: str) -> str:
    return ascii(text if len(text) <= 30 else text[:27] + "...")


def whole(text: str) -> int:
    """Return a whole number of 64 bits; a ValueError says what is wrong."""
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{quoted(text)} is not a whole number")
    # Python refuses to convert thousands of digits, so the length is checked first.
    if len(text.lstrip("+-0")) > 19 or abs(int(text)) >= 2**63:
        raise ValueError(f"{quoted(text)} does not fit a whole number of 64 bits")
    return int(text)


def number(text: str) -> int | float:
    """Return a finite number, an int where it is written as one; a ValueError says what is wrong."""
    if _INTEGER.fullmatch(text):
        return whole(text)
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{quoted(text)} is not a finite number")
    if not _DECIMAL.fullmatch(text):
        raise ValueError(f"{quoted(text)} is not a number")
    value = float(text)
    if not np.isfinite(value):
        raise ValueError(f"{quoted(text)} is too large to be a finite number")
    return value + 0.0  # -0.0 becomes 0.0: it would change the digest
