"""The records a method is made of: claims, parameters, the build context, heuristics and the method itself."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # declaring a method must stay fast, so nothing heavy is imported at run time
    import numpy as np
    import numpy.typing as npt

    from aacbench.contract.budget import Budget, GraphInfo
    from aacbench.contract.families import MapsContext
    from aacbench.graphs.record import Graph
    from aacbench.labels.pool import Pool
    from aacbench.queries.record import QuerySet
    from aacbench.search.networks import Network

    Array = npt.NDArray[np.generic]

Params = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Claims:
    """What a method promises. aacbench checks every claim."""

    admissible: bool = True
    consistent: bool = True
    directed: bool = True  # also builds on graphs that are not symmetric
    deterministic: bool = True  # the seed changes nothing; such a method runs with one seed only
    oracle: bool = False  # sees the test queries while building, so it can never be deployed
    matched: bool = True  # stays within its budget; otherwise it is excluded from matched comparisons


@dataclass(frozen=True, slots=True)
class Parameter:
    """A setting that a user may change. A value must have the type of the default."""

    default: bool | int | float | str
    help: str = ""
    choices: tuple[bool | int | float | str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The answer of a method that cannot handle a graph, budget or setting, with the reason in one sentence.

    `fit` returns it, or `build` where only building shows it. `bytes_needed` is what the heuristic would deploy, or
    with `or_more`, where a build was stopped, what it had reached.
    """

    reason: str
    bytes_needed: int | None = None
    or_more: bool = False

    def need(self, vertices: int) -> str:
        """Return the bytes needed in words, in all and for each vertex."""
        needed = self.bytes_needed or 0
        per_vertex = math.ceil(10 * needed / vertices) / 10  # rounded up, so that a budget of so many fits
        return f"{'more than ' if self.or_more else ''}{needed} bytes ({per_vertex:.1f} B/v)"


@dataclass(frozen=True, slots=True)
class Part:
    """A method used inside another one: its name, its settings, and its share of the budget (1.0 is all of it)."""

    method: str
    params: Params = field(default_factory=dict)
    share: float = 1.0


class PoolService(Protocol):
    """Landmark pools, computed once per graph. Every method that uses a pool is charged its full computing time.

    With `at`, a pool has only the columns of these vertices; a large one is then never in memory, nor stored, as a
    whole. A method that chooses from a pool on a sample needs no more, and gets the rows it deploys from `rows`.
    """

    def farthest(self, count: int, start: int | None = None, *, at: "Array | None" = None) -> "Pool":
        """Return `count` farthest-point landmarks; the first is `start`, by default the component's lowest vertex."""
        ...

    def selected(self, selector: str, count: int, seed: int = 0, *, at: "Array | None" = None) -> "Pool":
        """Return `count` landmarks chosen by one of the `SELECTORS`, or all vertices if the component has fewer."""
        ...

    def of(self, landmarks: "npt.ArrayLike", *, at: "Array | None" = None) -> "Pool":
        """Return the pool of the given landmarks, in their order."""
        ...

    def rows(self, pool: "Pool", chosen: "npt.ArrayLike") -> "Pool":
        """Return the landmarks at these positions of a pool, with the columns of every vertex."""
        ...

    def is_large(self, count: int) -> bool:
        """Return whether so many landmarks make a pool that should be asked for at some vertices only."""
        ...


Made = Mapping[str, "Array | int | float"]


class ArtifactService(Protocol):
    """Arrays that a method makes once and uses in several cells; each of these is charged the time they took."""

    def get(self, method: str, key: Any, make: "Callable[[], Made]") -> "Made":
        """Return what `make` of this method returned for this key; call it if that is not stored."""
        ...


