"""Published observations: one value a seed from somebody's paper, which are a record and no rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aacbench.errors import UsageError
from aacbench.prereg.tables import number, only, optional, required
from aacbench.protocols import values

UNITS = ("reduction-percent", "expansions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A method on a graph at a budget: one value a seed, or one for all seeds where it has no spread."""

    graph: str
    budget: float
    method: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Where the observations are from, what unit they are in, and how many violations were reported with them."""

    source: str
    unit: str
    seeds: tuple[int, ...]
    violations: int | None
    observations: tuple[Observation, ...]

    def of(self, graph: str, budget: float, method: str) -> tuple[float, ...] | None:
        """The values by seed, or None where none were published."""
        wanted = graph, budget, method
        found = next((one for one in self.observations if (one.graph, one.budget, one.method) == wanted), None)
        if found is None:
            return None
        return found.values * len(self.seeds) if len(found.values) == 1 else found.values


def read_published(table: Any, key: str) -> Published:
    """The table `[published]` with its `[[published.observation]]`."""
    given = values.table(table, key)
    only(given, ("source", "unit", "seeds", "violations", "observation"), key)
    seeds = required(given, "seeds", key, values.many(values.whole(0)))
    rows = required(given, "observation", key, lambda value, _: value)
    if not isinstance(rows, list) or not rows:
        raise UsageError(f"{key}.observation must be a list of tables; write [[{key}.observation]] above each.")
    return Published(
        source=required(given, "source", key, values.text),
        unit=optional(given, "unit", key, values.one_of(UNITS), UNITS[0]),
        seeds=seeds,
        violations=optional(given, "violations", key, values.whole(0), None),
        observations=tuple(_observation(row, f"{key}.observation #{i}", len(seeds)) for i, row in enumerate(rows, 1)),
    )


def _observation(row: Any, key: str, seeds: int) -> Observation:
    given: Mapping[str, Any] = values.table(row, key)
    only(given, ("graph", "budget", "method", "values"), key)
    numbers = required(given, "values", key, _numbers)
    if len(numbers) not in (1, seeds):
        raise UsageError(f"{key}.values must have one number for each of the {seeds} seeds, or one for all of them.")
    return Observation(
        graph=required(given, "graph", key, values.text),
        budget=required(given, "budget", key, values.budget),
        method=required(given, "method", key, values.text),
        values=numbers,
    )


def _numbers(value: Any, key: str) -> tuple[float, ...]:
    if not isinstance(value, list) or not value:
        raise values.wrong(key, "a list of numbers", value)
    return tuple(number(entry, f"{key} #{i}") for i, entry in enumerate(value, 1))
