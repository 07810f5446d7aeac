"""A plugin that uses every hook."""

from pathlib import Path

from aacbench.plugins import (
    Claims,
    Encoder,
    GraphSource,
    MapSource,
    Method,
    Model,
    Parameter,
    ProtocolFile,
    Report,
    ScalarHeuristic,
    Section,
    SectionTable,
    Unsupported,
    hookimpl,
)

__version__ = "1.2"

SEEN = []


def fit(budget, info, params):
    return params if info.symmetric else Unsupported("one-way arcs are beyond it")


def build(context):
    return ScalarHeuristic(zero)


def zero(u, t):
    return 0


def load():
    from aacbench.graphs import from_arcs

    return from_arcs(2, [0], [1], [3], name="pair")


def load_maps():
    from aacbench.maps.load import load_maps

    return load_maps("terrain-4", dict.fromkeys(("train", "validation", "calibration", "test"), 2))


def train(context):
    return Model({}, ones, {"side": context.side})


def ones(arrays, settings, images):
    import numpy as np

    return np.ones((1, settings["side"], settings["side"]))


PARAMETERS = {
    "K0": Parameter(64, "size of the pool", minimum=1, maximum=512),
    "rate": Parameter(0.001, "learning rate", minimum=0),
    "start": Parameter("lowest", "first landmark", choices=("lowest", "random")),
    "sound": Parameter(True, "keep the margin"),
}


@hookimpl
def aacbench_methods():
    yield Method("flat", "h = 0", fit, build, Claims(directed=False), PARAMETERS)
    yield Method("flat-twin", "h = 0 again", fit, build)


@hookimpl
def aacbench_graphs():
    return [GraphSource("own:pair", "two vertices", load)]


@hookimpl
def aacbench_protocols():
    return (ProtocolFile("own-protocol", Path(__file__).parent / "own-protocol.toml"),)


def count_rows(study):
    import pandas as pd

    counts = pd.DataFrame({"what": ["cells", "queries"], "rows": [len(study.cells), len(study.queries)]})
    study.cells["outcome"] = "wrong"
    return Section("How much there is.", [SectionTable("Rows", counts)])


@hookimpl
def aacbench_reports():
    return [Report("row-count", "Rows of the study", "how many cells and queries there are", count_rows)]


@hookimpl
def aacbench_encoders():
    return [Encoder("own-flat", "ones", train, "nothing")]


@hookimpl
def aacbench_maps():
    return [MapSource("own:maps", "a few maps", load_maps)]


@hookimpl
def aacbench_cell_finished(cell):
    cell["outcome"] = "ok"
    cell["key"]["budget"] = 0
    SEEN.append(("cell", cell["cell_id"]))
    return "ignored"


@hookimpl
def aacbench_run_finished(summary):
    SEEN.append(("run", summary["cells"].pop()))
