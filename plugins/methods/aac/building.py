"""Building AAC: the pool, the training, the choice of an epoch, and the deployed labels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from aacbench.contract.method import BuildContext, LabelHeuristic, Unsupported
from aacbench.errors import UsageError
from aacbench.graphs import components
from aacbench.labels.pool import Pool
from aacbench.labels.stores import counted, deployed
from aacbench.plugins.methods import expansions
from aacbench.plugins.methods.aac import Picks, compressor, kept_epochs
from aacbench.plugins.methods.aac.training import Schedule, schedule_of, statistics, train

INITIAL = {"block-sparse": compressor.block_sparse, "identity": compressor.identity}


def aac(context: BuildContext) -> LabelHeuristic | Unsupported:
    context = with_labels(context)
    params = context.params
    schedule = schedule_of(params)
    kept = kept_epochs(params)
    pool = context.pools.selected(params["pool"], params["K0"])  # the pool of ALT, for every seed
    inside = components.largest(context.graph)
    rows = row_counts(context, len(pool))
    if takes_whole_pool(len(pool), rows):
        everything = first_landmarks(rows)
        return heuristic_of(context, pool, everything, {"epoch": 0, **statistics(everything, everything)})
    trained = train(pool, inside, rows, INITIAL[params["init"]], schedule, context.seed, kept | {0})
    epoch = _best_epoch(context, pool, {epoch: trained[epoch] for epoch in kept})
    return heuristic_of(context, pool, trained[epoch], {"epoch": epoch, **statistics(trained[epoch], trained[0])})


def forced_first(context: BuildContext) -> LabelHeuristic | Unsupported:
    context = with_labels(context)
    pool = context.pools.selected("fps", context.params["K0"])
    inside, rows = components.largest(context.graph), row_counts(context, len(pool))
    picks = train(pool, inside, rows, compressor.one_hot, Schedule(epochs=0), context.seed, {0})
    return heuristic_of(context, pool, picks[0], statistics(picks[0], picks[0]))


def with_labels(context: BuildContext) -> BuildContext:
    """Return the context with the number of labels and the size of the pool set, if they depend on the store."""
    context = counted(context, "m")
    return replace(context, params={**context.params, "K0": context.params["K0"] or 4 * context.params["m"]})


def row_counts(context: BuildContext, landmarks: int) -> tuple[int, ...]:
    """Return the rows of one matrix, or of the forward and the backward one; at most the size of the pool each."""
    count: int = context.params["m"]
    if context.params["directions"] == "one":
        return (min(count, landmarks),)
    return (min(count // 2, landmarks), min(count - count // 2, landmarks))


def takes_whole_pool(landmarks: int, rows: Sequence[int]) -> bool:
    return all(count == landmarks for count in rows)


def first_landmarks(rows: Sequence[int]) -> Picks:
    return tuple(tuple(range(count)) for count in rows)


def heuristic_of(
    context: BuildContext, pool: Pool, picks: Picks, facts: Mapping[str, int | float]
) -> LabelHeuristic | Unsupported:
    backward = picks[1] if len(picks) == 2 else None
    labels = deployed(context, pool, picks[0], backward)
    return labels if isinstance(labels, Unsupported) else replace(labels, facts={**labels.facts, **facts})


def _best_epoch(context: BuildContext, pool: Pool, picks: Mapping[int, Picks]) -> int:
    """Return the epoch with the fewest expansions on validation queries; ties go to the earliest."""
    if len(picks) == 1:
        return next(iter(picks))
    if not len(context.validation):
        raise UsageError("Several checkpoints need validation queries to choose on, and the protocol has none.")
    totals = {at: expansions(context, heuristic_of(context, pool, picks[at], {}), context.validation) for at in picks}
    return min(sorted(totals), key=totals.__getitem__)
