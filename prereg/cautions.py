"""What an author is warned of before the lock: predictions that exclude each other, and claims that nobody makes."""

from collections.abc import Collection, Iterator
from itertools import combinations

import numpy as np

from aacbench.prereg.predictions import Band, Count, Equivalence, Ordering, Place, Prediction
from aacbench.prereg.schema import Registration
from aacbench.run.records import BASELINE
from aacbench.stats import estimand

CONSISTENCY = "consistency"
Effects = dict[tuple[Place, str, str, str], tuple[float, float]]


def cautions(registration: Registration, consistent: Collection[str]) -> Iterator[str]:
    """Yield a sentence about each; `consistent` has the labels of the methods that claim consistency."""
    for one, other in combinations(registration.predictions, 2):
        if _exclude(_effects(one), _effects(other)):
            yield f"Warning: {one.id} and {other.id} cannot both survive."
    every = [choice.label for choice in registration.study.methods]
    for one in registration.predictions:
        if isinstance(one, Count) and one.of == CONSISTENCY:
            labels = [label for label in one.methods or every if label not in (*consistent, BASELINE)]
            if labels:
                claim = "does not claim it" if len(labels) == 1 else "do not claim it"
                yield f"Warning: {one.id} counts violations of consistency, but {', '.join(labels)} {claim}."


def _exclude(one: Effects, other: Effects) -> bool:
    return any(max(one[at][0], other[at][0]) > min(one[at][1], other[at][1]) for at in one.keys() & other.keys())


def _effects(one: Prediction) -> Effects:
    """The effects that a prediction allows of each contrast, both ways round, on the scale of the test."""
    if isinstance(one, Count):
        return {}
    unit, found = estimand(one.estimand), {}
    if isinstance(one, Ordering):
        least = float(np.nextafter(0, 1))  # ahead by anything at all
        ahead = (least, np.inf) if unit.better == "higher" else (-np.inf, -least)
        ranges = {(one.best, label): ahead for label in one.among if label != one.best}
    else:
        ranges = {(one.a, one.b): _working(one)}
    for (a, b), (low, high) in ranges.items():
        found[one.cell, one.estimand, a, b] = low, high
        found[one.cell, one.estimand, b, a] = -high, -low
    return found


def _working(one: Band | Equivalence) -> tuple[float, float]:
    with np.errstate(divide="ignore"):  # a ratio may begin at 0
        low, high = (float(estimand(one.estimand).working(np.asarray(end))) for end in (one.low, one.high))
    return low, high
