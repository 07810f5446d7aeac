"""A bundle ready to answer queries: what an engineer deploys."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy.typing as npt

from aacbench.bundle import store
from aacbench.bundle.deploy import Deployed, deploy
from aacbench.bundle.inventory import inventory
from aacbench.contract.method import Heuristic
from aacbench.errors import BundleError
from aacbench.graphs.record import Graph
from aacbench.search import Answers, Network, search
from aacbench.search.networks import stored_network


@dataclass(frozen=True, slots=True)
class Route:
    """A shortest path: its cost, and its vertices from source to target."""

    cost: int | float
    vertices: list[int]


@dataclass(frozen=True, eq=False)
class LoadedBundle:
    """A heuristic on its graph."""

    bundle: store.Bundle
    network: Network
    heuristic: Heuristic

    @property
    def info(self) -> Mapping[str, Any]:
        """Where the heuristic comes from: method, settings, budget, seed, claims, cost of the build."""
        return self.bundle.info

    @property
    def bytes_per_vertex(self) -> float:
        """The bytes that are deployed, divided by the number of vertices."""
        return inventory(self.heuristic, self.network.graph.vertices, self.bundle.array_digests).bytes_per_vertex

    def search(
        self, sources: npt.ArrayLike, targets: npt.ArrayLike, policy: str | None = None, *, threads: int = 1
    ) -> Answers:
        """A* from each source to its target; `policy` is by default the one the heuristic was measured with."""
        return search(self.network, self._deployed.searched, sources, targets, policy or self._policy, threads=threads)

    def route(self, source: int, target: int) -> Route | None:
        """The shortest path between two vertices, or None where there is none."""
        found = search(self.network, self._deployed.searched, [source], [target], self._policy, paths=True)
        assert found.paths is not None
        return None if found.cost[0] < 0 else Route(found.cost[0].item(), found.paths[0].tolist())

    def bound(self, source: int, target: int) -> int | float:
        """The heuristic's lower bound on the distance between two vertices."""
        value: int | float = self._deployed.many([source], target)[0].item()
        return value

    @cached_property
    def _deployed(self) -> Deployed:
        return deploy(self.heuristic, self.network)

    @property
    def _policy(self) -> str:
        return str(self.info.get("policy", "modern"))


def load_bundle(folder: str | Path, graph: Graph | None = None) -> LoadedBundle:
    """The bundle in a folder, on its graph: the one given, or the one of that name.

    A plugin's own code is in the bundle and is run, so load only bundles you trust.
    """
    bundle = store.open_bundle(Path(folder))
    if graph is None:
        from aacbench.graphs.load import load

        graph = load(bundle.info.get("graph", ""))
    if graph.digest != bundle.content["graph"]:
        raise BundleError(f"The bundle in {folder} was built on another graph: digest {bundle.content['graph'][:12]}.")
    return LoadedBundle(bundle, stored_network(graph), store.load(bundle))
