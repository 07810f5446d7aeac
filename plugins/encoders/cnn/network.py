"""The networks as functions of named tensors, so that a model is its arrays and nothing else."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn import functional

from aacbench.graphs.record import Array

Tensors = Mapping[str, torch.Tensor]
LEAST = 0.01  # of a cost that is not a class
MOST_GUIDANCE = 10.0
_STATISTICS = ("mean", "variance")  # of the batch norm: not trained by gradients
# Filters of the three strided convolutions, or of the two with pooling between them.
STRIDED, POOLED, HIDDEN = (16, 32, 32), (16, 32), 32


@contextmanager
def deterministic() -> Iterator[None]:
    """One thread and algorithms whose sums have one order; both are restored afterwards."""
    threads, before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)
        torch.set_num_threads(threads)


def initial(net: str, outputs: int) -> dict[str, torch.Tensor]:
    """Return new parameters, drawn from torch's generator."""
    filters = STRIDED if net == "strided" else POOLED
    tensors: dict[str, torch.Tensor] = {}
    for number, (before, after) in enumerate(zip((3, *filters), filters, strict=False), 1):
        tensors |= layer(f"conv{number}", before, after, 3)
    if net != "strided":
        tensors |= {"norm_weight": torch.ones(filters[-1]), "norm_bias": torch.zeros(filters[-1])}
        tensors |= {"mean": torch.zeros(filters[-1]), "variance": torch.ones(filters[-1])}
    tensors |= layer("hidden", filters[-1], HIDDEN, 1)
    return tensors | layer("output", HIDDEN, outputs, 1)


def trained(tensors: Tensors) -> list[str]:
    """The names of the tensors that gradients change."""
    return [name for name in tensors if name not in _STATISTICS]


def forward(tensors: Tensors, images: torch.Tensor, side: int, standardise: bool, training: bool) -> torch.Tensor:
    """Return the outputs (n, outputs, side, side) for images (n, rows, columns, 3) of bytes."""
    x = (images.permute(0, 3, 1, 2).float() / 255).contiguous(memory_format=torch.channels_last)  # twice as fast
    if standardise:
        mean, deviation = x.mean(dim=(2, 3), keepdim=True), x.std(dim=(2, 3), keepdim=True)
        x = (x - mean) / (deviation + 1e-3)
    if "norm_weight" in tensors:
        x = functional.relu(functional.max_pool2d(convolved(tensors, "conv1", x), 2))  # in this order, fewer numbers
        x = convolved(tensors, "conv2", x)
        statistics = tensors["mean"], tensors["variance"]
        x = functional.batch_norm(x, *statistics, tensors["norm_weight"], tensors["norm_bias"], training)
        x = functional.relu(x)
    else:
        for number in range(1, len(STRIDED) + 1):
            x = functional.relu(convolved(tensors, f"conv{number}", x, stride=2))
    x = pooled(x, side)
    return convolved(tensors, "output", functional.relu(convolved(tensors, "hidden", x)))


def costs_of(outputs: torch.Tensor, values: torch.Tensor | None, snap: bool = False) -> torch.Tensor:
    """Return positive costs (n, side, side): of the classes with these values, or of a single output."""
    if values is None:
        return functional.softplus(outputs[:, 0]) + LEAST
    if snap:
        return values[outputs.argmax(dim=1)]
    return torch.einsum("ncij,c->nij", outputs.softmax(dim=1), values)


def guidance(outputs: torch.Tensor) -> torch.Tensor:
    """Return a guidance map (n, side, side) between 0 and 10, for a search to take as costs."""
    return LEAST + (MOST_GUIDANCE - LEAST) * outputs[:, 0].sigmoid()


def output_for(guide: float) -> float:
    """Return the output that stands for this guidance."""
    share = (guide - LEAST) / (MOST_GUIDANCE - LEAST)
    return math.log(share / (1 - share))


def predict(arrays: Mapping[str, Array], settings: Mapping[str, float], images: Array) -> Any:
    """Return the costs of the cells of these images; the arrays are those of a trained model."""
    with deterministic(), torch.no_grad():
        tensors = {name: torch.tensor(array) for name, array in arrays.items()}
        values = tensors.pop("values", None)
        pictures = torch.tensor(images)
        outputs = forward(tensors, pictures, int(settings["side"]), bool(settings["standardise"]), training=False)
        if settings.get("guide"):
            return guidance(outputs.double()).numpy()
        return costs_of(outputs.double(), values, bool(settings["snap"])).numpy()


def layer(name: str, before: int, after: int, size: int) -> dict[str, torch.Tensor]:
    """Weights and biases in torch's own initial distribution."""
    limit = 1 / math.sqrt(before * size * size)
    weight = (2 * torch.rand(after, before, size, size) - 1) * limit
    return {f"{name}_weight": weight, f"{name}_bias": (2 * torch.rand(after) - 1) * limit}


def pooled(x: torch.Tensor, side: int) -> torch.Tensor:
    """Return the mean of each cell."""
    whole, rest = divmod(x.shape[-1], side)
    return functional.adaptive_avg_pool2d(x, side) if rest else functional.avg_pool2d(x, whole)


def convolved(tensors: Tensors, name: str, x: torch.Tensor, stride: int = 1) -> torch.Tensor:
    weight = tensors[f"{name}_weight"]
    return functional.conv2d(x, weight, tensors[f"{name}_bias"], stride=stride, padding=weight.shape[-1] // 2)
