"""A heuristic on its graph, as `build` and `load_bundle` return it: its arrays, its bounds, and searches with it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aacbench.bundle import store
from aacbench.bundle.arrays import arrays_of, read_only
from aacbench.bundle.deploy import Deployed, deploy
from aacbench.bundle.inventory import Inventory, inventory
from aacbench.contract.method import Claims, Heuristic, Params
from aacbench.errors import BundleError, UsageError
from aacbench.graphs.record import Array, Graph
from aacbench.run.audit import Audit, Counterexample, audit_bounds
from aacbench.run.records import ATLAS
from aacbench.search import Answers, Network, search
from aacbench.search.batch import checked_vertices
from aacbench.search.networks import stored_network

MOST_TARGETS = 64  # that are checked unless told; all of them on a small graph


@dataclass(frozen=True, slots=True)
class Route:
    """A shortest path: its cost, and its vertices from source to target."""

    cost: int | float
    vertices: list[int]


@dataclass(frozen=True, eq=False)
class GraphHeuristic:
    """A heuristic on its graph: `h(u, t)` is its lower bound on the distance from u to t.

    `info` says where it comes from: method, settings, budget, seed, claims, cost of the build.
    """

    heuristic: Heuristic
    network: Network
    info: Mapping[str, Any]
    array_digests: Mapping[str, str] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        label, arrays = self.info.get("label", "heuristic"), ", ".join(self.arrays) or "no arrays"
        return f"{label} on {self.graph.name or 'a graph'}: {self.bytes_per_vertex:.6g} bytes per vertex in {arrays}"

    def __call__(self, u: int, t: int) -> int | float:
        """The lower bound on the distance from u to t."""
        value: int | float = self.many([u], t)[0].item()
        return value

    bound = __call__

    def many(self, us: npt.ArrayLike, t: int) -> Array:
        """The lower bounds from many vertices to t, as an array."""
        return self._deployed.many(us, t)

    @property
    def graph(self) -> Graph:
        """The graph that it was built on."""
        return self.network.graph

    @property
    def arrays(self) -> Mapping[str, Array]:
        """The deployed arrays by name, read-only; those of a maximum as `a.rows`, `b.rows`."""
        return read_only(arrays_of(self.heuristic))

    @property
    def params(self) -> Params:
        """The method's settings as they were fitted to the budget."""
        return self.info.get("params", {})

    @property
    def claims(self) -> Claims:
        """What its method promises."""
        return Claims(**self.info.get("claims", {}))

    @property
    def bytes_per_vertex(self) -> float:
        """The bytes that are deployed, divided by the number of vertices."""
        return self.inventory.bytes_per_vertex

    @cached_property
    def inventory(self) -> Inventory:
        """The bytes of each array and of the settings."""
        return inventory(self.heuristic, self.graph.vertices, self.array_digests)

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

    def check(self, targets: Iterable[int] | None = None) -> Audit:
        """Compare the bounds of every vertex and arc with exact distances, for these targets.

        Without targets, for every vertex of a graph with up to 64, and else for 64 vertices drawn with a fixed seed.
        """
        return audit_bounds(self.network, self._deployed.many, self._targets(targets))

    def counterexample(self, targets: Iterable[int] | None = None) -> Counterexample | None:
        """The smallest case in which a bound breaks a claim of its method, or None where `check` finds none."""
        claims = self.claims
        cases = self.check(targets).counterexamples
        return next((case for case in cases if getattr(claims, case.claim)), None)

    def _targets(self, targets: Iterable[int] | None) -> Array:
        if targets is not None:
            return checked_vertices(self.network, list(targets))
        count = min(MOST_TARGETS, self.graph.vertices)
        return np.sort(np.random.default_rng(0).choice(self.graph.vertices, count, replace=False))

    @cached_property
    def _deployed(self) -> Deployed:
        return deploy(self.heuristic, self.network)

    @property
    def _policy(self) -> str:
        return str(self.info.get("policy", "modern"))


def load_bundle(folder: str | Path, graph: Graph | str | None = None) -> GraphHeuristic:
    """The bundle in a folder, on its graph: the one given, itself or by name, or the one it names.

    A plugin's own code is in the bundle and is run, so load only bundles you trust.
    """
    return loaded(store.open_bundle(Path(folder)), graph)


def loaded(bundle: store.Bundle, graph: Graph | str | None = None) -> GraphHeuristic:
    """A bundle on its graph; a graph that it was not built on is refused."""
    from aacbench.graphs.load import load

    if graph is None:
        name, file = (bundle.info.get(key, "") for key in ("graph", "graph_file"))
        if file.startswith(ATLAS):
            raise UsageError(f"{name} are maps with predicted costs; give the graph that atlas makes of costs.npy.")
        graph = f"{name}={file}" if file else name
    if isinstance(graph, str):
        graph = load(graph)
    if graph.digest != bundle.content["graph"]:
        told = bundle.content["graph"][:12]
        raise BundleError(f"The bundle in {bundle.folder} was built on another graph: digest {told}.")
    return GraphHeuristic(store.load(bundle), stored_network(graph), bundle.info, bundle.array_digests)
