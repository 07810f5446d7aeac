"""A method under test: what it fits, and its heuristics as built on the zoo, each built once."""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
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
from aacbench.run.artifacts import Artifacts
from aacbench.run.fitting import checked_refusal
from aacbench.run.loaded_graph import LoadedGraph, build_context
from aacbench.run.shared import Pools
from aacbench.testing.graph_case import GraphCase
from aacbench.util.text import describe

BUDGETS = (8.0, 32.0)
SEED = 1
_MOST = 2**62  # a search on whole numbers can still add an arc to this


class BrokenError(Exception):
    """The check does not hold; the message says what was seen, in one sentence."""


class NotSupportedError(Exception):
    """The method's `fit` or `build` refuses the graph; the message is its reason."""


class NotBuiltError(Exception):
    """There is no heuristic to check on this graph; the check `builds` says why."""


class BlockedError(Exception):
    """The check cannot run on this graph, because of a defect that another check reports."""

    def __init__(self, check: str, sentence: str) -> None:
        super().__init__(sentence)
        self.check = check


class NothingToDoError(Exception):
    """The graph or the heuristic has nothing for this check to compare."""


class NotPossibleError(Exception):
    """The check cannot run at all; the message says why."""


def number(value: Any) -> str:
    """A number as a person writes it."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else f"{float(value)!r}"


@dataclass(frozen=True, eq=False, slots=True)
class BoundTable:
    """h(u, t) at [u, t]; `invalid` marks bounds that no search can use, `errors` says what was raised for a pair."""

    table: Array
    invalid: Array
    errors: Mapping[tuple[int, int], str]

    def sentence(self, u: int, t: int) -> str:
        """What is wrong with an invalid bound."""
        return self.errors.get((u, t)) or f"h({u}, {t}) = {number(self.table[u, t])} is not a finite number below 2^62"


def bound_table(many: Callable[[Array, int], Array], vertices: int, *, integral: bool) -> BoundTable:
    """Compute every bound; where a batch raises, ask for its vertices one by one to find which of them raise."""
    errors: dict[tuple[int, int], str] = {}
    table = np.stack([_column(many, vertices, t, errors) for t in range(vertices)], axis=1)
    invalid = ~np.isfinite(table) | (integral & ~(np.abs(table.astype(np.float64)) < _MOST))
    return BoundTable(table, invalid, errors)


def _column(many: Callable[[Array, int], Array], vertices: int, t: int, errors: dict[tuple[int, int], str]) -> Array:
    try:
        return many(np.arange(vertices), t)
    except (Exception, SystemExit) as error:  # a plugin may raise anything; Ctrl-C is the user's
        batch_error = describe(error)
    column = np.full(vertices, np.nan)
    for u in range(vertices):
        try:
            column[u] = many(np.array([u]), t)[0]
        except (Exception, SystemExit) as error:
            errors[u, t] = describe(error)
    if np.isfinite(column).all():  # only the batch raises
        column[t], errors[t, t] = np.nan, batch_error
    return column


@dataclass(frozen=True, eq=False)
class Built:
    """A heuristic with everything measured about it."""

    case: GraphCase
    loaded: LoadedGraph
    budget: float
    heuristic: Heuristic
    deployed: Deployed
    memory: Inventory

    @cached_property
    def bounds(self) -> BoundTable:
        """All bounds of the heuristic, invalid ones marked."""
        graph = self.case.graph
        return bound_table(self.deployed.many, graph.vertices, integral=graph.integral)

    @property
    def table(self) -> Array:
        """h(u, t) at [u, t], for every pair."""
        return self.bounds.table

    def require_numbers(self) -> None:
        """Raise `BlockedError` if a bound is no number, naming the check that reports it."""
        joined = self.case.exact >= 0
        for among, check in ((joined, "numbers"), (~joined, "unreachable")):
            for u, t in np.argwhere(self.bounds.invalid & among):
                raise BlockedError(check, self.bounds.sentence(u, t))

    @cached_property
    def digest(self) -> str:
        """The digest of every array's name, type and bytes, and of all bounds, which settings may change too."""
        total = hashlib.sha256(repr([(entry.name, entry.sha256) for entry in self.memory.arrays]).encode())
        total.update(np.ascontiguousarray(self.table, dtype=np.float64).tobytes())
        return total.hexdigest()


