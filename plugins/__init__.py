"""What the author of a plugin imports. Nothing heavy: a plugin is declared in microseconds and computes later."""

from aacbench.memory.conventions import Budget, GraphInfo
from aacbench.method import (
    BatchHeuristic,
    BuildContext,
    Claims,
    GoalSearch,
    LabelHeuristic,
    Method,
    Parameter,
    Params,
    ScalarHeuristic,
    Unsupported,
)
from aacbench.plugins.hookspecs import hookimpl
from aacbench.plugins.records import GraphSource, ProtocolFile, Report

__all__ = [
    "BatchHeuristic",
    "Budget",
    "BuildContext",
    "Claims",
    "GoalSearch",
    "GraphInfo",
    "GraphSource",
    "LabelHeuristic",
    "Method",
    "Parameter",
    "Params",
    "ProtocolFile",
    "Report",
    "ScalarHeuristic",
    "Unsupported",
    "hookimpl",
]
