"""Smooth Bellman-Ford of the AAC paper, differentiable by the costs of cells; its distances are no lower bounds."""

import math

import torch
from torch.nn import functional

from aacbench.maps.smooth import FAR

STEPS = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1)]
_LENGTHS = torch.tensor([math.hypot(*step) for step in STEPS], dtype=torch.float64)[:, None, None, None]


def smooth_distances(costs: torch.Tensor, anchors: torch.Tensor, beta: float) -> torch.Tensor:
    """Return the distances (maps, anchors, cells) of each cell from the anchors, for costs (maps, side, side).

    In every round a cell takes the smooth minimum over its neighbours and over itself, and rounds are as many as a path
    may have edges: each lowers the distance again.
    """
    maps, side, _ = costs.shape
    weights = (costs + _around(costs)) / 2 * _LENGTHS  # the weight of the step from a cell to itself is 0
    weights = weights[:, :, None]
    source = functional.one_hot(anchors, side * side).bool().reshape(len(anchors), side, side)
    zero = torch.zeros((), dtype=costs.dtype)
    found = torch.where(source, zero, torch.tensor(FAR, dtype=costs.dtype)).expand(maps, -1, -1, -1)
    for _ in range(side * side - 1):
        through = _around(found) + weights
        found = torch.where(source, zero, torch.logsumexp(-beta * through, dim=0) / -beta)
    return found.reshape(maps, len(anchors), side * side)


def _around(values: torch.Tensor) -> torch.Tensor:
    """Return for each step the value of the cell it comes from; beyond the border it is very large."""
    side = values.shape[-1]
    padded = functional.pad(values, (1, 1, 1, 1), value=FAR)
    return torch.stack([padded[..., 1 + r : 1 + r + side, 1 + c : 1 + c + side] for r, c in STEPS])