@dataclass(frozen=True, eq=False, kw_only=True)
class Subject:
    """A method, the settings and graphs to check it with, and how another process finds it."""

    method: Method
    budgets: tuple[float, ...] = BUDGETS
    settings: Mapping[str, Any] = field(default_factory=dict)
    locate: Callable[[], Method] | None = None
    graphs: tuple[Graph, ...] = ()
    _cases: dict[str, GraphCase] = field(default_factory=dict)
    _built: dict[tuple[str, float, int], Built | Exception] = field(default_factory=dict)
    process_digests: dict[tuple[str, float], str] = field(default_factory=dict)
    bundle_bounds: dict[tuple[str, float], Array | str] = field(default_factory=dict)

    def case(self, graph: Graph) -> GraphCase:
        """The graph with its true distances, computed once."""
        return self._cases.setdefault(graph.digest, GraphCase(graph))

    def params(self) -> Params:
        """The declared defaults, overridden by the settings; raise `UsageError` for a wrong setting."""
        unknown = set(self.settings) - set(self.method.parameters)
        if unknown:
            raise UsageError(f"Method {self.method.name!r} has no parameter {min(unknown)!r}.")
        for name, value in self.settings.items():
            wanted = problem_with(self.method.parameters[name], value)
            if wanted:
                raise UsageError(f"Parameter {name!r} of method {self.method.name!r} takes {wanted}, not {value!r}.")
        defaults = {name: parameter.default for name, parameter in self.method.parameters.items()}
        return {**defaults, **self.settings}

    def fit(self, graph: Graph, budget: float, convention: Convention = MEASURED) -> Params | Unsupported:
        """The answer of the method's `fit`."""
        return self.method.fit(Budget(budget, convention), self.case(graph).info, self.params())

    def build(self, graph: Graph, budget: float, seed: int = SEED) -> Built:
        """The heuristic at this budget, built on the first call only."""
        key = graph.digest, budget, seed
        if key not in self._built:
            try:
                self._built[key] = self.rebuild(graph, budget, seed)
            except NotSupportedError as refusal:
                self._built[key] = refusal
            except NotFiniteError as error:  # it was built, but its first bound is no number
                self._built[key] = BlockedError("numbers", describe(error))
            except (Exception, SystemExit) as error:
                self._built[key] = NotBuiltError(describe(error))
        built = self._built[key]
        if isinstance(built, Exception):
            raise built
        return built

    def build_extra(self, graph: Graph, budget: float, seed: int = SEED) -> Built:
        """The heuristic at any budget and seed; a failure that `builds` and `numbers` cannot see is `BrokenError`."""
        try:
            return self.build(graph, budget, seed)
        except (NotBuiltError, BlockedError) as error:
            if seed == SEED and budget in self.budgets:
                raise
            raise BrokenError(f"at {budget:g} bytes per vertex, with seed {seed}: {error}") from error

    def rebuild(self, graph: Graph, budget: float, seed: int = SEED) -> Built:
        """Build again, on a new copy of the graph."""
        params = self.fit(graph, budget)
        if isinstance(params, Unsupported):
            raise NotSupportedError(params.reason)
        return build_on(self.case(graph), self.method, params, budget, seed)

    def builds(self, graph: Graph) -> Iterator[Built]:
        """The heuristics at every supported budget; raise `NotSupportedError` if there is none."""
        refusal = None
        count = 0
        for budget in self.budgets:
            try:
                yield self.build(graph, budget)
                count += 1
            except NotSupportedError as error:
                refusal = error
        if refusal is not None and not count:
            raise refusal

    def numeric_builds(self, graph: Graph) -> Iterator[Built]:
        """The same heuristics; raise `BlockedError` at the first with a bound that is no number."""
        for built in self.builds(graph):
            built.require_numbers()
            yield built

    def paper_builds(self, graph: Graph) -> Iterator[Built]:
        """On float weights, the heuristics fitted by the paper's convention, if that fits them differently."""
        for budget in () if graph.integral else self.budgets:
            params = self.fit(graph, budget, PAPER)
            if not isinstance(params, Unsupported) and params != self.fit(graph, budget):
                with suppress(NotSupportedError):
                    yield build_on(self.case(graph), self.method, params, budget, SEED)


def build_on(case: GraphCase, method: Method, params: Params, budget: float, seed: int) -> Built:
    """Build on a copy of the graph; deploy and measure on the original, which the method cannot change."""
    loaded = case.loaded()
    pools = Pools(loaded.net)
    artifacts = Artifacts(pools, loaded.net.graph.digest)
    heuristic = method.build(build_context(loaded, method, params, seed, pools, artifacts=artifacts))
    if isinstance(heuristic, Unsupported):
        raise NotSupportedError(checked_refusal(heuristic, Budget(budget), case.graph.vertices).reason)
    memory = inventory(heuristic, case.graph.vertices)
    return Built(case, loaded, budget, heuristic, deploy(heuristic, case.net), memory)
