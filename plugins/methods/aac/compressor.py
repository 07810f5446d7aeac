"""The row-stochastic compressor: logits over the pool's landmarks, a row a label, sampled and deployed one-hot."""

from collections.abc import Callable, Sequence

import torch
from torch.nn import functional

OUTSIDE = -5.0  # the logit of a landmark outside a row's block
NOISE = 0.1

Initial = Callable[[int, int], torch.Tensor]


def block_sparse(rows: int, columns: int) -> torch.Tensor:
    """Each row at random within its own block of the pool."""
    width = max(1, columns // max(1, rows))
    return _blocks(rows, columns, width) + NOISE * torch.randn(rows, columns)


def identity(rows: int, columns: int) -> torch.Tensor:
    """Row i all but on landmark i."""
    return _blocks(rows, columns, 1) + NOISE * torch.randn(rows, columns)


def one_hot(rows: int, columns: int) -> torch.Tensor:
    """Row i on landmark i."""
    return _blocks(rows, columns, 1)


def select(logits: Sequence[torch.Tensor], temperature: float) -> list[torch.Tensor]:
    """One-hot rows drawn by Gumbel-softmax, with the gradient of the soft ones."""
    return [functional.gumbel_softmax(matrix.double(), temperature, hard=True) for matrix in logits]


def bound(selections: Sequence[torch.Tensor], differences: Sequence[torch.Tensor]) -> torch.Tensor:
    """The compressed heuristic of a batch: the largest selected difference, at least zero.

    A single matrix serves both directions, so its differences count with either sign.
    """
    terms = [rows @ columns for rows, columns in zip(selections, differences, strict=True)]
    if len(terms) == 1:
        terms = [terms[0].abs()]
    return torch.cat([*terms, terms[0].new_zeros(1, terms[0].shape[1])]).max(dim=0).values


def teacher(differences: Sequence[torch.Tensor]) -> torch.Tensor:
    """The same with every landmark of the pool selected."""
    return bound([torch.eye(len(columns), dtype=columns.dtype) for columns in differences], differences)


def deployed(logits: Sequence[torch.Tensor]) -> tuple[tuple[int, ...], ...]:
    """The landmark each row picks, by the largest logit. Two rows may pick the same one; the paper keeps both."""
    return tuple(tuple(matrix.argmax(dim=1).tolist()) for matrix in logits)


def _blocks(rows: int, columns: int, width: int) -> torch.Tensor:
    logits = torch.full((rows, columns), OUTSIDE)
    for row in range(rows):
        logits[row, row * width : (row + 1) * width] = 0.0
    return logits
