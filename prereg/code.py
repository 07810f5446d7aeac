"""The digest of the code that a study is run with: every source file of aacbench, wherever it is installed."""

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

BESIDE = ("plugins", "protocols", "prereg", "reports")
KINDS = (".py",)  # data files are told by their own digests, and registrations may lie among them


@cache
def tree_digest() -> str:
    """The sha256 of the names and contents of all source files, the same for a clone and for an installed copy."""
    files = {}
    for name in ("aacbench", *(f"aacbench.{part}" for part in BESIDE)):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        home = Path(spec.origin).resolve().parent
        for file in home.rglob("*"):
            if file.suffix in KINDS and file.is_file():
                files["/".join([*name.split(".")[1:], *file.relative_to(home).parts])] = file
    total = hashlib.sha256()
    for name in sorted(files):
        content = files[name].read_bytes()
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()
