"""Memory: accounting conventions, the bytes a heuristic really deploys, and its rebuilding from them alone."""

from aacbench.memory.conventions import CONVENTIONS, MEASURED, PAPER, Budget, Convention, GraphInfo, convention

__all__ = ["CONVENTIONS", "MEASURED", "PAPER", "Budget", "Convention", "GraphInfo", "convention"]
