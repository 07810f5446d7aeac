"""Training: Adam under one cycle of the learning rate, over shuffled batches, with progress every two seconds."""

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from aacbench.contract.method import Unsupported
from aacbench.graphs.record import Array
from aacbench.plugins import Model, TrainContext, TrainMaps
from aacbench.plugins.encoders.cnn import GUIDED, network, predict
from aacbench.plugins.encoders.cnn.losses import loss_of
from aacbench.plugins.methods.aac.optimiser import AdamW

MOST_CLASSES = 16
RISING = 0.3  # the share of the cycle in which the learning rate rises
LOWEST = 0.04  # of the highest learning rate, where the cycle begins
TELL_SECONDS = 2.0


def train(context: TrainContext) -> Model | Unsupported:
    params = context.params
    values = _values(context) if params["loss"] == "classes" else None
    if values is not None and len(values) > MOST_CLASSES:
        return Unsupported(f"The training maps have {len(values)} distinct costs; loss=classes takes {MOST_CLASSES}")
    with network.deterministic(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(context.seed)
        tensors = network.initial(params["net"], 1 if values is None else len(values))
        if params["loss"] == GUIDED:
            tensors["output_bias"] += network.output_for(params["start"])
        loss = _fit(context, tensors, None if values is None else torch.from_numpy(values))
    arrays = {name: tensor.detach().numpy() for name, tensor in tensors.items()}
    if values is not None:
        arrays["values"] = values
    settings = {"side": context.side, "standardise": int(params["standardise"]), "snap": int(params["snap"])}
    if params["loss"] == GUIDED:
        settings["guide"] = 1
    parameters = sum(tensors[name].numel() for name in network.trained(tensors))
    return Model(arrays, predict, settings, {"loss": loss, "parameters": parameters})


def rate(step: int, steps: int, highest: float) -> float:
    """The learning rate of a step: up and down by cosines, once."""
    done = step / max(1, steps)
    if done < RISING:
        low, share = LOWEST, done / RISING
        return highest * (low + (1 - low) * (1 - math.cos(math.pi * share)) / 2)
    return highest * (1 + math.cos(math.pi * (done - RISING) / (1 - RISING))) / 2


def _fit(context: TrainContext, tensors: dict[str, torch.Tensor], values: torch.Tensor | None) -> float:
    """Change the tensors in place; return the mean loss of the last epoch."""
    params, maps = context.params, context.train
    trained = [torch.nn.Parameter(tensors[name]) for name in network.trained(tensors)]
    tensors |= dict(zip(network.trained(tensors), trained, strict=True))
    optimiser = AdamW(trained, params["lr"], weight_decay=0.0)
    batches = math.ceil(len(maps) / params["batch"])
    steps, step, losses = params["epochs"] * batches, 0, [0.0]
    began = spoke = time.monotonic()
    for epoch in range(params["epochs"]):
        losses = []
        for chosen in np.array_split(torch.randperm(len(maps)).numpy(), batches):
            loss = _loss(context, tensors, values, np.sort(chosen))
            optimiser.minimise(loss, rate(step, steps, params["lr"]))
            losses.append(float(loss.detach()))
            step += 1
            if time.monotonic() - spoke >= TELL_SECONDS:
                spoke = time.monotonic()
                left = (spoke - began) / step * (steps - step)
                context.progress(f"epoch {epoch + 1} of {params['epochs']}, loss {losses[-1]:.3g}, {left:.0f} s left")
    return float(np.mean(losses))


def _loss(
    context: TrainContext, tensors: Mapping[str, torch.Tensor], values: torch.Tensor | None, chosen: Array
) -> torch.Tensor:
    maps, params = context.train, context.params
    images = torch.from_numpy(np.ascontiguousarray(maps.images[chosen]))
    outputs = network.forward(tensors, images, context.side, params["standardise"], training=True)
    costs, paths = _some(maps, chosen)
    return loss_of(outputs, values if values is None else values.float(), costs, paths, params)


def _some(maps: TrainMaps, chosen: Array) -> tuple[Any, Any]:
    return tuple(None if labels is None else labels[chosen] for labels in (maps.costs, maps.paths))  # type: ignore[return-value]


def _values(context: TrainContext) -> Array:
    assert context.train.costs is not None
    found: Array = np.unique(context.train.costs)
    return found
