"""The row-stochastic compressor and its regularisers: logits over the pool's landmarks, one row per label."""

import math
from collections.abc import Callable, Sequence

import torch
from torch.nn import functional

OUTSIDE = -5.0  # logit of a landmark outside a row's block
NOISE = 0.1
COVERAGE_SHARPNESS = 10.0

Initial = Callable[[int, int], torch.Tensor]


def block_sparse(rows: int, columns: int) -> torch.Tensor:
    """Return logits that favour a random landmark within each row's own block of the pool."""
    width = max(1, columns // max(1, rows))
    return _blocks(rows, columns, width) + NOISE * torch.randn(rows, columns)


def identity(rows: int, columns: int) -> torch.Tensor:
    return _blocks(rows, columns, 1) + NOISE * torch.randn(rows, columns)


def one_hot(rows: int, columns: int) -> torch.Tensor:
    """Return logits that favour landmark i in row i, without noise."""
    return _blocks(rows, columns, 1)


def select(logits: Sequence[torch.Tensor], temperature: float) -> list[torch.Tensor]:
    """Draw one-hot rows by Gumbel-softmax; their gradient is that of the soft rows."""
    return [functional.gumbel_softmax(matrix.double(), temperature, hard=True) for matrix in logits]


def bound(selections: Sequence[torch.Tensor], differences: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the compressed heuristic of a batch: the largest selected difference, at least zero.

    A single matrix serves both directions, so absolute differences are used.
    """
    terms = [rows @ columns for rows, columns in zip(selections, differences, strict=True)]
    if len(terms) == 1:
        terms = [terms[0].abs()]
    return torch.cat([*terms, terms[0].new_zeros(1, terms[0].shape[1])]).max(dim=0).values


def teacher(differences: Sequence[torch.Tensor]) -> torch.Tensor:
    return bound([torch.eye(len(columns), dtype=columns.dtype) for columns in differences], differences)


def deployed(logits: Sequence[torch.Tensor]) -> tuple[tuple[int, ...], ...]:
    """Return the landmark of each row's largest logit. Two rows may pick the same one; the paper deploys both."""
    return tuple(tuple(matrix.argmax(dim=1).tolist()) for matrix in logits)


def _blocks(rows: int, columns: int, width: int) -> torch.Tensor:
    logits = torch.full((rows, columns), OUTSIDE)
    for row in range(rows):
        logits[row, row * width : (row + 1) * width] = 0.0
    return logits


def entropy(logits: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the mean entropy of a matrix's rows, summed over the matrices; low if each row favours one landmark."""
    return torch.stack([_row_entropy(matrix) for matrix in logits if len(matrix)]).sum()


def overlap(logits: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the mean inner product of two rows of a matrix, summed over the matrices; high if rows pick the same."""
    return torch.stack([_row_overlap(matrix) for matrix in logits]).sum()


def covering_radius(selections: Sequence[torch.Tensor], distances: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the smooth covering radius: the largest distance of a vertex from its nearest selected landmark.

    `distances` has one table per matrix, with a row for each landmark of the pool and a column for each vertex.
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


def smooth_maximum(values: torch.Tensor, sharpness: float, dim: int) -> torch.Tensor:
    """Return the paper's M_T(x) = log(sum exp(T x)) / T - log(m) / T over a dimension of m entries; T is the sharpness.

    It never exceeds the maximum, and is at most log(m) / T below it.
    """
    if not sharpness > 0:
        raise ValueError(f"The sharpness of a smooth maximum must be positive, not {sharpness}.")
    return (torch.logsumexp(sharpness * values, dim) - math.log(values.shape[dim])) / sharpness


def smooth_minimum(values: torch.Tensor, sharpness: float, dim: int) -> torch.Tensor:
    return -smooth_maximum(-values, sharpness, dim)
