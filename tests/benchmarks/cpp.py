"""The search loop in C++, called through ctypes with the arrays of a network and its layout."""

import ctypes
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.graphs.record import Array
from aacbench.queries.record import QuerySet
from aacbench.search import Answers, Network, Policy
from aacbench.search.astar import rules
from aacbench.search.layouts import memo_for
from aacbench.search.networks import workspace

COLUMNS = (
    "cost",
    "path_cost",
    "expanded",
    "reexpanded",
    "generated",
    "stale_pops",
    "h_calls",
    "below_optimum",
    "on_optimum",
)


@dataclass(frozen=True)
class CppSearch:
    """The compiled library; it takes integer weights and complete int32 labels only."""

    library: ctypes.CDLL

    def batch(self, net: Network, layout: Any, queries: QuerySet, policy: Policy) -> Any:
        """A call that answers the queries; it returns a table with `COLUMNS`."""
        assert net.graph.integral
        labels = layout.labels
        assert labels.complete
        work, rule = workspace(net), rules(policy)
        starts, goals = (net.place[ends].astype(np.int64) for ends in (queries.sources, queries.targets))
        found = np.zeros((len(queries), len(COLUMNS)), dtype=np.int64)
        inside = (*net.arcs[:3], net.graph.vertices, labels.rows, labels.rows.shape[1], labels.both, labels.forward)
        scratch = (memo_for(labels), work.state, work.heap, work.path, work.stamp)
        arguments = (*inside, *scratch, rule.reopen, rule.tie_g, rule.tie_sequence, len(queries), starts, goals, found)
        passed = [_passed(argument) for argument in arguments]

        def run() -> Array:
            held = arguments  # the library has only their addresses
            self.library.search_all(*passed)
            return held[-1]

        return run


def build(compiler: str, folder: Path) -> CppSearch:
    """Compile the loop for this machine."""
    target = folder / "astar.so"
    source = Path(__file__).with_name("astar.cpp")
    subprocess.run([compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", target, source], check=True)
    return CppSearch(ctypes.CDLL(str(target)))


def table(answers: Answers) -> Array:
    """Our answers with the same columns."""
    return np.stack([getattr(answers, column) for column in COLUMNS], axis=1)


def _passed(argument: Any) -> Any:
    return argument.ctypes.data_as(ctypes.c_void_p) if isinstance(argument, np.ndarray) else ctypes.c_int64(argument)
