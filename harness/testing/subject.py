"""A method under test: what it fits, and its heuristics as built on the zoo, each built once."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from aacbench.bundle.deploy import Deployed, deploy
from aacbench.bundle.inventory import Inventory, inventory
from aacbench.contract.budget import MEASURED, PAPER, Budget, Convention
from aacbench.contract.method import Heuristic, Method, Params, Unsupported
from aacbench.contract.parameters import problem_with
from aacbench.errors import NotFiniteError, UsageError
from aacbench.graphs.record import Array, Graph
from aacbench.run.loaded_graph import LoadedGraph, build_context
from aacbench.testing.bound_table import Asked, ask
from aacbench.testing.graph_case import Place, Pools
from aacbench.testing.outcomes import BrokenError, HeldUpError, NotBuiltError, NotSupportedError, told

BUDGETS = (8.0, 32.0)
SEED = 1


@dataclass(frozen=True, eq=False)
class Built:
    """A heuristic with all that was measured of it."""

    place: Place
    loaded: LoadedGraph
    budget: float
    heuristic: Heuristic
    deployed: Deployed
    counted: Inventory

    @cached_property
    def asked(self) -> Asked:
        """All that the heuristic answers."""
        graph = self.place.graph
        return ask(self.deployed.many, graph.vertices, integral=graph.integral)

    @property
    def table(self) -> Array:
        """h(u, t) at [u, t], for every pair."""
        return self.asked.table

    def hold_up(self) -> None:
        """Stop a check that needs numbers where one is none; the check it is the business of says more."""
        joined = self.place.exact >= 0
        for among, check in ((joined, "numbers"), (~joined, "unreachable")):
            for u, t in np.argwhere(self.asked.odd & among):
                raise HeldUpError(check, self.asked.sentence(u, t))

    @cached_property
    def digest(self) -> str:
        """The digest of every array's name, type and bytes, and of h on all pairs, which settings may change too."""
        found = hashlib.sha256(repr([(entry.name, entry.sha256) for entry in self.counted.arrays]).encode())
        found.update(np.ascontiguousarray(self.table, dtype=np.float64).tobytes())
        return found.hexdigest()


@dataclass(frozen=True, eq=False, kw_only=True)
class Subject:
    """A method, the settings to check it with, and how another process finds it."""

    method: Method
    budgets: tuple[float, ...] = BUDGETS
    settings: Mapping[str, Any] = field(default_factory=dict)
    locate: Callable[[], Method] | None = None
    graphs: tuple[Graph, ...] = ()
    places: dict[str, Place] = field(default_factory=dict)
    known: dict[tuple[str, float, int], Built | Exception] = field(default_factory=dict)
    elsewhere: dict[tuple[str, float], str] = field(default_factory=dict)
    from_bundles: dict[tuple[str, float], Array | str] = field(default_factory=dict)

    def place(self, graph: Graph) -> Place:
        """The graph with what is true of it, computed once."""
        return self.places.setdefault(graph.digest, Place(graph))

    def params(self) -> Params:
        """The declared defaults with the settings asked for."""
        unknown = set(self.settings) - set(self.method.parameters)
        if unknown:
            raise UsageError(f"method {self.method.name!r} has no parameter {min(unknown)!r}.")
        for name, value in self.settings.items():
            wrong = problem_with(self.method.parameters[name], value)
            if wrong:
                raise UsageError(f"parameter {name!r} of method {self.method.name!r} takes {wrong}, not {value!r}.")
        defaults = {name: parameter.default for name, parameter in self.method.parameters.items()}
        return {**defaults, **self.settings}

    def fitted(self, graph: Graph, budget: float, convention: Convention = MEASURED) -> Params | Unsupported:
        """What `fit` answers."""
        return self.method.fit(Budget(budget, convention), self.place(graph).info, self.params())

    def built(self, graph: Graph, budget: float, seed: int = SEED) -> Built:
        """The heuristic at a budget, built where it was not yet."""
        key = graph.digest, budget, seed
        if key not in self.known:
            try:
                self.known[key] = self.build(graph, budget, seed)
            except NotSupportedError as refusal:
                self.known[key] = refusal
            except NotFiniteError as error:  # it was built, and asked for a first bound
                self.known[key] = HeldUpError("numbers", told(error).rstrip("."))
            except (Exception, SystemExit) as error:
                self.known[key] = NotBuiltError(told(error))
        found = self.known[key]
        if isinstance(found, Exception):
            raise found
        return found

    def besides(self, graph: Graph, budget: float, seed: int = SEED) -> Built:
        """The heuristic at any budget and seed; what `builds` and `numbers` do not look at is broken here."""
        try:
            return self.built(graph, budget, seed)
        except (NotBuiltError, HeldUpError) as error:
            if seed == SEED and budget in self.budgets:
                raise
            raise BrokenError(f"at {budget:g} bytes a vertex, with the seed {seed}: {error}") from error

    def build(self, graph: Graph, budget: float, seed: int = SEED) -> Built:
        """Build anew, on a copy of the graph."""
        place = self.place(graph)
        params = self.fitted(graph, budget)
        if isinstance(params, Unsupported):
            raise NotSupportedError(params.reason)
        return build_on(place, self.method, params, budget, seed)

    def each(self, graph: Graph) -> Iterator[Built]:
        """The heuristics at every budget that is supported, as long as all their bounds are numbers."""
        for built in self.every(graph):
            built.hold_up()
            yield built

    def every(self, graph: Graph) -> Iterator[Built]:
        """The heuristics at every budget that is supported; none at all is `NotSupportedError`."""
        refusal = None
        count = 0
        for budget in self.budgets:
            try:
                yield self.built(graph, budget)
                count += 1
            except NotSupportedError as error:
                refusal = error
        if refusal is not None and not count:
            raise refusal

    def as_in_the_paper(self, graph: Graph) -> Iterator[Built]:
        """The heuristics on float weights as the paper's convention fits them, where that is another way."""
        for budget in () if graph.integral else self.budgets:
            params = self.fitted(graph, budget, PAPER)
            if not isinstance(params, Unsupported) and params != self.fitted(graph, budget):
                yield build_on(self.place(graph), self.method, params, budget, SEED)


def build_on(place: Place, method: Method, params: Params, budget: float, seed: int) -> Built:
    """Build on a copy of the graph; what is built is deployed and measured on one that nobody could change."""
    loaded = place.loaded()
    heuristic = method.build(build_context(loaded, method, params, seed, Pools(loaded.net)))
    counted = inventory(heuristic, place.graph.vertices)
    return Built(place, loaded, budget, heuristic, deploy(heuristic, place.net), counted)
