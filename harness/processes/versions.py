"""What decides the rows that a machine computes: the code of aacbench, and the versions of what it computes with."""

import hashlib
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from aacbench.version import VERSION

LIBRARIES = ("numba", "numpy", "scipy", "torch")
_PACKAGES = ("aacbench", "aacbench.plugins")
_ELSEWHERE = {"cli", "library", "plugins", "prereg", "protocols", "reports", "testing"}  # no worker runs their code


@cache
def versions() -> Mapping[str, str]:
    """Each by name; nothing is imported for it."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    ours = {"aacbench": f"{VERSION} (code {code_digest()[:12]})", "Python": python}
    return ours | {name: _installed(name) for name in LIBRARIES}


def code_digest() -> str:
    """The sha256 of the code that a worker runs, the same for an installed package and for a checkout."""
    total = hashlib.sha256()
    for package in _PACKAGES:
        spec = find_spec(package)
        assert spec is not None
        assert spec.submodule_search_locations
        root = Path(spec.submodule_search_locations[0])
        named = {path.relative_to(root).as_posix(): path for kind in ("py", "toml") for path in root.rglob(f"*.{kind}")}
        for name in sorted(named):
            if package == "aacbench" and name.partition("/")[0] in _ELSEWHERE:
                continue
            total.update(f"{package}/{name}\0".encode() + hashlib.sha256(named[name].read_bytes()).digest())
    return total.hexdigest()


def difference(wanted: Mapping[str, str], found: Mapping[str, str]) -> str:
    """In what two machines differ, in words; empty where they agree."""
    differing = [name for name in wanted if wanted[name] != found.get(name)]
    return "; ".join(f"{name} is {found.get(name, 'missing')} there and {wanted[name]} here" for name in differing)


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
