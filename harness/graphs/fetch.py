"""Finding a data file: in `$AACBENCH_DATA`, in the cache, or by downloading it there, its digest checked each time."""

import gzip
import hashlib
import os
import tempfile
import warnings
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aacbench.errors import DataError, MissingDataError
from aacbench.graphs.catalogue import DataFile
from aacbench.util.paths import cache_folder, cache_folders, data_folder

RETRIES = 2
TIMEOUT_SECONDS = 30


class UnverifiedDataWarning(UserWarning):
    """A file was accepted although its digest could not be compared with a known one."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file that may be used, and the sha256 of its bytes."""

    path: Path
    sha256: str


def obtain(file: DataFile, *, progress: Any = False) -> Found:
    """The file, downloaded if it must be.

    `progress` is an object with `total`, `update`, `reset` and `close`, which pooch tells how far it is.
    """
    path = in_data_folder(file)
    if path is not None:
        return _accept(path, file)
    path = in_cache(file)
    if path is not None:
        try:
            return _accept(path, file)
        except DataError:
            if file.address is None:
                raise
    return _download(file, progress)


def in_data_folder(file: DataFile) -> Path | None:
    """Where the file lies below `$AACBENCH_DATA`, or None; its content is not looked at."""
    folder = data_folder()
    return None if folder is None else _below(folder, file)


def in_cache(file: DataFile) -> Path | None:
    """Where the file lies in the user's cache, or None; its content is not looked at."""
    for folder in cache_folders():
        with suppress(DataError):  # a cache that cannot be looked at holds nothing
            path = _below(folder / "data", file)
            if path is not None:
                return path
    return None


def is_file(path: Path) -> bool:
    """Whether there is a file at this place; a place that cannot be looked at is an error."""
    try:
        return path.is_file()
    except OSError as error:
        raise DataError(
            f"{path} cannot be looked at ({error.strerror}): correct its permissions or its name."
        ) from error


def sha256_of(path: Path) -> str:
    """The digest of a file's bytes."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error


def _below(folder: Path, file: DataFile) -> Path | None:
    return next((folder / at for at in _spellings(file.at) if is_file(folder / at)), None)


def _spellings(at: str) -> Iterator[str]:
    yield at
    yield at.removesuffix(".gz") if at.endswith(".gz") else f"{at}.gz"


def _accept(path: Path, file: DataFile, origin: str | None = None) -> Found:
    digest, shown = sha256_of(path), origin or path
    if digest in file.sha256 or _digest_inside(path) in file.sha256:
        return Found(path, digest)
    if file.sha256 and file.editions is None:
        raise DataError(
            f"{shown} is not the {file.at} that is wanted: its sha256 is {digest}, expected {' or '.join(file.sha256)}."
        )
    reason = file.editions or "no digest of it is known"
    if origin is not None and origin.startswith("http:"):
        reason += ", and it came over plain http, where anyone on the way can change it"
    warnings.warn(
        f"{shown} is used unverified ({reason}); its sha256 is {digest}: compare that with a copy you trust, and to "
        f"have it checked from now on, list it as sha256 of {file.at} in aacbench/graphs/catalogue.toml.",
        UnverifiedDataWarning,
        stacklevel=4,
    )
    return Found(path, digest)


def _digest_inside(path: Path) -> str | None:
    """The digest of what a .gz holds: compressing a file again must not make it another one."""
    if path.suffix != ".gz":
        return None
    try:
        with gzip.GzipFile(path) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, EOFError, zlib.error):
        return None


def _download(file: DataFile, progress: Any) -> Found:
    if file.address is None:
        raise MissingDataError(f"{file.at} is not on this machine: {file.how_to_get}, and {_put_it(file)}.")
    place = cache_folder() / "data" / file.at
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        # A folder of its own, beside the place it goes to: no other process sees the file before it is whole.
        with tempfile.TemporaryDirectory(prefix=".incoming-", dir=place.parent) as folder:
            arrived = Path(folder) / place.name
            _retrieve(file.address, arrived, progress)
            found = _accept(arrived, file, origin=file.address)
            _finish(arrived)
            arrived.replace(place)
    except (OSError, ValueError) as error:  # the errors of `requests` are OSErrors
        raise MissingDataError(
            f"{file.at} is not on this machine and could not be downloaded from {file.address} "
            f"({_reason(error)}): {_put_it(file)}."
        ) from error
    return Found(place, found.sha256)


def _retrieve(address: str, target: Path, progress: Any) -> None:
    import pooch

    pooch.get_logger().setLevel("WARNING")
    downloads = pooch.create(
        path=target.parent,
        base_url="",
        registry={target.name: None},
        urls={target.name: address},
        retry_if_failed=RETRIES,
    )
    downloads.fetch(target.name, downloader=pooch.HTTPDownloader(progressbar=progress, timeout=TIMEOUT_SECONDS))


def _put_it(file: DataFile) -> str:
    folder = data_folder()
    own = f"{file.at} below a folder that AACBENCH_DATA names" if folder is None else str(folder / file.at)
    return f"put it at {own} or at {cache_folder() / 'data' / file.at}"


def _reason(error: Exception) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code} {response.reason}"
    return getattr(error, "strerror", None) or type(error).__name__


def _finish(path: Path) -> None:
    path.chmod(0o644)  # it came as a temporary file, which nobody else may read
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
