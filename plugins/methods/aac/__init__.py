"""AAC: a trained row-stochastic compressor selects landmarks from a pool; they are deployed as ALT deploys its own."""

from collections.abc import Iterator

from aacbench.contract.families import MapsContext
from aacbench.contract.landmarks import (
    LABELS,
    PACKED,
    SELECTORS,
    cannot_select,
    does_not_fit,
    pool_parameter,
    resolved,
    room_for,
    values_that_fit,
    waived,
)
from aacbench.contract.method import BuildContext, Claims, LabelHeuristic, Method, Parameter, Params, Unsupported
from aacbench.plugins import Budget, GraphInfo, hookimpl
from aacbench.util.torch_install import MISSING, require_torch, torch_missing

Picks = tuple[tuple[int, ...], ...]  # the landmark that each row picks, for each matrix
DOCS = "docs/methods/aac.md"
ON_MAPS = ("fps", "fps+random", "random")  # pools of cells: farthest ones of the unit grid, unless all are random
SHARED = {
    "labels": LABELS,
    "m": Parameter(0, "labels per vertex; 0 means as many as fit", minimum=0),
    "K0": Parameter(64, "landmarks in the pool to choose from; 0 means four for each label", minimum=0),
    "directions": Parameter(
        "auto",
        "one matrix of labels for both directions (symmetric graphs), or two, for forward and backward labels; "
        "auto is what the convention charges",
        choices=("auto", "one", "two"),
    ),
}
TRAINING = {
    "pool": pool_parameter(),
    "init": Parameter("block-sparse", "what the initial logits favour", choices=("block-sparse", "identity")),
    "epochs": Parameter(200, "training steps", minimum=0),
    "checkpoints": Parameter(
        "", "epochs to keep, such as 1+5+10; the best on validation is deployed; empty means the last"
    ),
    "lr": Parameter(1e-3, "learning rate", minimum=0.0),
    "batch": Parameter(256, "pairs in a step", minimum=1),
    "lambda_ent": Parameter(0.01, "weight of the rows' entropy", minimum=0.0),
    "lambda_uniq": Parameter(0.0, "weight of the rows' overlap", minimum=0.0),
    "lambda_cov": Parameter(0.0, "weight of the soft covering radius", minimum=0.0),
}
TUNED = {
    "K0": Parameter(512, "landmarks in the pool to choose from; 0 means four for each label", minimum=0),
    "pool": pool_parameter("fps+random", ("fps+random", *SELECTORS)),
    "init": Parameter("greedy", "the initial selection", choices=("greedy", "block-sparse", "identity")),
    "pairs": Parameter(2400, "training pairs, drawn if the protocol has none", minimum=1),
    "epochs": Parameter(200, "training steps; 0 deploys the initial selection", minimum=0),
    "lr": Parameter(0.3, "learning rate", minimum=0.0),
    "batch": Parameter(4096, "examples in a step", minimum=1),
}


