"""The road graph that the benchmarks search: New York where its files are at hand, else a generated city."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from aacbench.graphs import fetch
from aacbench.graphs.catalogue import catalogue
from aacbench.graphs.load import load
from aacbench.labels import Pool, alt_layout, farthest_points, label_rows
from aacbench.queries.record import QuerySet
from aacbench.queries.sampling import sample
from aacbench.search import Network, network
from aacbench.search.layouts import no_labels

NEW_YORK, SUBSTITUTE = "dimacs:NY", "road-100000"


@dataclass(frozen=True, eq=False)
class Road:
    """A graph with the queries of the paper's recipe and their landmarks."""

    name: str

    @cached_property
    def net(self) -> Network:
        """The graph, ready to be searched."""
        return network(load(self.name))

    @cached_property
    def pool(self) -> Pool:
        """Sixteen landmarks; the first few of them are what a smaller number would have been."""
        return farthest_points(self.net, 16)

    @cached_property
    def queries(self) -> QuerySet:
        """Two hundred queries: the first half validates, the second half tests."""
        return sample(self.net.graph, 200)

    def layout(self, landmarks: int, net: Network | None = None) -> Any:
        """ALT with so many landmarks (none: h = 0), for this network or another numbering of it."""
        chosen = self.net if net is None else net
        if landmarks == 0:
            return no_labels(chosen)
        return alt_layout(chosen, label_rows(self.pool.first(landmarks)), landmarks)


def new_york_files() -> dict[str, Path] | None:
    """The files of New York by the reader's parameters, or None where one is missing."""
    files = catalogue()[NEW_YORK].graph_files
    found = {role: fetch.in_data_folder(file) or fetch.in_cache(file) for role, file in files.items()}
    present = {role: path for role, path in found.items() if path is not None}
    return present if len(present) == len(found) else None


def road_name() -> str:
    """The graph to use on this machine."""
    return SUBSTITUTE if new_york_files() is None else NEW_YORK
