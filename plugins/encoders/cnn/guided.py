"""Differentiable A* (Yonetani et al., Neural A*): which cells a search expands, as a function of a guidance map."""

import math

import torch
from torch.nn import functional

from aacbench.plugins.encoders.cnn.network import guidance

SHARE = 4  # of its cells a search expands one in so many, at most


def guided_loss(outputs: torch.Tensor, paths: torch.Tensor) -> torch.Tensor:
    """Return the mean distance of the cells that are expanded from corner to corner to those of the path."""
    return (expanded_cells(guidance(outputs)) - paths).abs().mean()


def expanded_cells(guide: torch.Tensor) -> torch.Tensor:
    """Return 1 where A* expands a cell of each map (n, side, side), else 0; the gradient is that of a soft choice.

    A cell costs its guidance, and the bound to the last cell counts unit steps. The search ends at the last cell, or
    after a quarter of all cells. As in Neural A*, costs of paths are constants to the gradient.
    """
    maps, side, _ = guide.shape
    bounds = _steps_to_the_end(side) + guide
    reached, costs = torch.zeros_like(guide), torch.zeros_like(guide)
    closed = torch.zeros_like(guide)
    reached[:, 0, 0] = 1
    running = torch.ones(maps, 1, 1)
    for _ in range(max(1, side * side // SHARE)):
        chosen = _chosen(costs + bounds, reached) * running
        closed = closed + chosen
        with torch.no_grad():
            at = chosen.detach().round()  # a straight-through choice is 0 and 1 but for rounding
            reached = reached - at
            through = ((costs + guide) * at).sum(dim=(1, 2), keepdim=True)
            near = functional.max_pool2d(at[:, None], 3, stride=1, padding=1)[:, 0] * (1 - at)
            better = near * torch.where(reached > 0, (through < costs).float(), 1 - (closed > 0.5).float())
            costs = torch.where(better > 0, through, costs)
            reached = torch.maximum(reached, better)
            running = running * (1 - at[:, -1:, -1:])
    return closed


def _chosen(totals: torch.Tensor, reached: torch.Tensor) -> torch.Tensor:
    """Return the reached cell of the least total of each map, as 1 among 0; its gradient is that of a softmin."""
    maps, side, _ = totals.shape
    scores = torch.where(reached > 0, totals / -math.sqrt(side), torch.tensor(-math.inf)).reshape(maps, -1)
    soft = scores.softmax(dim=1)
    hard = functional.one_hot(soft.detach().argmax(dim=1), side * side).float()
    return (hard + soft - soft.detach()).reshape(totals.shape)


def _steps_to_the_end(side: int) -> torch.Tensor:
    left = side - 1 - torch.arange(side, dtype=torch.float32)
    return torch.maximum(left[:, None], left[None, :])
