"""Which `cell.json` files were checked in full before, by digest, so that their bytes need only be hashed again.

The file in the study is a hint: it may be deleted, damaged or old, and then cells are checked in full once more. It
holds no results. A changed byte in a cell changes its digest, so such a cell is never found here.
"""

import hashlib
import json
import os
import re
from contextlib import suppress
from pathlib import Path

from aacbench.run.layout import CELL_FILE, CELLS, DERIVED
from aacbench.util.atomic_io import make_folder, read_in, replace_file
from aacbench.version import VERSION

VERIFIED = "verified-cells"  # in the folder of what can be made again
LEAST_CELLS = 1000  # in a smaller study it would save less than a second
_BYTES = 32
_TAG = f"aacbench.verified/1 {VERSION} ".encode()
# `cell.json` has one line per value and escapes line ends in texts, so each pattern fits in one place at most.
_OUTCOME = re.compile(rb'\n "outcome": "([a-z-]+)"')
_FILES = re.compile(rb'\n "files": (\{\}|\{\n.*?\n \})', re.DOTALL)


class Verified:
    """The digests that the study's file holds, and those of the cells that were found right since."""

    def __init__(self, root: Path) -> None:
        self._root, self._cells = root, str(root / CELLS)
        try:
            data = (root / DERIVED / VERIFIED).read_bytes()
        except OSError:
            data = b""
        self._known = {data[i : i + _BYTES] for i in range(0, len(data), _BYTES)}
        self._stored = frozenset(self._known)
        self._seen: set[bytes] = set()

    def content(self, cell_id: str) -> tuple[bytes, dict[str, bytes]] | None:
        """Return `cell.json` and the files it names if every byte is as when it was checked in full; else None."""
        try:
            descriptor = os.open(f"{self._cells}/{cell_id[:2]}/{cell_id}", os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return None
        try:
            data = read_in(descriptor, CELL_FILE)
            if (mark := _mark(cell_id, data)) not in self._known or (files := _files(descriptor, data)) is None:
                return None
        except OSError:
            return None
        finally:
            os.close(descriptor)
        self._seen.add(mark)
        return data, files

    def add(self, cell_id: str, data: bytes) -> None:
        mark = _mark(cell_id, data)
        self._known.add(mark)
        self._seen.add(mark)

    def outcome(self, cell_id: str) -> str | None:
        """Return the outcome of a cell whose every byte is as it was when it was checked in full; else None."""
        content = self.content(cell_id)
        outcome = _OUTCOME.search(content[0]) if content else None
        return outcome[1].decode() if outcome else None

    def save(self) -> None:
        """Keep the digests of the cells seen, if there are new ones; a study that cannot be written is left alone."""
        if self._seen <= self._stored or len(self._seen) < LEAST_CELLS:
            return
        with suppress(OSError):
            make_folder(self._root / DERIVED)
            replace_file(self._root / DERIVED / VERIFIED, b"".join(sorted(self._seen)))
            self._stored = frozenset(self._seen)


def _mark(cell_id: str, data: bytes) -> bytes:
    return hashlib.sha256(_TAG + cell_id.encode() + b"\0" + data).digest()


def _files(descriptor: int, data: bytes) -> dict[str, bytes] | None:
    """Return the files beside a `cell.json`, or None if one changed."""
    listed = _FILES.search(data)
    digests = json.loads(listed[1]) if listed else {}
    files = {name: read_in(descriptor, name) for name in digests}
    same = all(hashlib.sha256(files[name]).hexdigest() == sha256 for name, sha256 in digests.items())
    return files if listed and same else None
