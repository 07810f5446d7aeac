"""A small convolutional network from images to costs, what it learns from is a switch; or to a map that guides A*."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from aacbench.contract.method import Unsupported
from aacbench.plugins import Encoder, EncoderClaims, Model, Parameter, Params, TrainContext, hookimpl
from aacbench.util.torch_install import MISSING, require_torch, torch_missing

# The loss, and what the training maps have with it.
LOSSES = {"classes": "costs", "mse": "costs", "spo": "costs", "gap": "costs", "dbb": "paths", "fy": "paths"}
GUIDED = "guided"  # the loss of neural-astar
PARAMETERS = {
    "loss": Parameter(
        "classes",
        "classes (cross-entropy on the distinct costs) or mse learn from costs; spo (SPO+) from costs by the paths "
        "they lead to; gap (mse, and joint times the gap of landmark bounds to true distances) from costs; dbb "
        "(differentiated black box) and fy (perturbed Fenchel-Young) from paths alone",
        choices=tuple(LOSSES),
    ),
    "net": Parameter("pooled", "pooled, or strided: three strided convolutions", choices=("pooled", "strided")),
    "standardise": Parameter(True, "standardise each image by its own colours"),
    "snap": Parameter(False, "with classes: predict the likeliest cost, not the expected one"),
    "epochs": Parameter(8, "times that each training map is seen", minimum=1),
    "batch": Parameter(50, "maps in a step", minimum=1),
    "lr": Parameter(0.01, "the highest learning rate of the cycle", minimum=0.0),
    "lambda": Parameter(20.0, "with dbb: how far costs are moved", minimum=1e-6),
    "joint": Parameter(1.0, "with gap: the weight of the gap; 0 is mse", minimum=0.0),
    "anchors": Parameter(8, "with gap: landmark cells, farthest ones of the unit grid", minimum=1),
    "sigma": Parameter(1.0, "with fy: how much costs are perturbed", minimum=0.0),
}

GUIDED_PARAMETERS = {
    **{name: PARAMETERS[name] for name in ("net", "standardise", "epochs", "batch", "lr")},
    "start": Parameter(
        1.0, "the guidance before training; far above 1 no search ends while it trains", minimum=0.1, maximum=9.9
    ),
}


@hookimpl
def aacbench_encoders() -> Iterable[Encoder]:
    yield Encoder(
        "cnn",
        "a small convolutional network, 6,300 parameters",
        train,
        learns_from,
        EncoderClaims(deterministic=False),
        PARAMETERS,
        check,
        docs="docs/contextual.md",
    )
    yield Encoder(
        "neural-astar",
        "the same network to a map that guides A*: the cells a search expands should be those of the path",
        train_guided,
        "paths",
        EncoderClaims(deterministic=False),
        GUIDED_PARAMETERS,
        docs="docs/contextual.md",
    )


def learns_from(params: Params) -> str:
    return LOSSES[params["loss"]]


def check(params: Params) -> str:
    if params["snap"] and params["loss"] != "classes":
        return "snap needs loss=classes: other losses know no set of costs."
    return ""


def train(context: TrainContext) -> Model | Unsupported:
    if torch_missing():
        return Unsupported(f"{MISSING} and run again with --existing replace, or use from-file")
    require_torch()
    from aacbench.plugins.encoders.cnn import training

    return training.train(context)


def train_guided(context: TrainContext) -> Model | Unsupported:
    return train(replace(context, params={**context.params, "loss": GUIDED, "snap": False}))


def predict(arrays: Mapping[str, Any], settings: Mapping[str, float], images: Any) -> Any:
    from aacbench.plugins.encoders.cnn import network

    return network.predict(arrays, settings, images)
