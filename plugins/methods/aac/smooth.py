"""The paper's smooth maximum M_T: a lower bound of the maximum, and at most log(m)/T below it."""

import math

import torch


def smooth_maximum(values: torch.Tensor, sharpness: float, dim: int) -> torch.Tensor:
    """M_T(x) = log(sum exp(T x)) / T - log(m) / T over one dimension of m entries, with T the sharpness."""
    if not sharpness > 0:
        raise ValueError(f"the sharpness of a smooth maximum is positive, not {sharpness}.")
    return (torch.logsumexp(sharpness * values, dim) - math.log(values.shape[dim])) / sharpness


def smooth_minimum(values: torch.Tensor, sharpness: float, dim: int) -> torch.Tensor:
    """The same from above: never below the minimum."""
    return -smooth_maximum(-values, sharpness, dim)