class NothingStored:
    """Artifacts where there is no study."""

    def get(self, method: str, key: Any, make: "Callable[[], Made]") -> "Made":
        """Return what `make` returns now."""
        return make()


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildContext:
    """Everything a method gets to build a heuristic.

    `oracle_queries` are the test queries; they are None unless the method claims `oracle`. `parts` are the finished
    heuristics of the methods named by `made_of`, in that order; a method that chooses among them has `alternatives`
    instead, each built anew whenever it is asked for. `progress(text)` shows a line to the user. `method` is the name
    of the method that builds.
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
    alternatives: "Sequence[Heuristic | Unsupported]" = ()
    method: str = ""
    artifacts: ArtifactService = field(default_factory=NothingStored)

    @property
    def graph(self) -> "Graph":
        """The graph; its arrays are read-only."""
        return self.network.graph

    def artifact(self, key: Any, make: "Callable[[], Made]") -> "Made":
        """Return the arrays and numbers, by name, that `make()` returns; in a study, it is called once for each key.

        The key is text, a number, or a list or dict of these: all that `make` uses besides the graph and the method's
        own source, such as parameters and the seed. Arrays come back read-only.
        """
        return self.artifacts.get(self.method, key, make)


@dataclass(frozen=True, slots=True)
class Scratch:
    """A few numbers for each vertex, for one query: not deployed, not charged, and shown as scratch.

    `dtype` is "int" (8 bytes), "int32", or "weight", the type of the graph's weights. Until it is written in a query, a
    number reads as `fill`; `math.inf` stands for 2^62 where numbers are integers, for 2^30 in "int32". Read and write
    it with `get`, `put` and `is_set` of `aacbench.plugins.kernels`. With `fill=None` it is a plain array of
    `per_vertex` times as many numbers as there are vertices, for a stack or a heap: a query finds in it whatever was
    there.
    """

    per_vertex: int = 1
    dtype: str = "int"
    fill: float | None = 0


@dataclass(frozen=True, slots=True)
class GoalSearch:
    """Preparation for one goal, run once per query before the first bound: a Dijkstra search around the goal.

    First `start(labels, memo, t)` is called with `memo` zeros of scratch. Then, for each vertex x that the search
    settles, nearest first, `visit(labels, memo, x, distance, towards)` is called until it returns True. With
    `distances="to"` the search runs backwards: `distance` is d(x, t) and `towards` is True. With `"from"` it runs
    forwards: `distance` is d(t, x) and `towards` is False. `"both"` runs one after the other. On a symmetric graph
    there is one search, with `towards` True. Every settled vertex counts as an expansion. Without `visit` there is no
    search. The functions must be `@njit` functions at module level.

    The search runs on the graph that is searched. Where weights were raised after the build, `distance` is thus larger
    than it was; with `bears_traffic` the author claims that the bounds stay below the distances before the rise.

    With `scratch`, a mapping from names to `Scratch`, these functions and the kernel get a record in the place of
    `memo`: it has the scratch by name, and the zeros as `memo`. `add_work(scratch, count)`, which comes with `get` and
    `put`, adds to the query's `h_work`; a goal search that needs nothing else of the record has `scratch={}`.
    """

    start: Callable[..., Any]
    visit: Callable[..., Any] | None = None
    memo: int = 0
    distances: str = "both"
    scratch: Mapping[str, Scratch] | None = None
    bears_traffic: bool = False


@dataclass(frozen=True, slots=True)
class LabelHeuristic:
    """A bound from arrays and a compiled kernel: full search speed, measured memory, rebuilt from the arrays alone.

    `kernel` is the name of a built-in kernel (`differential`) or an `@njit` function of (labels, u, t) at module
    level. `labels` has the arrays and settings as attributes; u and t are the graph's own vertex numbers. With a
    `goal` search the kernel takes (labels, memo, u, t). `settings` are numbers the kernel needs; each counts as eight
    bytes, and the first 64 bytes are free. `many` and `h` may give the same bound in the forms of `BatchHeuristic`
    and `ScalarHeuristic`; all forms must agree exactly. `facts` are numbers about the build for the cell's record,
    and `chosen` settings that only the build could choose, which tables show with the others: how many landmarks fit,
    for example. They are not deployed.
    """

    arrays: Mapping[str, "Array"]
    kernel: "str | Callable[..., Any]"
    settings: Mapping[str, int | float] = field(default_factory=dict)
    many: "Callable[[Mapping[str, Array], Array, int], Array] | None" = None
    h: Callable[[int, int], float] | None = None
    goal: GoalSearch | None = None
    facts: Mapping[str, int | float] = field(default_factory=dict)
    chosen: Mapping[str, int | float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BatchHeuristic:
    """A bound from arrays and a NumPy function `many(arrays, us, t)` at module level; `h` must agree exactly.

    `settings` are numbers, charged as those of a `LabelHeuristic`; `many` finds them by name among the arrays.
    """

    arrays: Mapping[str, "Array"]
    many: "Callable[[Mapping[str, Array], Array, int], Array]"
    h: Callable[[int, int], float] | None = None
    settings: Mapping[str, int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScalarHeuristic:
    """Any callable `h(u, t)`. Its memory is self-reported, so it is excluded from matched comparisons."""

    h: Callable[[int, int], float]
    declared_bytes_per_vertex: float = 0.0


@dataclass(frozen=True, slots=True)
class MaxHeuristic:
    """The largest bound of several heuristics: admissible and consistent if all of them are.

    It deploys the arrays of all parts and is searched in the tier of the slowest part.
    """

    parts: "tuple[Heuristic, ...]"


Heuristic = LabelHeuristic | BatchHeuristic | ScalarHeuristic | MaxHeuristic


def no_preference(params: Params) -> Mapping[str, bool | str]:
    """Prefer no search switch: the default of `Method.search`."""
    return {}


def no_objection(params: Params) -> str:
    """Accept all settings: the default of `Method.check`."""
    return ""


def waives_nothing(params: Params) -> Collection[str]:
    """Keep all claims with all settings: the default of `Method.waives`."""
    return ()


@dataclass(frozen=True, slots=True)
class Method:
    """A heuristic method.

    `fit(budget, info, params)` returns the params with the largest setting that fits the budget, or Unsupported.
    `build(context)` returns the heuristic for the fitted `context.params`, or Unsupported.

    `made_of(params)` names the methods it is built from. They are fitted to their shares of the budget and built
    first. The method's claims then hold only if its parts claim the same. `params["parts"]` records their parameters.
    With `chooses` they are alternatives instead: each may have the whole budget, and `context.alternatives[k]` builds
    one, or gives Unsupported if it does not fit. `build` returns one of the others, and reports its place as the fact
    `chosen`, which tables show.

    `search(params)` returns the search switches (`tie`, `reopen`, `bpmx`) to use unless the user sets them:
    `{"bpmx": True}`. A method that does not claim consistency is always searched with reopening.

    `check(params)` checks what a single `Parameter` cannot, such as one setting limiting another. It returns an empty
    string, or one sentence that says what is wrong. It is called before a run is planned.

    `build_maps(context)` returns one heuristic for all maps of a set. A method without it is built on each map by
    itself, and the rows are stacked.

    `waives(params)` names the claims that the method does not make with these settings: `("consistent",)`.
    """

    name: str
    summary: str
    fit: "Callable[[Budget, GraphInfo, Params], Params | Unsupported]"
    build: Callable[[BuildContext], Heuristic | Unsupported]
    claims: Claims = Claims()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    made_of: Callable[[Params], tuple[Part, ...]] | None = None
    search: Callable[[Params], Mapping[str, bool | str]] = no_preference
    check: Callable[[Params], str] = no_objection
    build_maps: "Callable[[MapsContext], Heuristic | Unsupported] | None" = None
    docs: str = ""  # where to read about it, shown by `aacbench methods`: a URL, or a page of the project
    chooses: bool = False
    waives: Callable[[Params], Collection[str]] = waives_nothing
