"""The verdict on a prediction from an estimate and an interval, under both rules."""

from dataclasses import dataclass

Interval = tuple[float, float]

SURVIVED = "survived"
MAGNITUDE = "falsified, magnitude"
INVERTED = "falsified, direction inverted"
INCONCLUSIVE = "inconclusive"
NOT_EVALUATED = "not evaluated"
VERDICTS = (SURVIVED, MAGNITUDE, INVERTED, INCONCLUSIVE, NOT_EVALUATED)
FALSIFIED = (MAGNITUDE, INVERTED)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdict of each rule."""

    interval: str
    point: str

    def of(self, rule: str) -> str:
        return self.interval if rule == "interval" else self.point


def by_interval(interval: Interval | None, band: Interval, null: float) -> str:
    """Survived if the interval is inside the band, falsified if disjoint, inconclusive if across an edge."""
    if interval is None:
        return NOT_EVALUATED
    low, high = interval
    if band[0] <= low and high <= band[1]:
        return SURVIVED
    if high < band[0] or band[1] < low:
        beyond = (high < null and band[0] >= null) or (low > null and band[1] <= null)
        return INVERTED if beyond else MAGNITUDE
    return INCONCLUSIVE


def by_point(estimate: float | None, band: Interval, null: float) -> str:
    """Survived if the estimate is inside the band; outside, inverted if on the other side of no effect."""
    if estimate is None:
        return NOT_EVALUATED
    if band[0] <= estimate <= band[1]:
        return SURVIVED
    other_side = (estimate < null and band[0] >= null) or (estimate > null and band[1] <= null)
    return INVERTED if other_side else MAGNITUDE


def in_band(estimate: float | None, interval: Interval | None, band: Interval, null: float) -> Verdicts:
    return Verdicts(by_interval(interval, band, null), by_point(estimate, band, null))


def ahead(estimate: float | None, interval: Interval | None, null: float, higher: bool) -> Verdicts:
    """Both rules on being ahead: a band from no effect outwards, without its edge."""
    sign = 1 if higher else -1
    point = NOT_EVALUATED if estimate is None else SURVIVED if sign * (estimate - null) > 0 else INVERTED
    if interval is None:
        return Verdicts(NOT_EVALUATED, point)
    ends = [sign * (end - null) for end in interval]
    if min(ends) > 0:
        return Verdicts(SURVIVED, point)
    return Verdicts(INVERTED if max(ends) < 0 else INCONCLUSIVE, point)


def of_all(verdicts: list[Verdicts]) -> Verdicts:
    """The worst of several verdicts, for predictions that need all of them."""
    return Verdicts(_worst([one.interval for one in verdicts]), _worst([one.point for one in verdicts]))


def counted(found: int, expected: int) -> Verdicts:
    verdict = SURVIVED if found == expected else MAGNITUDE
    return Verdicts(verdict, verdict)


def _worst(found: list[str]) -> str:
    for verdict in (*FALSIFIED, NOT_EVALUATED, INCONCLUSIVE):
        if verdict in found:
            return verdict
    return SURVIVED
