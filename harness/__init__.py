"""aacbench: a benchmark harness for A* heuristics at matched memory."""

from typing import TYPE_CHECKING, Any

from aacbench.version import VERSION as __version__

if TYPE_CHECKING:
    from aacbench.bundle.loaded import load_bundle

__all__ = ["__version__", "load_bundle"]


def __getattr__(name: str) -> Any:
    # Imported on demand: the command must start without numba.
    if name == "load_bundle":
        from aacbench.bundle.loaded import load_bundle

        return load_bundle
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
