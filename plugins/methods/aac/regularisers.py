"""What the training loss adds to the gap: the rows' entropy, their overlap, and a soft covering radius."""

from collections.abc import Sequence

import torch

from aacbench.plugins.methods.aac.smooth import smooth_maximum, smooth_minimum

COVERAGE_SHARPNESS = 10.0


def entropy(logits: Sequence[torch.Tensor]) -> torch.Tensor:
    """The mean entropy of a matrix's rows, summed over the matrices: low when each row is sure of its landmark."""
    return torch.stack([_row_entropy(matrix) for matrix in logits if len(matrix)]).sum()


def overlap(logits: Sequence[torch.Tensor]) -> torch.Tensor:
    """The mean inner product of two rows of a matrix, summed over the matrices: high when rows pick the same."""
    return torch.stack([_row_overlap(matrix) for matrix in logits]).sum()


def covering_radius(selections: Sequence[torch.Tensor], distances: Sequence[torch.Tensor]) -> torch.Tensor:
    """How far, softly, the farthest of some vertices is from its nearest selected landmark.

    `distances` has, for each matrix, the distances between the pool's landmarks (rows) and the vertices (columns).
    """
    chosen = torch.cat([rows @ columns for rows, columns in zip(selections, distances, strict=True)])
    nearest = smooth_minimum(chosen, COVERAGE_SHARPNESS, dim=0)
    return smooth_maximum(nearest, COVERAGE_SHARPNESS, dim=0)


def _row_entropy(matrix: torch.Tensor) -> torch.Tensor:
    return -(matrix.softmax(dim=1) * matrix.log_softmax(dim=1)).sum(dim=1).mean()


def _row_overlap(matrix: torch.Tensor) -> torch.Tensor:
    rows = len(matrix)
    if rows < 2:
        return matrix.new_zeros(())
    shares = matrix.softmax(dim=1)
    products = shares @ shares.T
    return (products.sum() - products.diagonal().sum()) / (rows * (rows - 1))