@hookimpl
def aacbench_methods() -> Iterator[Method]:
    yield Method(
        "aac",
        "the paper's compressor, trained by straight-through Gumbel-softmax",
        fit,
        build_aac,
        Claims(deterministic=False),
        {**SHARED, **TRAINING},
        check=check_epochs,
        build_maps=build_aac_on_maps,
        docs=DOCS,
        waives=waived,
    )
    yield Method(
        "aac-tuned",
        "the compressor trained to prevent expansions, from a greedy start; deploys the best checkpoint",
        fit,
        build_tuned,
        Claims(deterministic=False),
        {**SHARED, **TUNED},
        build_maps=build_tuned_on_maps,
        docs=DOCS,
        waives=waived,
    )
    yield Method(
        "forced-first-m",
        "the compressor with one-hot rows on the first m: equals alt exactly",
        fit_pairs,
        build_forced,
        parameters=SHARED,
        docs=DOCS,
        waives=waived,
    )


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """Return the params with m, the number of labels that fit the budget and the pool, and the matrices resolved."""
    if torch_missing():
        return Unsupported(MISSING)
    impossible = cannot_select(info, params.get("pool"))
    if impossible:
        return impossible
    directions = params["directions"]
    if directions == "auto":
        directions = "two" if budget.directed(info) else "one"
    if directions == "one" and not info.symmetric:
        return Unsupported("directions=one needs a symmetric graph, where every arc has an equal reverse")
    if params["labels"] in PACKED:
        return room_for(budget, info, {**params, "directions": directions})
    values = values_that_fit(budget, info, params["labels"])
    if isinstance(values, Unsupported):
        return values
    # If the convention charges two labels although one serves both directions, one matrix may hold half as many.
    fits = values // 2 if directions == "one" and budget.directed(info) else values
    wanted = params["m"]
    if fits < max(1, wanted):
        return does_not_fit("labels", wanted, budget, fits)
    pool = params["K0"] or 4 * (wanted or fits)
    landmarks = min(pool, info.vertices)
    room = landmarks if directions == "one" else 2 * landmarks
    if wanted > room:
        return Unsupported(f"{wanted} labels cannot be chosen from {landmarks} landmarks, which have {room}")
    if info.side and fits > room and not wanted:
        return Unsupported(f"{fits} labels cannot be chosen from {landmarks} cells; lower the budget, or set m")
    if info.side and params.get("pool", "fps") not in ON_MAPS:
        return Unsupported(f"On maps the pool is one of {', '.join(ON_MAPS)}")
    count = min(wanted or fits, room)
    labels = resolved(budget, info, params["labels"])
    return {**params, "m": count, "K0": pool, "directions": directions, "labels": labels}


def check_epochs(params: Params) -> str:
    words, epochs = params["checkpoints"].replace("+", " ").split(), params["epochs"]
    if all(word.isdecimal() and int(word) <= epochs for word in words):
        return ""
    return f"checkpoints must be epochs from 0 to {epochs} joined by +, such as 1+5+10, not {params['checkpoints']!r}."


def kept_epochs(params: Params) -> set[int]:
    """Return the epochs that `checkpoints` names, or the last one if it is empty."""
    return {int(word) for word in params["checkpoints"].replace("+", " ").split()} or {params["epochs"]}


def fit_pairs(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """Return the params as `fit` does, with ALT's labels: one per landmark if symmetric, else one per direction."""
    if params["directions"] == "auto" and info.symmetric:
        params = {**params, "directions": "one"}
    fitted = fit(budget, info, params)
    if isinstance(fitted, Unsupported) or fitted["directions"] == "one":
        return fitted
    if fitted["labels"] in PACKED and not fitted["m"]:
        return fitted
    if params["m"] % 2:
        return Unsupported(
            f"m={params['m']} is odd, and forced-first-m needs both labels of each landmark, as ALT does; use an even m"
        )
    if fitted["m"] < 2:
        return Unsupported(f"A landmark with two labels does not fit {budget.bytes_per_vertex:g} bytes per vertex")
    return {**fitted, "m": fitted["m"] // 2 * 2}


def build_aac(context: BuildContext) -> LabelHeuristic | Unsupported:
    require_torch()
    from aacbench.plugins.methods.aac import building

    return building.aac(context)


def build_tuned(context: BuildContext) -> LabelHeuristic | Unsupported:
    require_torch()
    from aacbench.plugins.methods.aac import tuned

    return tuned.aac_tuned(context)


def build_aac_on_maps(context: MapsContext) -> LabelHeuristic | Unsupported:
    require_torch()
    from aacbench.plugins.methods.aac import on_maps

    return on_maps.aac(context)


def build_tuned_on_maps(context: MapsContext) -> LabelHeuristic | Unsupported:
    require_torch()
    from aacbench.plugins.methods.aac import on_maps

    return on_maps.aac_tuned(context)


def build_forced(context: BuildContext) -> LabelHeuristic | Unsupported:
    require_torch()
    from aacbench.plugins.methods.aac import building

    return building.forced_first(context)
