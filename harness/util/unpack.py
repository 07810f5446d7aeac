"""Unpacking up to a limit: a small packed file can hold more than a machine's memory."""

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from aacbench.errors import UnpackLimitError, UsageError

VARIABLE = "AACBENCH_UNPACK_LIMIT"
DEFAULT = 4.0  # GiB; the largest DIMACS graph, of the USA, unpacks to 1.3
_PIECE = 2**20


def unpacked(path: Path, stream: BinaryIO) -> Iterator[bytes]:
    """Yield the content of an opened gzip file piece by piece; more than the limit is an error."""
    size = 0
    with gzip.GzipFile(fileobj=stream) as content:
        while piece := content.read(_PIECE):
            size += len(piece)
            check_unpacked_size(path, size)
            yield piece


def check_unpacked_size(path: Path, size: int) -> None:
    limit = _limit()
    if size > limit * 2**30:
        raise UnpackLimitError(
            f"{path.name} unpacks to more than {limit:g} GiB; if that is right, set {VARIABLE} to more GiB than that."
        )


def _limit() -> float:
    text = os.environ.get(VARIABLE, "").strip()
    try:
        limit = float(text or DEFAULT)
    except ValueError:
        limit = -1.0
    if not limit > 0:  # refuses nan too
        raise UsageError(f"{VARIABLE}={text} is not a positive number; set it to a number of GiB.")
    return limit
