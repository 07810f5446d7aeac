"""The (u, t) pairs on which two forms of a heuristic are compared: drawn by seed, the same in any process."""

from collections.abc import Iterable

import numpy as np

from aacbench.graphs.record import Array

_TARGETS, _VERTICES = 16, 256


def sample_rows(vertices: int, seed: int, targets: Iterable[int] = ()) -> list[tuple[int, Array]]:
    """Targets, each with the vertices to ask for: every one on a small graph, and always the target itself.

    `targets` are asked for besides those that are drawn.
    """
    rng = np.random.default_rng([seed, vertices])
    drawn = rng.choice(vertices, min(_TARGETS, vertices), replace=False).tolist()
    return [(int(t), _asked(rng, vertices, int(t))) for t in (*drawn, *(t for t in targets if t not in drawn))]


def _asked(rng: np.random.Generator, vertices: int, target: int) -> Array:
    if vertices <= _VERTICES:
        return np.arange(vertices)
    return np.append(rng.integers(0, vertices, _VERTICES - 1), target)
