"""The paper's path of seven vertices: covering radius and mean gap of every pair of landmarks, by definition."""

from itertools import combinations, permutations
from statistics import mean

VERTICES = range(7)
INNER = range(1, 6)  # queries have both ends here

Pair = tuple[int, int]


def pairs() -> list[Pair]:
    return list(combinations(VERTICES, 2))


def covering_radius(landmarks: Pair) -> int:
    return max(min(abs(vertex - landmark) for landmark in landmarks) for vertex in VERTICES)


def gaps(landmarks: Pair) -> dict[Pair, int]:
    """Return distance less bound for every ordered pair of inner vertices."""
    return {
        (s, t): abs(s - t) - max(abs(abs(s - landmark) - abs(t - landmark)) for landmark in landmarks)
        for s, t in permutations(INNER, 2)
    }


def column(name: str, landmarks: Pair) -> float:
    """Return a value that the figure prints of a pair of landmarks."""
    short = [gap for gap in gaps(landmarks).values() if gap > 0]
    values = {
        "covering_radius": covering_radius(landmarks),
        "mean_gap": mean(gaps(landmarks).values()),
        "failing_queries": len(short),
        "failing_gap": max(short, default=0),
    }
    return values[name]
