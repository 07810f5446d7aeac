"""What the network minimises: errors of costs, or losses whose gradient a shortest path gives."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from aacbench.graphs.record import Array
from aacbench.maps.grid import solve
from aacbench.plugins.encoders.cnn.network import costs_of

_FINE = 2.0**20  # a float cost in integers, for the solver


def loss_of(
    outputs: torch.Tensor,
    values: torch.Tensor | None,
    costs: Array | None,
    paths: Array | None,
    params: Mapping[str, Any],
) -> torch.Tensor:
    """Return the loss of a batch; a loss by paths has the right gradient and no meaning as a number."""
    name = params["loss"]
    if name == "classes":
        assert values is not None
        assert costs is not None
        wanted = np.abs(costs[..., None] - values.numpy()).argmin(axis=-1)
        return functional.cross_entropy(outputs, torch.from_numpy(wanted))
    predicted = costs_of(outputs, values)
    if name == "mse":
        assert costs is not None
        return functional.mse_loss(predicted, torch.from_numpy(costs).float())
    with torch.no_grad():
        gradient = _gradient(predicted.double().numpy(), costs, paths, params)
    return (predicted * torch.from_numpy(gradient).float()).sum() / len(predicted)


def _gradient(predicted: Array, costs: Array | None, paths: Array | None, params: Mapping[str, Any]) -> Array:
    """Return the derivative of the loss of each map by the costs of its cells."""
    if params["loss"] == "spo":
        return spo(predicted, _wanted(costs), _wanted(paths))
    labels = _wanted(paths).astype(np.float64)
    if params["loss"] == "dbb":
        return black_box(predicted, labels, params["lambda"])
    noise = torch.randn(predicted.shape, dtype=torch.float64).numpy()
    return fenchel_young(predicted + params["sigma"] * noise, labels)


def spo(predicted: Array, costs: Array, labels: Array) -> Array:
    """The subgradient of SPO+ (Elmachtoub and Grigas): twice the label less the path of 2 * predicted - true."""
    return 2.0 * (labels.astype(np.float64) - shortest(2 * predicted - costs))


def black_box(predicted: Array, labels: Array, distance: float) -> Array:
    """The gradient of the Hamming distance to the label, as Vlastelica et al. interpolate it."""
    moved = predicted + distance * (1 - 2 * labels)
    return (shortest(moved) - shortest(predicted)) / distance


def fenchel_young(perturbed: Array, labels: Array) -> Array:
    """The gradient of the perturbed Fenchel-Young loss (Berthet et al.) by one draw."""
    return labels - shortest(perturbed)


def shortest(costs: Array) -> Array:
    """Return the cells of a shortest path on each map as 0 and 1; a negative cost counts as 0."""
    whole = np.rint(_FINE * np.clip(costs, 0, 2.0**20)).astype(np.int64)
    return solve(whole).paths.astype(np.float64)


def _wanted(labels: Array | None) -> Array:
    assert labels is not None
    return labels
