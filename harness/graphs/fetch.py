"""Finding a data file in `$AACBENCH_DATA` or in the cache, or downloading it; its digest is checked each time."""

import errno
import hashlib
import os
import tempfile
import warnings
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from aacbench.errors import DataError, MissingDataError
from aacbench.graphs.catalogue import DataFile
from aacbench.util.atomic_io import storing
from aacbench.util.input_file import open_input
from aacbench.util.paths import cache_folder, cache_folders, data_folder
from aacbench.util.unpack import unpacked

RETRIES = 2
TIMEOUT_SECONDS = 30
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class UnverifiedDataWarning(UserWarning):
    """A file was accepted although its digest could not be compared with a known one."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file that may be used, and the sha256 of its bytes."""

    path: Path
    sha256: str


def obtain(file: DataFile) -> Found:
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
    return _download(file)


def in_data_folder(file: DataFile) -> Path | None:
    """Return the path of the file below `$AACBENCH_DATA`, or None; its content is not checked."""
    folder = data_folder()
    return None if folder is None else _below(folder, file)


def in_cache(file: DataFile) -> Path | None:
    """Return the path of the file in the user's cache, or None; its content is not checked."""
    for folder in cache_folders():
        with suppress(DataError):  # an unreadable cache counts as empty
            path = _below(folder / "data", file)
            if path is not None:
                return path
    return None


def is_file(path: Path) -> bool:
    """Return whether the path is a file; a path that cannot be checked is an error."""
    try:
        return path.is_file()
    except OSError as error:
        raise DataError(
            f"{path} cannot be accessed ({error.strerror}); correct its permissions or its name."
        ) from error


def sha256_of(path: Path) -> str:
    try:
        with open_input(path) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error


def _below(folder: Path, file: DataFile) -> Path | None:
    other_form = file.at.removesuffix(".gz") if file.at.endswith(".gz") else f"{file.at}.gz"
    return next((folder / at for at in (file.at, other_form) if is_file(folder / at)), None)


def _accept(path: Path, file: DataFile, origin: str | None = None) -> Found:
    digest, shown = sha256_of(path), origin or path
    if digest in file.sha256 or _digest_inside(path) in file.sha256:
        return Found(path, digest)
    if file.sha256 and file.editions is None:
        raise DataError(
            f"{shown} is not the expected {file.at}: its sha256 is {digest}, not {' or '.join(file.sha256)}."
        )
    reason = file.editions or "its digest is unknown"
    if origin is not None and origin.startswith("http:"):
        reason += ", and plain http does not protect it"
    warnings.warn(
        f"{shown} is used unverified ({reason}); its sha256 is {digest}. Compare that with a copy you trust; to have "
        f"it checked from now on, list it as sha256 of {file.at} in graphs/catalogue.toml of the installed package.",
        UnverifiedDataWarning,
        stacklevel=4,
    )
    return Found(path, digest)


def _digest_inside(path: Path) -> str | None:
    """Return the digest of the content of a .gz file, which does not change when the file is compressed again."""
    if path.suffix != ".gz":
        return None
    digest = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            for piece in unpacked(path, stream):
                digest.update(piece)
    except (OSError, EOFError, zlib.error):
        return None
    return digest.hexdigest()


def _download(file: DataFile) -> Found:
    if file.address is None:
        raise MissingDataError(f"{file.at} is not on this machine: {file.how_to_get}, and {_put_it(file)}.")
    place = cache_folder() / "data" / file.at
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        # In a temporary folder beside its place, so that no other process sees an incomplete file.
        with tempfile.TemporaryDirectory(prefix=".incoming-", dir=place.parent) as folder:
            arrived = Path(folder) / place.name
            _retrieve(file.address, arrived)
            found = _accept(arrived, file, origin=file.address)
            arrived.chmod(0o644)  # temporary files are readable by their owner only
            with arrived.open("rb") as stream:
                os.fsync(stream.fileno())
            arrived.replace(place)
    except (OSError, ValueError) as error:  # the errors of `requests` are OSErrors
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            with storing(cache_folder()):
                raise
        raise MissingDataError(
            f"{file.at} is not on this machine and could not be downloaded from {file.address} "
            f"({_reason(error)}): {_put_it(file)}."
        ) from error
    return Found(place, found.sha256)


def _retrieve(address: str, target: Path) -> None:
    import pooch

    pooch.get_logger().setLevel("WARNING")
    downloads = pooch.create(
        path=target.parent,
        base_url="",
        registry={target.name: None},
        urls={target.name: address},
        retry_if_failed=RETRIES,
    )
    downloads.fetch(target.name, downloader=pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS))


def _put_it(file: DataFile) -> str:
    folder = data_folder()
    own = f"{file.at} below a folder that AACBENCH_DATA names" if folder is None else str(folder / file.at)
    return f"put it at {own} or at {cache_folder() / 'data' / file.at}"


def _reason(error: Exception) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered {response.status_code} {response.reason}"
    return getattr(error, "strerror", None) or type(error).__name__
