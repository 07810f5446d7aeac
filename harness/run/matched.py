"""Find the cells of two methods that may be compared: those with the same bytes per vertex."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from aacbench.run.records import BASELINE, TEST
from aacbench.run.store import Cell
from aacbench.stats import MethodRows, Profile
from aacbench.stats.profiles import MEASURED


@dataclass(frozen=True, slots=True)
class Side:
    """A method on a graph at a budget, over its seeds."""

    label: str
    graph: str
    budget: float
    cells: tuple[Cell, ...]

    @property
    def good(self) -> list[Cell]:
        return [cell for cell in self.cells if cell.outcome == "ok"]

    @property
    def bytes(self) -> float | None:
        """Bytes per vertex, measured or self-reported; the largest of any seed."""
        return bytes_per_vertex(self.good)

    @property
    def measured_bytes(self) -> float | None:
        """The same, or None if some of them are self-reported."""
        return None if self_reported(self.good) else self.bytes

    def rows(self) -> MethodRows:
        deterministic = all(cell.claims.get("deterministic", False) for cell in self.good)
        return MethodRows(self.label, {cell.key["seed"]: expansions(cell) for cell in self.good}, deterministic)


def sides(cells: Sequence[Cell], label: str) -> list[Side]:
    groups: dict[tuple[str, float], list[Cell]] = {}
    for cell in cells:
        if cell.key["label"] == label:
            groups.setdefault((cell.key["graph"], cell.key["budget"]), []).append(cell)
    return [Side(label, graph, budget, tuple(group)) for (graph, budget), group in groups.items()]


def partner(one: Side, others: Sequence[Side], profile: Profile) -> tuple[Side | None, str]:
    """Return the side of the other method to compare with this one, or None and the reason."""
    on_graph = [side for side in others if side.graph == one.graph]
    if not on_graph:
        return None, "the other method was not run on this graph"
    good = [side for side in on_graph if side.good]
    if not one.good or not good:
        return None, f"{on_graph[0].label if one.good else one.label} has no cell that is ok"
    if BASELINE in (one.label, on_graph[0].label):  # stores no labels: one cell per graph stands for every budget
        return good[0], ""
    if profile.pairing == MEASURED:
        return _closest(one, good, profile.bytes_tolerance)
    same = [side for side in good if side.budget == one.budget]
    return (same[0], "") if same else (None, f"{on_graph[0].label} has no cell that is ok at this budget")


def bytes_per_vertex(cells: Iterable[Cell], kind: str = "measured_per_vertex") -> float | None:
    """Return the largest bytes per vertex of any cell, or None if no cell has any."""
    return max((cell.record["bytes"][kind] for cell in cells if "bytes" in cell.record), default=None)


def self_reported(cells: Iterable[Cell]) -> bool:
    """Return whether the bytes of some cell are the method's own statement, not measured."""
    return any(not cell.record["bytes"].get("measured", True) for cell in cells if "bytes" in cell.record)


def bytes_apart(a: float, b: float) -> float:
    """Return the relative difference of two numbers of bytes, as a share of the larger one."""
    return abs(a - b) / max(a, b) if max(a, b) > 0 else 0.0


def expansions(cell: Cell) -> dict[Hashable, int | None]:
    """Return the expansions by test query; None if the query was not answered."""
    columns = cell.queries
    test = columns["split"] == TEST
    names = zip(*(columns[name][test].tolist() for name in ("query", "source", "target")), strict=True)
    answered = np.array(columns["outcome"][test] == "ok", dtype=bool).tolist()
    counts = columns["expanded"][test].tolist()
    return {name: count if ok else None for name, ok, count in zip(names, answered, counts, strict=True)}


def _closest(one: Side, others: Sequence[Side], tolerance: float) -> tuple[Side | None, str]:
    """Return the side with the closest measured bytes; within the tolerance, prefer the same budget."""
    own = one.measured_bytes
    if own is None:
        return None, f"{one.label} self-reports its memory"
    apart = [(bytes_apart(own, side.measured_bytes), side) for side in others if side.measured_bytes is not None]
    if not apart:
        return None, f"{others[0].label} self-reports its memory"
    close = [(distance, side) for distance, side in apart if distance <= tolerance]
    if close:
        return min(close, key=lambda pair: (pair[1].budget != one.budget, pair[0]))[1], ""
    nearest = min(apart, key=lambda pair: pair[0])[1]
    return None, (
        f"measured bytes per vertex differ by more than {100 * tolerance:g} %: {one.label} has {own:.1f}, "
        f"the closest of {nearest.label} has {nearest.bytes:.1f}"
    )
