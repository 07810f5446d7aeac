"""Graphs: the record, readers of the usual formats, generators, and a catalogue of data sets."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aacbench.graphs.readers.npz import save_graph
    from aacbench.graphs.record import Graph, from_arcs

__all__ = ["Graph", "from_arcs", "save_graph"]


def __getattr__(name: str) -> Any:
    # Imported on demand: looking up names of graphs must not import NumPy.
    if name == "save_graph":
        from aacbench.graphs.readers.npz import save_graph

        return save_graph
    if name in __all__:
        from aacbench.graphs import record

        return getattr(record, name)
    raise AttributeError(name)
