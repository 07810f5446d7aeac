"""The numbers of a forest plot, from the same effects a table prints."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aacbench.stats.effects import Effect, Interval


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One row: a point, two intervals, a dot a seed, the shaded margin, the predicted band, and the words beside it."""

    cell: str
    estimate: float | None
    interval90: Interval | None
    interval95: Interval | None
    null: float
    margin: Interval | None
    seeds: tuple[float, ...]
    label: str
    band: Interval | None = None


def forest_rows(effects: Iterable[tuple[str, Effect]], bands: Mapping[str, Interval] | None = None) -> list[ForestRow]:
    """A row for each named effect; `bands` holds what was predicted, by the same names."""
    return [
        ForestRow(
            cell=cell,
            estimate=found.estimate,
            interval90=found.interval(wide=False),
            interval95=found.interval(),
            null=found.null,
            margin=found.margin,
            seeds=found.per_seed if found.seeds > 1 else (),
            label=found.outcome or found.status,
            band=(bands or {}).get(cell),
        )
        for cell, found in effects
    ]
