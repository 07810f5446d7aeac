"""AAC: landmarks chosen from a pool by a trained row-stochastic compressor, and deployed as ALT deploys its own."""

from collections.abc import Iterator

from aacbench.contract.landmarks import LABELS, SELECTORS, cannot_select, pool_parameter, resolved, values_that_fit
from aacbench.contract.method import BuildContext, Claims, LabelHeuristic, Method, Parameter, Params, Unsupported
from aacbench.plugins import Budget, GraphInfo, hookimpl

SHARED = {
    "labels": LABELS,
    "m": Parameter(0, "labels a vertex keeps; 0 is as many as fit", minimum=0),
    "K0": Parameter(64, "landmarks in the pool to choose from; 0 is four for each label", minimum=0),
    "directions": Parameter(
        "auto",
        "one matrix whose labels serve both directions (symmetric graphs), or two, of forward and of backward labels; "
        "auto is what the convention charges",
        choices=("auto", "one", "two"),
    ),
}
TRAINING = {
    "pool": pool_parameter(),
    "init": Parameter("block-sparse", "what the logits favour at first", choices=("block-sparse", "identity")),
    "epochs": Parameter(200, "training steps", minimum=0),
    "checkpoints": Parameter(
        "", "epochs kept, as in 1+5+10: one is deployed, of several the best on validation; none is the last"
    ),
    "lr": Parameter(1e-3, "learning rate", minimum=0.0),
    "batch": Parameter(256, "pairs in a step", minimum=1),
    "lambda_ent": Parameter(0.01, "weight of the rows' entropy", minimum=0.0),
    "lambda_uniq": Parameter(0.0, "weight of the rows' overlap", minimum=0.0),
    "lambda_cov": Parameter(0.0, "weight of the soft covering radius", minimum=0.0),
}
TUNED = {
    "K0": Parameter(512, "landmarks in the pool to choose from; 0 is four for each label", minimum=0),
    "pool": pool_parameter("fps+random", ("fps+random", *SELECTORS)),
    "init": Parameter("greedy", "what rows pick at first", choices=("greedy", "block-sparse", "identity")),
    "pairs": Parameter(2400, "training pairs to learn from, drawn where the protocol has none", minimum=1),
    "epochs": Parameter(200, "training steps; 0 deploys the start", minimum=0),
    "lr": Parameter(0.3, "learning rate", minimum=0.0),
    "batch": Parameter(4096, "examples in a step", minimum=1),
}


@hookimpl
def aacbench_methods() -> Iterator[Method]:
    """The paper's compressor, the same trained for expansions, and the control that must equal ALT."""
    yield Method(
        "aac",
        "the paper's compressor: one step of straight-through Gumbel-softmax an epoch",
        fit,
        build_aac,
        Claims(deterministic=False),
        {**SHARED, **TRAINING},
        check=check_epochs,
    )
    yield Method(
        "aac-tuned",
        "the compressor trained to prevent expansions, from a greedy start, the best checkpoint on validation",
        fit,
        build_tuned,
        Claims(deterministic=False),
        {**SHARED, **TUNED},
    )
    yield Method(
        "forced-first-m",
        "the compressor with one-hot rows on the first m: equals alt exactly",
        fit_pairs,
        build_forced,
        parameters=SHARED,
    )


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """As many labels as the budget pays for and the pool has, in one matrix or in two as the convention charges."""
    impossible = cannot_select(info, params.get("pool"))
    if impossible:
        return impossible
    directions = params["directions"]
    if directions == "auto":
        directions = "two" if budget.directed(info) else "one"
    if directions == "one" and not info.symmetric:
        return Unsupported("one label for both directions needs a graph whose arcs all have an equal reverse")
    values = values_that_fit(budget, info, params["labels"])
    if isinstance(values, Unsupported):
        return values
    # Where the convention charges two labels for what one would do, one matrix may hold half as many.
    fits = values // 2 if directions == "one" and budget.directed(info) else values
    wanted = params["m"]
    if fits < max(1, wanted):
        return Unsupported(f"{max(1, wanted)} labels do not fit {budget.bytes_per_vertex:g} bytes per vertex")
    pool = params["K0"] or 4 * (wanted or fits)
    landmarks = min(pool, info.vertices)
    room = landmarks if directions == "one" else 2 * landmarks
    if wanted > room:
        return Unsupported(f"{wanted} labels cannot be had of {landmarks} landmarks, which have {room}")
    count = min(wanted or fits, room)
    labels = resolved(budget, info, params["labels"])
    return {**params, "m": count, "K0": pool, "directions": directions, "labels": labels}


def check_epochs(params: Params) -> str:
    """Whether the checkpoints are epochs of the training."""
    words, epochs = params["checkpoints"].replace("+", " ").split(), params["epochs"]
    if all(word.isdecimal() and int(word) <= epochs for word in words):
        return ""
    return f"checkpoints are epochs from 0 to {epochs} joined by +, as in 1+5+10, not {params['checkpoints']!r}."


def kept_epochs(params: Params) -> set[int]:
    """The epochs that `checkpoints` names; without any, the last."""
    return {int(word) for word in params["checkpoints"].replace("+", " ").split()} or {params["epochs"]}


def fit_pairs(budget: Budget, info: GraphInfo, params: Params) -> Params | Unsupported:
    """As `fit`, but as ALT has them: one label a landmark where that serves both directions, else one of each."""
    if params["directions"] == "auto" and info.symmetric:
        params = {**params, "directions": "one"}
    fitted = fit(budget, info, params)
    if isinstance(fitted, Unsupported) or fitted["directions"] == "one":
        return fitted
    if params["m"] % 2:
        return Unsupported(
            f"{params['m']} labels are not both labels of each landmark, as ALT has them: give an even m"
        )
    if fitted["m"] < 2:
        return Unsupported(f"a landmark in both directions does not fit {budget.bytes_per_vertex:g} bytes per vertex")
    return {**fitted, "m": fitted["m"] // 2 * 2}


def build_aac(context: BuildContext) -> LabelHeuristic:
    """Train as the paper does."""
    from aacbench.plugins.methods.aac import building

    return building.aac(context)


def build_tuned(context: BuildContext) -> LabelHeuristic:
    """Train for expansions."""
    from aacbench.plugins.methods.aac import tuned

    return tuned.aac_tuned(context)


def build_forced(context: BuildContext) -> LabelHeuristic:
    """Take the same path with rows that are given, not trained."""
    from aacbench.plugins.methods.aac import building

    return building.forced_first(context)
