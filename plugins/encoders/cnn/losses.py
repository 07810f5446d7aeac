"""What the network minimises: errors of costs, or losses whose gradient a shortest path gives."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from aacbench.graphs.record import Array
from aacbench.labels.blocks import farthest_cells
from aacbench.maps.atlas import SCALE
from aacbench.maps.grid import distance_gradient, solve
from aacbench.plugins.encoders.cnn import GUIDED
from aacbench.plugins.encoders.cnn.guided import guided_loss
from aacbench.plugins.encoders.cnn.network import costs_of

PAIRS = 16  # of cells on each map of a batch, for the gap
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
    if name == GUIDED:
        return guided_loss(outputs, torch.from_numpy(_wanted(paths)).float())
    predicted = costs_of(outputs, values)
    if name == "mse":
        return functional.mse_loss(predicted, torch.from_numpy(_wanted(costs)).float())
    with torch.no_grad():
        gradient = _gradient(predicted.double().numpy(), costs, paths, params)
    by_paths = (predicted * torch.from_numpy(gradient).float()).sum() / len(predicted)
    if name == "gap":
        return functional.mse_loss(predicted, torch.from_numpy(_wanted(costs)).float()) + params["joint"] * by_paths
    return by_paths


def _gradient(predicted: Array, costs: Array | None, paths: Array | None, params: Mapping[str, Any]) -> Array:
    """Return the derivative of the loss of each map by the costs of its cells."""
    if params["loss"] == "spo":
        return spo(predicted, _wanted(costs), _wanted(paths))
    if params["loss"] == "gap":
        anchors = farthest_cells(predicted.shape[-1], min(params["anchors"], predicted[0].size))
        ends = torch.randint(0, predicted[0].size, (len(predicted), PAIRS, 2)).numpy()
        return gap_gradient(predicted, _wanted(costs), anchors, ends)[1]
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


def gap_gradient(predicted: Array, costs: Array, anchors: Array, ends: Array) -> tuple[Array, Array]:
    """Return the mean gap of each map, and its derivative by the predicted costs; `ends` are pairs of cells.

    The gap of a pair is by how much its true distance exceeds the landmark bound on predicted costs, at least 0. Both
    are distances of the atlas, in the data set's scale, and exact: no distance is smoothed.
    """
    gaps, gradient = np.zeros(len(predicted)), np.zeros(predicted.shape)
    for number, (guess, true) in enumerate(zip(predicted, costs, strict=True)):
        whole, pairs = np.maximum(np.rint(SCALE * guess), 1).astype(np.int64), ends[number]
        none = np.zeros(whole.size)
        rows = np.array([distance_gradient(whole, int(anchor), none)[0] for anchor in anchors])
        signed = rows[:, pairs[:, 0]] - rows[:, pairs[:, 1]]
        best = np.abs(signed).argmax(axis=0)
        bound = np.abs(signed).max(axis=0) / SCALE
        gap = np.maximum(_true_distances(true, pairs) - bound, 0)
        gaps[number] = gap.mean()
        for at, anchor in enumerate(anchors):
            by_distance = np.zeros(whole.size)
            for pair in np.flatnonzero((best == at) & (gap > 0)):
                sign = np.sign(signed[at, pair]) / len(pairs)  # a larger bound is a smaller gap
                by_distance[pairs[pair, 0]] -= sign
                by_distance[pairs[pair, 1]] += sign
            if by_distance.any():
                gradient[number] += distance_gradient(whole, int(anchor), by_distance)[1].reshape(true.shape)
    return gaps, gradient


def _true_distances(costs: Array, pairs: Array) -> Array:
    whole = np.rint(SCALE * costs).astype(np.int64)
    none = np.zeros(whole.size)
    return np.array([distance_gradient(whole, int(s), none)[0][t] for s, t in pairs]) / SCALE


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
