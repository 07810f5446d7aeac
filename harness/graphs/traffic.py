"""Traffic: weights raised after a heuristic was built, written as `arcs[share=0.05,factor=3]`."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from aacbench.errors import UsageError
from aacbench.graphs.record import Array, Graph
from aacbench.util.text import suggestion

NONE, ARCS, REGIONS, NETWORK = "none", "arcs", "regions", "network"
RANDOM, SAME = "random", "same"
LARGEST_FACTOR = 1000.0

_SETTINGS = {  # of each mode, in the order in which they are written
    NONE: (),
    ARCS: ("share", "factor", "draw", "seed"),
    REGIONS: ("share", "factor", "hops", "draw", "seed"),
    NETWORK: ("factor", "draw", "seed"),
}
_ALWAYS_WRITTEN = ("share", "factor")
_SPELT = re.compile(r"(?P<mode>[a-z]+)\s*(\[(?P<settings>[^\[\]]*)\])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Which arcs get heavier, and by how much.

    `arcs` raises a `share` of the arcs, drawn one by one; `regions` the same share, in balls of so many `hops` around
    drawn vertices; `network` every arc. With `draw="random"` each arc, or each region as a whole, has a factor of its
    own between 1 and `factor`; with `draw="same"` all have `factor`. `none` changes nothing.
    """

    mode: str
    share: float = 0.1
    factor: float = 3.0
    hops: int = 10
    draw: str = RANDOM
    seed: int = 42

    @property
    def name(self) -> str:
        """The text that it is parsed from, in one spelling: settings at their defaults are left out."""
        defaults = {key: field.default for key, field in type(self).__dataclass_fields__.items()}
        values = {key: getattr(self, key) for key in _SETTINGS[self.mode]}
        told = {key: value for key, value in values.items() if key in _ALWAYS_WRITTEN or value != defaults[key]}
        inside = ",".join(f"{key}={_word(value)}" for key, value in told.items())
        return f"{self.mode}[{inside}]" if inside else self.mode


def parse_traffic(text: str) -> Traffic:
    found = _SPELT.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{text!r} is no traffic; write it as arcs[share=0.05,factor=3].")
    mode = found["mode"]
    if mode not in _SETTINGS:
        raise UsageError(f"Unknown traffic {mode!r}{suggestion(mode, _SETTINGS)} Known: {', '.join(_SETTINGS)}.")
    settings: dict[str, Any] = {}
    for piece in (found["settings"] or "").split(",") if (found["settings"] or "").strip() else ():
        key, equals, value = (part.strip() for part in piece.partition("="))
        if key not in _SETTINGS[mode]:
            known = f"it has {', '.join(_SETTINGS[mode])}" if _SETTINGS[mode] else "it has none"
            raise UsageError(f"Traffic {mode} has no setting {key!r}; {known}.")
        if not equals or key in settings:
            raise UsageError(f"Traffic {text!r} must have one value for {key}.")
        settings[key] = _value(key, value)
    return Traffic(mode=mode, **settings)


def raised_weights(graph: Graph, traffic: Traffic) -> Array:
    """Return the graph's weights under this traffic: none is lower than before, and integers stay integers.

    On a symmetric graph both directions of an edge are raised alike, so that it stays symmetric. Of two shares with
    the same seed, the arcs of the smaller one are among those of the larger one, with the same factors.
    """
    edge, edges = _edges(graph)
    factors = _FACTORS[traffic.mode](graph, traffic, edge, edges)[edge]
    with np.errstate(over="ignore"):
        raised = graph.weights * factors
    if graph.integral:
        raised = np.ceil(np.minimum(raised, 2.0**62)).astype(np.int64)
    return np.maximum(raised, graph.weights)  # a large integer may have been rounded down as a float


def rise(before: Array, after: Array) -> dict[str, int | float]:
    """Return how far weights departed from those before: the arcs that are heavier, and the growth of the sum."""
    total = float(before.sum(dtype=np.float64))
    growth = float(after.sum(dtype=np.float64)) / total - 1 if total else 0.0
    return {"arcs_raised": int((after > before).sum()), "arcs": len(before), "growth": growth}


