"""The recipe of the AAC paper's contextual variant as its code runs it, to be replayed; it claims nothing."""

from collections.abc import Iterable, Mapping
from typing import Any

from aacbench.contract.method import Unsupported
from aacbench.plugins import Encoder, EncoderClaims, Model, Parameter, TrainContext, hookimpl
from aacbench.util.torch_install import MISSING, require_torch, torch_missing

PARAMETERS = {
    "alpha": Parameter(1.0, "the weight of the squared error of costs", minimum=0.0),
    "epochs": Parameter(100, "steps at most; an epoch of the recipe is one step", minimum=1),
    "batch": Parameter(24, "maps in a step", minimum=1),
    "patience": Parameter(15, "steps without a lower loss, after which training ends", minimum=1),
    "lr": Parameter(1e-3, "the learning rate of Adam", minimum=0.0),
    "K": Parameter(5, "anchors, farthest points of the first training map", minimum=1),
    "m": Parameter(8, "rows that choose among the anchors", minimum=1),
}


@hookimpl
def aacbench_encoders() -> Iterable[Encoder]:
    yield Encoder(
        "gap-paper",
        "the paper's contextual recipe, for replay: smooth Bellman-Ford and a one-sided gap; slow",
        train,
        "costs",
        EncoderClaims(deterministic=False),
        PARAMETERS,
        docs="docs/contextual.md",
    )


def train(context: TrainContext) -> Model | Unsupported:
    if torch_missing():
        return Unsupported(f"{MISSING} and run again with --existing replace, or use from-file")
    cells = context.side**2
    if context.params["K"] > cells:
        return Unsupported(f"{context.params['K']} anchors cannot be chosen from the {cells} cells of a map")
    require_torch()
    from aacbench.plugins.encoders.gap_paper import recipe

    return recipe.train(context)


def predict(arrays: Mapping[str, Any], settings: Mapping[str, float], images: Any) -> Any:
    from aacbench.plugins.encoders.gap_paper import recipe

    return recipe.predict(arrays, settings, images)
