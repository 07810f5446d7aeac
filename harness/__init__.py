"""aacbench: a benchmark harness for A* heuristics at matched memory."""

from aacbench.version import VERSION as __version__

__all__ = ["__version__"]
