"""aacbench: a benchmark harness for A* heuristics at matched memory."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aacbench.version import VERSION as __version__

if TYPE_CHECKING:
    from aacbench.library.building import build
    from aacbench.library.encoding import train_encoder
    from aacbench.library.graphs import as_graph
    from aacbench.library.heuristic import load_bundle
    from aacbench.library.study import open_study
    from aacbench.library.study_runs import run_study

__all__ = ["__version__", "as_graph", "build", "load_bundle", "open_study", "run_study", "train_encoder"]

# Imported on demand: the command must start without numpy and numba.
_PLACES = {
    "as_graph": "graphs",
    "build": "building",
    "load_bundle": "heuristic",
    "open_study": "study",
    "run_study": "study_runs",
    "train_encoder": "encoding",
}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(f"aacbench.library.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
