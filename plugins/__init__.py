"""The names that plugin authors import. Importing them is cheap: declaring a plugin needs no numpy, numba or torch."""

from aacbench.contract.budget import Budget, GraphInfo
from aacbench.contract.composite import read_part
from aacbench.contract.encoder import Encoder, EncoderClaims, MapSource, Model, TrainContext, TrainMaps
from aacbench.contract.families import MapFamily, MapsContext
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
    Scratch,
    Unsupported,
)
from aacbench.plugins.hookspecs import hookimpl
from aacbench.plugins.records import (
    GraphSource,
    ProtocolFile,
    Report,
    Section,
    SectionFigure,
    SectionTable,
    StudyTables,
)

__all__ = [
    "BatchHeuristic",
    "Budget",
    "BuildContext",
    "Claims",
    "Encoder",
    "EncoderClaims",
    "GoalSearch",
    "GraphInfo",
    "GraphSource",
    "LabelHeuristic",
    "MapFamily",
    "MapSource",
    "MapsContext",
    "MaxHeuristic",
    "Method",
    "Model",
    "Parameter",
    "Params",
    "Part",
    "ProtocolFile",
    "Report",
    "ScalarHeuristic",
    "Scratch",
    "Section",
    "SectionFigure",
    "SectionTable",
    "StudyTables",
    "TrainContext",
    "TrainMaps",
    "Unsupported",
    "hookimpl",
    "read_part",
]
