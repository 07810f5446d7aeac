"""The contract between aacbench and a heuristic method: frozen records and plain functions, nothing to inherit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # a plugin is declared in microseconds: nothing heavy is imported until a method builds
    import numpy as np
    import numpy.typing as npt

    from aacbench.contract.budget import Budget, GraphInfo
    from aacbench.graphs.record import Graph
    from aacbench.labels.pool import Pool
    from aacbench.queries.record import QuerySet
    from aacbench.search.networks import Network

    Array = npt.NDArray[np.generic]

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Claims:
    """What a method promises; each promise is checked, none is believed."""

    admissible: bool = True
    consistent: bool = True
    directed: bool = True  # builds on graphs that are not symmetric
    deterministic: bool = True  # the seed changes nothing
    oracle: bool = False  # is shown the test queries, and so can never be deployed
    matched: bool = True  # deploys no more than its budget; one that does by design stays out of matched comparisons


@dataclass(frozen=True, slots=True)
class Parameter:
    """A setting a user may change. Its type is that of its default."""

    default: bool | int | float | str
    help: str = ""
    choices: tuple[bool | int | float | str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The answer of a method that cannot do what is asked, with the reason in one sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Part:
    """A method that another one is made of, with its settings and its share of the budget."""

    method: str
    params: Params = field(default_factory=dict)
    share: float = 1.0


class PoolService(Protocol):
    """Landmark pools, computed once per graph for all methods; each is charged the time its pool took."""

    def farthest(self, count: int, start: int | None = None) -> "Pool":
        """The first `count` farthest-point landmarks from `start`, by default the component's lowest vertex."""
        ...

    def selected(self, selector: str, count: int, seed: int = 0) -> "Pool":
        """`count` landmarks by one of the `SELECTORS`, or all vertices of a component that has fewer."""
        ...

    def of(self, landmarks: "npt.ArrayLike") -> "Pool":
        """The pool of given landmarks."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildContext:
    """All a method gets to build a heuristic. Test queries are not in it, except for a method that claims `oracle`.

    `parts` are the heuristics of the methods it is made of, built already, in the order of `made_of`.
    """

    network: "Network"
    params: Params
    seed: int
    train: "QuerySet"
    validation: "QuerySet"
    pools: PoolService
    progress: Callable[[str], None] = field(default=lambda _: None)
    oracle_queries: "QuerySet | None" = None
    parts: "tuple[Heuristic, ...]" = ()

    @property
    def graph(self) -> "Graph":
        """The graph, read-only."""
        return self.network.graph


@dataclass(frozen=True, slots=True)
class GoalSearch:
    """What a heuristic does once a query, before it is asked for a bound: look at the goal, and around it.

    `memo` numbers of scratch, all zero, are given to `start(labels, memo, t)`. Then a Dijkstra search leaves the goal
    and calls `visit(labels, memo, x, distance, towards)` for each vertex x it settles, nearest first, until that
    returns True or nothing is left: first with d(x, t), where `towards` is True; and on a graph that is not symmetric
    with d(t, x) after that. `distances` names the one that is wanted, `to` or `from` the goal. Every vertex settled
    counts as an expansion; without a `visit` there is no search. All are `@njit` functions at the top of a module.
    """

    start: Callable[..., Any]
    visit: Callable[..., Any] | None = None
    memo: int = 0
    distances: str = "both"


@dataclass(frozen=True, slots=True)
class LabelHeuristic:
    """Arrays and a compiled kernel: full speed, memory measured, rebuilt from the arrays alone.

    `kernel` is the name of a built-in one (`differential`) or an `@njit` function of (labels, u, t) at the top of an
    importable module. `settings` are the few numbers the kernel needs besides: eight bytes each, of which the first
    64 are not held against a budget. Every array is indexed by the graph's own vertex numbers. The same bound may be
    given as `many` or `h` too, as below; then they must agree exactly. With a `goal`, the kernel is a function of
    (labels, memo, u, t) and finds in `memo` what the goal's search left there. `facts` are numbers about how it was
    built, for the cell's record; they are not deployed.
    """

    arrays: Mapping[str, "Array"]
    kernel: "str | Callable[..., Any]"
    settings: Mapping[str, int | float] = field(default_factory=dict)
    many: "Callable[[Mapping[str, Array], Array, int], Array] | None" = None
    h: Callable[[int, int], float] | None = None
    goal: GoalSearch | None = None
    facts: Mapping[str, int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BatchHeuristic:
    """Arrays and a NumPy function `many(arrays, us, t)` at the top of an importable module; `h` must agree with it."""

    arrays: Mapping[str, "Array"]
    many: "Callable[[Mapping[str, Array], Array, int], Array]"
    h: Callable[[int, int], float] | None = None


@dataclass(frozen=True, slots=True)
class ScalarHeuristic:
    """Any callable `h(u, t)`. Its memory is what it declares, so it is kept out of matched-memory comparisons."""

    h: Callable[[int, int], float]
    declared_bytes_per_vertex: float = 0.0


@dataclass(frozen=True, slots=True)
class MaxHeuristic:
    """The largest bound of several heuristics: admissible where they are, consistent where they are.

    It is searched at the speed of its slowest part, and deploys the arrays of all of them.
    """

    parts: "tuple[Heuristic, ...]"


Heuristic = LabelHeuristic | BatchHeuristic | ScalarHeuristic | MaxHeuristic


def as_the_study_says(params: Params) -> Mapping[str, bool | str]:
    """No preference for any switch of the search."""
    return {}


def nothing_against(params: Params) -> str:
    """No objection to any settings that the parameters take one by one."""
    return ""


@dataclass(frozen=True, slots=True)
class Method:
    """A heuristic method: how much of it fits a budget, and how to build it.

    `made_of` says which other methods it is built from, given its parameters. They are fitted to their shares and built
    before it, its claims hold only as far as theirs, and `params["parts"]` has what each of them was built with.

    `search(params)` names the switches of the search (`tie`, `reopen`, `bpmx`) that the method is to be searched with
    unless a user sets them: `{"bpmx": True}`. A method that does not claim to be consistent is searched with
    reopening in any case.

    `check(params)` is for what a `Parameter` cannot say, such as that one setting is within another: empty where the
    settings are well, else what is wrong in one sentence. It is asked before anything is planned or written.
    """

    name: str
    summary: str
    fit: "Callable[[Budget, GraphInfo, Params], Params | Unsupported]"
    build: Callable[[BuildContext], Heuristic]
    claims: Claims = Claims()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    made_of: Callable[[Params], tuple[Part, ...]] | None = None
    search: Callable[[Params], Mapping[str, bool | str]] = as_the_study_says
    check: Callable[[Params], str] = nothing_against