def _edges(graph: Graph) -> tuple[Array, int]:
    """Return what each arc is raised with: both directions of an edge together where the graph is symmetric."""
    if not graph.symmetric:
        return np.arange(graph.arcs), graph.arcs
    tails, heads = graph.sources.astype(np.int64), graph.indices.astype(np.int64)
    pair = np.minimum(tails, heads) * graph.vertices + np.maximum(tails, heads)
    distinct, edge = np.unique(pair, return_inverse=True)
    return edge, len(distinct)


def _drawn(traffic: Traffic, random: np.random.Generator, count: int) -> Array:
    own = random.random(count)
    return np.full(count, traffic.factor) if traffic.draw == SAME else 1 + (traffic.factor - 1) * own


def _none(graph: Graph, traffic: Traffic, edge: Array, edges: int) -> Array:
    return np.ones(edges)


def _network(graph: Graph, traffic: Traffic, edge: Array, edges: int) -> Array:
    return _drawn(traffic, np.random.default_rng(traffic.seed), edges)


def _arcs(graph: Graph, traffic: Traffic, edge: Array, edges: int) -> Array:
    random = np.random.default_rng(traffic.seed)
    raised = random.permutation(edges)[: round(traffic.share * edges)]
    factors = np.ones(edges)
    factors[raised] = _drawn(traffic, random, edges)[raised]
    return factors


def _regions(graph: Graph, traffic: Traffic, edge: Array, edges: int) -> Array:
    random = np.random.default_rng(traffic.seed)
    centres = random.permutation(graph.vertices)
    own = _drawn(traffic, random, graph.vertices)
    factors, left = np.ones(edges), round(traffic.share * edges)
    jammed = np.zeros(edges, dtype=bool)
    for centre in centres.tolist():
        if left <= 0:
            break
        found = np.unique(edge[_arcs_around(graph, centre, traffic.hops)])
        new = found[~jammed[found]][:left]
        jammed[new] = True
        factors[new] = own[centre]
        left -= len(new)
    return factors


def _arcs_around(graph: Graph, centre: int, hops: int) -> Array:
    """Return the arcs between the vertices that are at most so many arcs away from the centre."""
    inside = np.zeros(graph.vertices, dtype=bool)
    inside[centre] = True
    members = layer = np.array([centre])
    for _ in range(hops):
        heads = np.unique(graph.indices[_arcs_of(graph, layer)])
        layer = heads[~inside[heads]]
        if not len(layer):
            break
        inside[layer] = True
        members = np.concatenate((members, layer))
    arcs = _arcs_of(graph, members)
    return arcs[inside[graph.indices[arcs]]]


def _arcs_of(graph: Graph, vertices: Array) -> Array:
    first, degree = graph.indptr[vertices], graph.indptr[vertices + 1] - graph.indptr[vertices]
    begin = np.cumsum(degree) - degree
    return np.repeat(first - begin, degree) + np.arange(int(degree.sum()))


_FACTORS = {NONE: _none, ARCS: _arcs, REGIONS: _regions, NETWORK: _network}
_WHOLE: Mapping[str, tuple[int, int]] = {"hops": (1, 10**6), "seed": (0, 2**32 - 1)}


def _value(key: str, text: str) -> Any:
    if key == "draw":
        if text not in (RANDOM, SAME):
            raise UsageError(f"The draw of traffic is {RANDOM} or {SAME}, not {text!r}.")
        return text
    if key in _WHOLE:
        least, most = _WHOLE[key]
        if not re.fullmatch(r"[0-9]{1,10}", text) or not least <= int(text) <= most:
            raise UsageError(f"The {key} of traffic must be a whole number between {least} and {most}, not {text!r}.")
        return int(text)
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if key == "share" and not 0 < number <= 1:
        raise UsageError(f"The share of traffic must be above 0 and at most 1, not {text!r}.")
    if key == "factor" and not 1 <= number <= LARGEST_FACTOR:
        raise UsageError(
            f"The factor of traffic must be between 1 and {LARGEST_FACTOR:g}, not {text!r}: a bound built on the old "
            "weights may exceed a distance that became shorter."
        )
    return number


def _word(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)
