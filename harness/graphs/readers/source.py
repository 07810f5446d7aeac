"""A data file in memory, unpacked, with errors that name the file and the line."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from aacbench.errors import DataError
from aacbench.graphs.record import Array

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Source:
    """The bytes of a file."""

    path: Path
    data: bytes

    @cached_property
    def buffer(self) -> Array:
        """The bytes as a read-only array, for the compiled parser."""
        return np.frombuffer(self.data, dtype=np.uint8)

    @cached_property
    def text(self) -> str:
        """The bytes as UTF-8 text."""
        try:
            text = self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.error("this is not UTF-8 text; save the file as UTF-8.", at=error.start) from None
        if not text.strip():
            raise self.error("the file is empty; fetch it again.")
        return text

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, without their ends; blank lines after the last other line are left out."""
        lines = [line.removesuffix("\r") for line in self.text.split("\n")]
        while lines and not lines[-1].strip():
            lines.pop()
        return lines

    def error(self, message: str, *, line: int | None = None, at: int | None = None) -> DataError:
        """An error about this file, or about one line of it, given by its number or by a place in the bytes."""
        if at is not None:
            line = self.data.count(b"\n", 0, at) + 1
        where = "" if line is None else f", line {line}"
        return DataError(f"{self.path.name}{where}: {message}")

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Let an error about the graph name the file that it came from."""
        try:
            yield
        except DataError as error:
            raise self.error(str(error)) from None


def open_source(path: Path) -> Source:
    """Read a file whole, without a byte-order mark.

    A gzip file, known by its first bytes whatever its name, is unpacked and its checksum held.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; check the path.") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; name a file in it.") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    if data.startswith(_GZIP_MAGIC):
        data = _unpacked(path, data)
    data = data.removeprefix(_BYTE_ORDER_MARK)
    if not data.strip():
        raise DataError(f"{path.name}: the file is empty; fetch it again.")
    return Source(path, data)


def _unpacked(path: Path, data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except EOFError:
        raise DataError(f"{path.name}: the gzip file is cut short; fetch it again.") from None
    except (OSError, zlib.error) as error:
        raise DataError(f"{path.name}: the gzip file is damaged ({error}); fetch it again.") from None
