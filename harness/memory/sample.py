"""The (u, t) pairs on which two forms of a heuristic are compared: drawn by seed, the same in any process."""

import numpy as np

from aacbench.graphs.record import Array

_TARGETS, _VERTICES = 16, 256


def sample_rows(vertices: int, seed: int) -> list[tuple[int, Array]]:
    """Targets, each with the vertices to ask for: every one on a small graph, and always the target itself."""
    rng = np.random.default_rng([seed, vertices])
    targets = rng.choice(vertices, min(_TARGETS, vertices), replace=False)
    return [(int(t), _asked(rng, vertices, int(t))) for t in targets]


def _asked(rng: np.random.Generator, vertices: int, target: int) -> Array:
    if vertices <= _VERTICES:
        return np.arange(vertices)
    return np.append(rng.integers(0, vertices, _VERTICES - 1), target)
