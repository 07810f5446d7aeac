"""Find the cells of two methods that may be compared: with the same bytes per vertex, or fewer for the one judged."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from aacbench.run.predicted import MAP_COLUMNS, MAPS_FILE
from aacbench.run.records import BASELINE, TEST
from aacbench.run.rows import read_table
from aacbench.run.store import Cell
from aacbench.stats import Effect, MethodRows, Profile, estimand
from aacbench.stats.effects import DIFFERENT, EQUIVALENT, WITHIN
from aacbench.stats.paired import Expansions
from aacbench.stats.profiles import CROSSED_2, MEASURED, NO_MORE, NOMINAL


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

    def rows(self, split: str = TEST) -> MethodRows:
        # On maps, a method without a seed has a cell for each seed of the encoder before it.
        deterministic = len(self.good) == 1 and all(cell.claims.get("deterministic", False) for cell in self.good)
        rows = {cell.key["seed"]: unit_expansions(cell, split) for cell in self.good}
        return MethodRows(self.label, rows, deterministic)

    def mean(self, column: str) -> float | None:
        """Return the mean over seeds of the mean of a column over the test queries; None if there are none."""
        means = [mean for cell in self.good if (mean := cell.mean(TEST, column)) is not None]
        return sum(means) / len(means) if means else None

    def path_costs(self) -> MethodRows:
        """The true cost of an encoder's path from corner to corner of each test map."""
        deterministic = all(cell.claims["deterministic"] for cell in self.good)
        rows = {cell.key["seed"]: _of_test_maps(cell, "true_cost") for cell in self.good}
        return MethodRows(self.label, rows, deterministic)

    def least_costs(self) -> dict[Hashable, int | None]:
        return _of_test_maps(self.good[0], "true_optimum")

    def base(self, split: str = TEST) -> Expansions:
        """Return the expansions of a baseline by unit; on maps, the mean over the seeds of the encoder before it."""
        every = [unit_expansions(cell, split) for cell in self.good]
        if len(every) == 1:
            return every[0]
        found: dict[Hashable, int | None] = {}
        for unit in every[0]:
            counts = [count for one in every if (count := one.get(unit)) is not None]
            found[unit] = round(sum(counts) / len(counts)) if counts else None
        return found


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
    if profile.pairing != NOMINAL:
        return _by_bytes(one, good, profile)
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


def expansions(cell: Cell, split: str = TEST) -> Expansions:
    """Return the expansions by query of a split; None if the query was not answered."""
    return cell.counts[split] if split in cell.counts else by_query(cell, "expanded", split)


def unit_expansions(cell: Cell, split: str = TEST) -> Expansions:
    """Return the expansions by what statistics count as one: a query, or on maps a map, over all its queries.

    Queries on one map are no independent observations of a method.
    """
    if "context" not in cell.record:
        return expansions(cell, split)
    inside = cell.queries["split"] == split
    maps = cell.queries["source"][inside] // cell.record["side"] ** 2
    totals = np.bincount(maps, weights=cell.queries["expanded"][inside])
    return dict(enumerate(map(int, totals.tolist())))


def _of_test_maps(cell: Cell, column: str) -> dict[Hashable, int | None]:
    table = read_table(MAP_COLUMNS, cell.files[MAPS_FILE], MAPS_FILE)
    return dict(enumerate(table[column][table["split"] == TEST].tolist()))


def by_query(cell: Cell, column: str, split: str = TEST) -> dict[Hashable, int | None]:
    """Return a count of the rows by query of a split; None if the query was not answered."""
    columns = cell.queries
    inside = columns["split"] == split
    names = zip(*(columns[name][inside].tolist() for name in ("query", "source", "target")), strict=True)
    answered = np.array(columns["outcome"][inside] == "ok", dtype=bool).tolist()
    counts = columns[column][inside].tolist()
    return {name: count if ok else None for name, ok, count in zip(names, answered, counts, strict=True)}


def with_memory(found: Effect, one: Side, other: Side, profile: Profile) -> Effect:
    """Return the effect with what it shows if the two sides have unlike memory."""
    bytes_one, bytes_other = one.measured_bytes, other.measured_bytes
    if BASELINE in (one.label, other.label) or bytes_one is None or bytes_other is None or found.estimate is None:
        return found
    if bytes_apart(bytes_one, bytes_other) <= profile.bytes_tolerance:
        return found
    ahead = estimand(found.estimand).favours_a(found.estimate) == (bytes_one < bytes_other)
    less, more = (one.label, other.label) if bytes_one < bytes_other else (other.label, one.label)
    figures = f"With {min(bytes_one, bytes_other):.1f} B/v against {max(bytes_one, bytes_other):.1f} of {more}, {less}"
    return replace(found, memory=f"{figures} {_shown_with_less(found.outcome, ahead)}.")


def _shown_with_less(outcome: str | None, ahead: bool) -> str:
    """Say what an outcome shows about the side with fewer bytes, which could have done better with more."""
    if outcome in (DIFFERENT, WITHIN) and ahead:
        return "is ahead with fewer bytes"
    if outcome == DIFFERENT:
        return "is behind, which does not show that it is behind at equal memory"
    if outcome in (EQUIVALENT, WITHIN):
        return "is not behind by more than the margin; equivalence at equal memory is not shown"
    return "has fewer bytes; memory is not matched"


def _by_bytes(one: Side, others: Sequence[Side], profile: Profile) -> tuple[Side | None, str]:
    """Return the side with the closest measured bytes within the tolerance, or the next above if the profile allows."""
    own = one.measured_bytes
    if own is None:
        return None, f"{one.label} self-reports its memory"
    measured = [(side, held) for side in others if (held := side.measured_bytes) is not None]
    if not measured:
        return None, f"{others[0].label} self-reports its memory"
    apart = [(side.budget != one.budget, bytes_apart(own, held), side) for side, held in measured]
    close = [pair for pair in apart if pair[1] <= profile.bytes_tolerance]
    if close:
        return min(close, key=lambda pair: pair[:2])[2], ""
    above = [(held, side.budget != one.budget, side) for side, held in measured if held > own]
    if above and profile.pairing == NO_MORE:
        return min(above, key=lambda pair: pair[:2])[2], ""
    return None, _not_matched(one, own, min(apart, key=lambda pair: pair[1])[2], bool(above), profile)


def _not_matched(one: Side, own: float, nearest: Side, has_fewer: bool, profile: Profile) -> str:
    figures = f"{one.label} has {own:.1f} B/v and the closest of {nearest.label} {nearest.bytes:.1f}"
    limit = f"more than {100 * profile.bytes_tolerance:g} % apart"
    if profile.pairing == MEASURED:
        return f"{figures}, {limit}" + (f"; {CROSSED_2.label} compares them" if has_fewer else "")
    return f"{figures}, {limit}; judge {nearest.label}, which has fewer bytes, against {one.label} instead"
