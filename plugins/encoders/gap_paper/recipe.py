"""Training as the paper's code does it: one step of Adam on 24 maps an epoch, sharper and sharper, until it stalls.

Loss: the true distance of random pairs less a smooth landmark bound on predicted costs, where positive; the squared
error of costs; the entropy of the rows that choose anchors. Both distances are by the paper's edges.
"""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from aacbench.graphs.record import Array
from aacbench.labels.pool import farthest_points
from aacbench.maps.atlas import SCALE, atlas, whole_costs
from aacbench.maps.names import PAPER
from aacbench.plugins import Model, TrainContext
from aacbench.plugins.encoders.cnn.network import convolved, costs_of, deterministic, layer, pooled
from aacbench.plugins.encoders.gap_paper import predict as predict_costs
from aacbench.plugins.encoders.gap_paper.smooth import smooth_distances
from aacbench.plugins.methods.aac.compressor import block_sparse, entropy, select, smooth_maximum
from aacbench.plugins.methods.aac.optimiser import AdamW
from aacbench.search import dijkstra
from aacbench.search.networks import network

FILTERS = (32, 64, 128)
PAIRS = 32  # of cells on each map of a step
GROWTH, SHARPEST, SHARPEST_MAXIMUM = 1.05, 30.0, 100.0  # of beta and of the smooth maximum, both from 1
COOLEST = 0.1  # temperature of the rows
ENTROPY = 0.01
LEAST_GAIN = 1e-6
TELL_SECONDS = 2.0


def train(context: TrainContext) -> Model:
    params = context.params
    with deterministic(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(context.seed)
        tensors = initial()
        rows = torch.nn.Parameter(block_sparse(params["m"], params["K"]))
        losses = _fit(context, tensors, rows)
    arrays = {name: tensor.detach().numpy() for name, tensor in tensors.items()}
    facts = {"loss": losses[-1], "steps": len(losses), "parameters": sum(each.size for each in arrays.values())}
    return Model(arrays, predict_costs, {"side": context.side}, facts)


def initial() -> dict[str, torch.Tensor]:
    tensors: dict[str, torch.Tensor] = {}
    for number, (before, after) in enumerate(zip((3, *FILTERS), FILTERS, strict=False), 1):
        tensors |= layer(f"conv{number}", before, after, 3)
    return tensors | layer("output", FILTERS[-1], 1, 1)


def forward(tensors: Mapping[str, torch.Tensor], images: torch.Tensor, side: int) -> torch.Tensor:
    """Return the costs (n, side, side) of images (n, rows, columns, 3) of bytes."""
    x = (images.permute(0, 3, 1, 2).float() / 255).contiguous(memory_format=torch.channels_last)
    for number in range(1, len(FILTERS) + 1):
        x = functional.relu(convolved(tensors, f"conv{number}", x))
    return costs_of(convolved(tensors, "output", pooled(x, side)), None)


def predict(arrays: Mapping[str, Array], settings: Mapping[str, float], images: Array) -> Any:
    with deterministic(), torch.no_grad():
        tensors = {name: torch.tensor(array) for name, array in arrays.items()}
        return forward(tensors, torch.tensor(images), int(settings["side"])).double().numpy()


def _fit(context: TrainContext, tensors: dict[str, torch.Tensor], rows: torch.Tensor) -> list[float]:
    """Change the tensors in place; return the loss of each step."""
    params, maps = context.params, context.train
    assert maps.costs is not None
    tensors |= {name: torch.nn.Parameter(tensor) for name, tensor in tensors.items()}
    optimiser = AdamW([*tensors.values(), rows], params["lr"], weight_decay=0.0)
    anchors = farthest_points(network(atlas(whole_costs(maps.costs[:1])[0], PAPER)), params["K"]).landmarks
    losses: list[float] = []
    best, since = np.inf, 0
    began = spoke = time.monotonic()
    for step in range(params["epochs"]):
        chosen = np.sort(torch.randperm(len(maps))[: params["batch"]].numpy())
        images = torch.from_numpy(np.ascontiguousarray(maps.images[chosen]))
        predicted = forward(tensors, images, context.side).double()
        loss = _loss(predicted, maps.costs[chosen], anchors, rows, GROWTH**step)
        loss = loss + params["alpha"] * functional.mse_loss(predicted, torch.from_numpy(maps.costs[chosen]))
        optimiser.minimise(loss)
        losses.append(float(loss.detach()))
        best, since = (losses[-1], 0) if losses[-1] < best - LEAST_GAIN else (best, since + 1)
        if since >= params["patience"]:
            break
        if time.monotonic() - spoke >= TELL_SECONDS:
            spoke = time.monotonic()
            left = (spoke - began) / (step + 1) * (params["epochs"] - step - 1)
            context.progress(f"step {step + 1} of {params['epochs']}, loss {losses[-1]:.3g}, at most {left:.0f} s left")
    return losses


def _loss(predicted: torch.Tensor, costs: Array, anchors: Array, rows: torch.Tensor, sharp: float) -> torch.Tensor:
    """Return the mean gap of random pairs, and the entropy of the rows; each map has its own draw of the rows."""
    count, cells = len(costs), costs[0].size
    ends = torch.randint(0, cells, (2, count, PAIRS))
    soft = smooth_distances(predicted, torch.from_numpy(anchors), min(sharp, SHARPEST))
    maximum = min(sharp, SHARPEST_MAXIMUM)
    labels = torch.stack(select([rows] * count, max(COOLEST, 1 / maximum))) @ soft
    at = [labels.gather(2, end[:, None].expand(-1, len(rows), -1)) for end in ends]
    bounds = smooth_maximum((at[0] - at[1]).abs(), maximum, dim=1)
    distances = torch.from_numpy(_true_distances(costs, ends.numpy()))
    return (distances - bounds).clamp(min=0).mean() + ENTROPY * entropy([rows])


def _true_distances(costs: Array, ends: Array) -> Array:
    net = network(atlas(whole_costs(costs)[0], PAPER))
    sources, targets = (ends + costs[0].size * np.arange(len(costs))[:, None]).reshape(2, -1)
    found = dijkstra(net, sources, targets).cost
    return np.asarray(found / SCALE).reshape(len(costs), -1)
