"""The AAC paper as data: every table and figure with its printed numbers, the runs that replay it, and its claims."""

from aacbench.protocols.paper.reader import read_paper
from aacbench.protocols.paper.records import Claim, Exhibit, Paper, PaperGraph, PaperRun, Printed, Reason, SeedRecord
from aacbench.protocols.paper.replays import Replay, folder_name, replays

__all__ = [
    "Claim",
    "Exhibit",
    "Paper",
    "PaperGraph",
    "PaperRun",
    "Printed",
    "Reason",
    "Replay",
    "SeedRecord",
    "folder_name",
    "read_paper",
    "replays",
]
