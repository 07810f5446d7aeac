"""Every bound of a heuristic, and what was said where one is no number that a search could use."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from aacbench.graphs.record import Array
from aacbench.testing.outcomes import number, told

_MOST = 2**62  # what a search on whole numbers can add an arc to


@dataclass(frozen=True, eq=False, slots=True)
class Asked:
    """h(u, t) at [u, t], and at the same places whether it is no number; `said` has the words of what was raised."""

    table: Array
    odd: Array
    said: Mapping[tuple[int, int], str]

    def sentence(self, u: int, t: int) -> str:
        """What is wrong with a bound that is no number."""
        return self.said.get((u, t)) or f"h({u}, {t}) = {number(self.table[u, t])} is not a finite number below 2^62"


def ask(many: Callable[[Array, int], Array], vertices: int, *, integral: bool) -> Asked:
    """Ask for every pair; a heuristic that raises something is asked for each vertex, to know which it was."""
    said: dict[tuple[int, int], str] = {}
    table = np.stack([_column(many, vertices, t, said) for t in range(vertices)], axis=1)
    odd = ~np.isfinite(table) | (integral & ~(np.abs(table.astype(np.float64)) < _MOST))
    return Asked(table, odd, said)


def _column(many: Callable[[Array, int], Array], vertices: int, t: int, said: dict[tuple[int, int], str]) -> Array:
    try:
        return many(np.arange(vertices), t)
    except (Exception, SystemExit) as error:  # a plugin may raise anything; Ctrl-C is the user's
        together = _words(error)
    found = np.full(vertices, np.nan)
    for u in range(vertices):
        try:
            found[u] = many(np.array([u]), t)[0]
        except (Exception, SystemExit) as error:
            said[u, t] = _words(error)
    if np.isfinite(found).all():
        found[t], said[t, t] = np.nan, together
    return found


def _words(error: BaseException) -> str:
    return told(error).rstrip(".")
