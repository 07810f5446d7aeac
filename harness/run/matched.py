"""Which cells of two methods may be compared: those that hold the same bytes."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from aacbench.run.plan import BASELINE, TEST
from aacbench.run.rows import read_queries
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
        """The cells that are ok."""
        return [cell for cell in self.cells if cell.outcome == "ok"]

    @property
    def bytes(self) -> float | None:
        """What is held per vertex, measured or declared; the most of any seed."""
        found = [cell.record["bytes"]["measured_per_vertex"] for cell in self.good if "bytes" in cell.record]
        return max(found) if found else None

    @property
    def measured_bytes(self) -> float | None:
        """The same, or None where it is the method's own word."""
        declared = any(not cell.record["bytes"].get("measured", True) for cell in self.good if "bytes" in cell.record)
        return None if declared else self.bytes

    def rows(self) -> MethodRows:
        """Expansions on the test queries by seed."""
        certain = all(cell.record.get("claims", {}).get("deterministic", False) for cell in self.good)
        return MethodRows(self.label, {cell.key["seed"]: expansions(cell) for cell in self.good}, certain)


def sides(cells: Sequence[Cell], label: str) -> list[Side]:
    """A method's cells by graph and budget."""
    groups: dict[tuple[str, float], list[Cell]] = {}
    for cell in cells:
        if cell.key["label"] == label:
            groups.setdefault((cell.key["graph"], cell.key["budget"]), []).append(cell)
    return [Side(label, graph, budget, tuple(group)) for (graph, budget), group in groups.items()]


def partner(one: Side, others: Sequence[Side], profile: Profile) -> tuple[Side | None, str]:
    """The other method's side that may be compared with this one, or why there is none."""
    there = [side for side in others if side.graph == one.graph]
    if not there:
        return None, "the other method was not run on this graph"
    good = [side for side in there if side.good]
    if not one.good or not good:
        return None, f"{there[0].label if one.good else one.label} has no cell that is ok"
    if BASELINE in (one.label, there[0].label):  # holds no labels: one cell a graph stands for every budget
        return good[0], ""
    if profile.pairing == MEASURED:
        return _closest(one, good, profile.bytes_tolerance)
    same = [side for side in good if side.budget == one.budget]
    return (same[0], "") if same else (None, f"{there[0].label} has no cell that is ok at this budget")


def bytes_apart(a: float, b: float) -> float:
    """By what share of the larger one two numbers of bytes differ."""
    return abs(a - b) / max(a, b) if max(a, b) > 0 else 0.0


def expansions(cell: Cell) -> dict[Hashable, int | None]:
    """By query, on the test queries alone; None where there is no answer."""
    columns = read_queries(cell.files["queries.csv"])
    test = columns["split"] == TEST
    names = zip(*(columns[name][test].tolist() for name in ("query", "source", "target")), strict=True)
    answered = np.array(columns["outcome"][test] == "ok", dtype=bool).tolist()
    counts = columns["expanded"][test].tolist()
    return {name: count if ok else None for name, ok, count in zip(names, answered, counts, strict=True)}


def _closest(one: Side, others: Sequence[Side], tolerance: float) -> tuple[Side | None, str]:
    """By measured bytes; of several that are close enough, that of the same budget, else the closest."""
    held = one.measured_bytes
    if held is None:
        return None, f"the bytes of {one.label} are declared, not measured"
    apart = [(bytes_apart(held, side.measured_bytes), side) for side in others if side.measured_bytes is not None]
    if not apart:
        return None, f"the bytes of {others[0].label} are declared, not measured"
    close = [(distance, side) for distance, side in apart if distance <= tolerance]
    if close:
        return min(close, key=lambda found: (found[1].budget != one.budget, found[0]))[1], ""
    nearest = min(apart, key=lambda found: found[0])[1]
    return None, (
        f"measured bytes are not matched within {100 * tolerance:g} %: {held:.1f} of {one.label}, "
        f"and {nearest.bytes:.1f} of {nearest.label} at the nearest"
    )
