"""What the author of a plugin imports. Nothing heavy: a plugin is declared in microseconds and computes later."""

from aacbench.contract.budget import Budget, GraphInfo
from aacbench.contract.composite import read_part
from aacbench.contract.method import (
    BatchHeuristic,
    BuildContext,
    Claims,
    GoalSearch,
    LabelHeuristic,
    MaxHeuristic,
    Method,
    Parameter,
    Params,
    Part,
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
    "MaxHeuristic",
    "Method",
    "Parameter",
    "Params",
    "Part",
    "ProtocolFile",
    "Report",
    "ScalarHeuristic",
    "Unsupported",
    "hookimpl",
    "read_part",
]
