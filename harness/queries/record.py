"""The frozen `QuerySet` record: pairs of vertex ids, with published costs and groups where known."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from aacbench.errors import DataError, UsageError
from aacbench.graphs.record import Array, Graph, frozen


@dataclass(frozen=True, eq=False, kw_only=True)
class QuerySet:
    """Queries from `sources[i]` to `targets[i]`, in order; all arrays are read-only.

    `optima` are published costs; `buckets` group the queries (a scenario's buckets, or strata of Dijkstra rank);
    `lines` are those of the file that the queries come from.
    """

    sources: Array
    targets: Array
    name: str = ""
    mode: str = "given"
    seed: int | None = None
    optima: Array | None = None
    buckets: Array | None = None
    lines: Array | None = None

    def __post_init__(self) -> None:
        for field in ("sources", "targets", "buckets", "lines"):
            if (values := getattr(self, field)) is not None:
                object.__setattr__(self, field, _integers(values, field))
        if self.optima is not None:
            object.__setattr__(self, "optima", _costs(self.optima))
        _check(self)

    def __len__(self) -> int:
        return len(self.sources)

    def __repr__(self) -> str:
        return f"QuerySet({self.name!r}, {len(self)} queries, mode {self.mode!r}, seed {self.seed})"

    def take(self, indices: npt.ArrayLike | slice) -> "QuerySet":
        """Return the queries at these positions (whole numbers from 0, or a slice), in that order."""
        chosen = np.arange(len(self))[indices] if isinstance(indices, slice) else np.asarray(indices)
        if chosen.size and chosen.dtype.kind not in "iu":
            raise UsageError("Positions of queries must be whole numbers.")
        if chosen.size and (chosen.min() < 0 or chosen.max() >= len(self)):
            raise UsageError(f"Positions of queries in this set go from 0 to {len(self) - 1}.")
        chosen = chosen.astype(np.int64)
        return replace(
            self,
            sources=self.sources[chosen],
            targets=self.targets[chosen],
            optima=None if self.optima is None else self.optima[chosen],
            buckets=None if self.buckets is None else self.buckets[chosen],
            lines=None if self.lines is None else self.lines[chosen],
        )

    def check_optima(self, costs: Array, graph: Graph | None = None) -> None:
        """Raise where a published optimum differs from the true cost (-1: no path); float costs may be rounded.

        With its graph, the first such query is described as the file of the queries has it.
        """
        if self.optima is None:
            return
        # Scenario files print six digits (1006.02), and some cut them instead of rounding (454.764 for 454.7645).
        digits = 10.0 ** (np.floor(np.log10(np.maximum(self.optima, 1))) - 5)
        allowed = 0.0 if costs.dtype.kind == "i" else np.maximum(1e-4, digits)
        wrong = np.flatnonzero((costs < 0) | (np.abs(costs - self.optima) > allowed))
        if not len(wrong):
            return
        first = wrong[0]
        line = "" if self.lines is None else f", line {self.lines[first]}"
        source, target = (self._vertex_text(ends[first], graph) for ends in (self.sources, self.targets))
        true = "there is no path" if costs[first] < 0 else f"Dijkstra finds {costs[first]:.10g}"
        many = len(wrong) > max(1, len(self) / 2)
        advice = "they belong to another graph or to other weights" if many else "correct the file"
        raise DataError(
            f"Queries of {self.name!r}{line}: the query from {source} to {target} has the published optimum "
            f"{self.optima[first]:.10g}, but {true}; {len(wrong)} of {len(self)} queries "
            f"{'differ' if len(wrong) > 1 else 'differs'}, so {advice}."
        )

    def _vertex_text(self, vertex: int, graph: Graph | None) -> str:
        if self.mode == "scenario" and graph is not None and graph.coords is not None:
            x, y = graph.coords[vertex]
            return f"({x:g}, {y:g})"
        return str(vertex) if graph is None else graph.vertex_name(vertex)

    @cached_property
    def digest(self) -> str:
        """The sha256 of the arrays in canonical little-endian form, without name, mode and seed."""
        arrays = {"sources": self.sources, "targets": self.targets, "optima": self.optima, "buckets": self.buckets}
        canonical = {
            key: np.ascontiguousarray(a, a.dtype.newbyteorder("<")) for key, a in arrays.items() if a is not None
        }
        head = {key: [a.dtype.str, len(a)] for key, a in canonical.items()}
        digest = hashlib.sha256(b"aacbench.queries/1\0" + json.dumps(head, sort_keys=True).encode() + b"\0")
        for array in canonical.values():
            digest.update(array.data)
        return digest.hexdigest()


def first_occurrences(sources: Array, targets: Array) -> Array:
    """Return the positions, ascending, at which a (source, target) pair occurs for the first time."""
    order = np.lexsort((targets, sources))  # stable, so the first of equals stays first
    same = (np.diff(sources[order]) == 0) & (np.diff(targets[order]) == 0)
    return np.sort(np.delete(order, np.flatnonzero(same) + 1))


def some_targets(parts: Sequence[QuerySet], count: int) -> Array:
    """Return `count` targets of these queries, ascending; the digest of the last part is the seed of the draw."""
    targets = np.unique(np.concatenate([queries.targets for queries in parts]))
    rng = np.random.default_rng(int(parts[-1].digest[:16], 16))
    return np.sort(rng.choice(targets, min(count, len(targets)), replace=False))


def _integers(values: Array, field: str) -> Array:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise DataError(f"A query set's {field} must be a flat list of whole numbers.")
    if array.size and array.max() > np.iinfo(np.int64).max:
        raise DataError(f"A query set's {field} must be below 2^63.")
    return frozen(array, np.int64)


def _costs(values: Array) -> Array:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iuf"):
        raise DataError("A query set's optima must be a flat list of numbers.")
    return frozen(array + 0.0, np.float64)  # -0.0 becomes 0.0: equal costs must have equal digests


def _check(queries: QuerySet) -> None:
    where = f"Query set {queries.name!r}: " if queries.name else ""
    for field in ("targets", "optima", "buckets", "lines"):
        values = getattr(queries, field)
        if values is not None and len(values) != len(queries):
            raise DataError(f"{where}{len(queries)} sources and {len(values)} {field} do not match.")
    for ends in (queries.sources, queries.targets):
        if len(ends) and ends.min() < 0:
            raise DataError(f"{where}query {int(np.argmin(ends))} names the negative vertex {ends.min()}.")
    if queries.optima is not None:
        bad = np.flatnonzero(~(np.isfinite(queries.optima) & (queries.optima >= 0)))
        if len(bad):
            raise DataError(f"{where}query {bad[0]} has the optimum {queries.optima[bad[0]]}, which is not a cost.")
