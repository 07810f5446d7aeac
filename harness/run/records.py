"""What a run is made of: the study a protocol describes, and the cells it is cut into."""

import itertools
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from aacbench.graphs.catalogue import name_and_file
from aacbench.maps.names import CELLS

VALIDATION, TEST, CORNER = "validation", "test", "corner"  # the splits of queries; the last on maps alone
SINGLE, CANDIDATE, CHOSEN, ENCODE = "single", "candidate", "chosen", "encode"  # the roles of cells
GRAPHS, CONTEXT = KINDS = ("graphs", "context")  # what methods are run on: graphs, or maps whose costs are predicted
BASELINE = "dijkstra"  # reductions are measured against it; it stores no labels, so one budget stands for all
# Worst last: a wrong answer is worse than none.
OUTCOMES = ("ok", "unsupported", "skipped", "timeout", "out-of-memory", "error", "wrong")
ATLAS = "atlas:"  # before the id of an encoder's cell: the graph of its maps
BASE = ""  # in place of a variant's name: the study as it is
STRATA, SCENARIO, FILE = "strata", "scenario", "file"  # query modes besides those of `queries.sampling`


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPlan:
    """How queries are drawn or read, and split; they are the same for every method, budget and seed.

    In mode `strata` the three counts are of sources, each of which has a query per stratum. On maps, `random` is the
    number of queries on each, besides the one from corner to corner; the counts mean nothing then.
    """

    mode: str = "uniform"
    seed: int = 42
    train: int = 0
    validation: int = 100
    test: int = 100
    strict: bool = False
    file: str = ""
    shuffle: bool = False
    random: int | None = None

    @property
    def drawn(self) -> bool:
        """Whether queries follow from the seed, not from a file."""
        return self.mode not in (SCENARIO, FILE)

    def most(self, split: str, vertices: int) -> int:
        """Return how many queries a split has at most, on a graph of so many vertices; on maps, on each."""
        if self.random is not None:
            return self.random if split == TEST else 1
        count: int = getattr(self, split)
        return count * (vertices.bit_length() - 1) if self.mode == STRATA else count

    def record(self) -> dict[str, Any]:
        """Every value; `file` and `shuffle` only where they are set, so that digests of older studies hold."""
        values = asdict(self)
        if self.random is not None:
            return {key: values[key] for key in ("mode", "seed", "random")}
        return {key: value for key, value in values.items() if value or key not in ("file", "shuffle", "random")}


@dataclass(frozen=True, slots=True, kw_only=True)
class MapSplits:
    """How many maps of a set are used: to train encoders, to choose by, to calibrate statements, and to test."""

    train: int = 2000
    validation: int = 200
    calibration: int = 300
    test: int = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """At which error rates statements about true costs are calibrated."""

    alpha: tuple[float, ...] = (0.05, 0.1)


@dataclass(frozen=True, slots=True)
class SearchedGraph:
    """A graph as it is searched: as it is, or with its weights raised by `traffic` after heuristics were built on it.

    Everything that groups cells by graph goes by `name`, so that results under different traffic are never mixed.
    """

    graph: str
    traffic: str = ""

    @property
    def name(self) -> str:
        name, _ = name_and_file(self.graph)
        return f"{name}+{self.traffic}" if self.changed else name

    @property
    def changed(self) -> bool:
        return self.traffic not in ("", "none")


def without_traffic(name: str, traffic: str) -> str:
    """Return the name of the graph that was built on, from that of the graph that is searched."""
    return name.removesuffix(f"+{traffic}") if traffic else name


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodChoice:
    """A method with the settings a user fixed, and those to be chosen on the validation queries.

    `settings` may hold the search's own switches (`tie`, `reopen`, `bpmx`) beside the method's parameters.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name with its settings, as a user writes it: `alt[tie=fifo]`."""
        inside = ",".join(f"{key}={value}" for key, value in self.settings.items())
        return f"{self.name}[{inside}]" if inside else self.name

    def settled(self) -> "list[MethodChoice]":
        """One choice for each combination of the values in the grid."""
        combined = [dict(zip(self.grid, values, strict=True)) for values in itertools.product(*self.grid.values())]
        return [replace(self, settings={**self.settings, **one}, grid={}) for one in combined]


MAP_KEYS = ("kind", "maps", "edges", "splits", "encoders", "certificates")  # that only a study on maps has


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Values of a study that are changed together, in cells of their own beside the study's; empty means unchanged.

    `factor` says what is changed, in words. `search` may hold changes only, such as `tie=fifo`. `queries` replaces
    single values. `settings` are for each method that has such a parameter, or for `methods` alone.
    """

    name: str
    factor: str = ""
    search: str = ""
    convention: str = ""
    queries: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    methods: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()

    def record(self) -> dict[str, Any]:
        """The values that are set."""
        return {key: value for key, value in asdict(self).items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A protocol with everything decided: what to run on what, and how it is charged, searched and judged.

    A study of the kind `context` has map sets and encoders in the place of graphs: an encoder predicts the costs of
    the cells of each map, and methods are run on the maps with these costs.
    """

    protocol: str
    summary: str
    graphs: tuple[str, ...] = ()
    methods: tuple[MethodChoice, ...]
    budgets: tuple[float, ...]
    seeds: tuple[int, ...]
    queries: QueryPlan = field(default_factory=QueryPlan)
    search: str = "modern"
    convention: str = "measured/1"
    selection: str = "mean-expansions"
    measure: tuple[str, ...] = ("count", "audit")
    analysis: str = "crossed/2"
    kind: str = GRAPHS
    maps: tuple[str, ...] = ()
    edges: str = CELLS
    splits: MapSplits = field(default_factory=MapSplits)
    encoders: tuple[MethodChoice, ...] = ()
    certificates: Certificates = field(default_factory=Certificates)
    variants: tuple[Variant, ...] = ()
    traffic: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """Every value, for digests and for printing; of graphs or of maps, whichever the study has.

        `variants` and `traffic` are there only where they are set, `edges` where they are not the default.
        """
        without: tuple[str, ...] = ("graphs",) if self.kind == CONTEXT else MAP_KEYS
        if self.edges == CELLS:
            without = (*without, "edges")
        given = {"queries": self.queries.record(), "variants": [variant.record() for variant in self.variants]}
        values = asdict(self) | given
        known = {key: value for key, value in values.items() if key not in without}
        return {key: value for key, value in known.items() if value or key not in ("variants", "traffic")}

    def predicted_maps(self) -> tuple[str, ...]:
        """The names of the map sets as each encoder predicts them."""
        labels = [one.label for choice in self.encoders for one in choice.settled()]
        return tuple(f"{maps}/{label}" for maps in self.maps for label in labels)

    def searched_graphs(self) -> tuple[SearchedGraph, ...]:
        """Each graph under each traffic."""
        return tuple(SearchedGraph(graph, traffic) for graph in self.graphs for traffic in self.traffic or ("",))
