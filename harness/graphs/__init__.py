"""Graphs: the frozen record, its readers, generators and the catalogue of named data sets."""

from aacbench.graphs.record import Graph, from_arcs

__all__ = ["Graph", "from_arcs"]
