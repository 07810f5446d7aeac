"""Encoders to compare with: the true costs, the same cost everywhere, and costs that were predicted elsewhere."""

from collections.abc import Iterable, Mapping
from typing import Any

from aacbench.errors import DataError
from aacbench.plugins import Encoder, EncoderClaims, Model, Parameter, TrainContext, hookimpl

DOCS = "docs/contextual.md"


@hookimpl
def aacbench_encoders() -> Iterable[Encoder]:
    yield Encoder("true", "the true costs of each map", train_true, "nothing", EncoderClaims(oracle=True), docs=DOCS)
    yield Encoder("constant", "the same cost for every cell", train_constant, "nothing", docs=DOCS)
    yield Encoder(
        "from-file",
        "costs predicted elsewhere, from an .npy file",
        train_from_file,
        "nothing",
        parameters={"path": Parameter("", "the .npy file: costs of the test maps, then of the calibration maps")},
        check=lambda params: "" if params["path"] else "give the file of costs: from-file[path=costs.npy].",
        inputs=lambda params: (params["path"],),
        docs=DOCS,
    )


def train_true(context: TrainContext) -> Model:
    assert context.oracle_costs is not None
    return Model({"costs": context.oracle_costs})


def train_constant(context: TrainContext) -> Model:
    return Model({}, predict_ones, {"side": context.side})


def predict_ones(arrays: Mapping[str, Any], settings: Mapping[str, float], images: Any) -> Any:
    import numpy as np

    side = int(settings["side"])
    return np.ones((len(images), side, side))


def train_from_file(context: TrainContext) -> Model:
    """Read the costs of all wanted maps, or of the test and calibration maps alone.

    Integers are costs in 10240ths, as `costs.npy` of a cell has them; floats are in the data set's own scale.
    """
    import numpy as np

    from aacbench.maps.atlas import SCALE
    from aacbench.util.paths import expanded

    path = expanded(context.params["path"])
    try:
        costs = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path.absolute()} cannot be read as an .npy file of numbers: {error}") from error
    tests = context.wanted["test"] + context.wanted["calibration"]
    everything = sum(context.wanted.values())
    shapes = [(count, context.side, context.side) for count in dict.fromkeys((tests, everything))]
    if costs.shape not in shapes or costs.dtype.kind not in "iuf":
        told = " or ".join(map(str, shapes))
        raise DataError(f"{path} has {costs.dtype} of shape {costs.shape}; this study needs numbers of shape {told}.")
    return Model({"costs": costs / SCALE if costs.dtype.kind in "iu" else costs.astype(np.float64)})
