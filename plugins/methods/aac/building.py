"""From a build's context to the labels that are deployed: pool, training, the choice of an epoch, statistics."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from aacbench.bundle.deploy import deploy
from aacbench.contract.method import BuildContext, LabelHeuristic
from aacbench.errors import UsageError
from aacbench.graphs import components
from aacbench.labels import subset
from aacbench.labels.pool import Pool
from aacbench.plugins.methods.aac import compressor, kept_epochs
from aacbench.plugins.methods.aac.statistics import statistics
from aacbench.plugins.methods.aac.training import Picks, Schedule, train
from aacbench.queries.record import QuerySet
from aacbench.search import search

INITIAL = {"block-sparse": compressor.block_sparse, "identity": compressor.identity}


def aac(context: BuildContext) -> LabelHeuristic:
    """The paper's compressor, trained by its recipe with this cell's seed."""
    params = context.params
    names = ("epochs", "batch", "lr", "lambda_ent", "lambda_uniq", "lambda_cov")
    schedule = Schedule(**{name: params[name] for name in names})
    kept = kept_epochs(params)
    pool = landmark_pool(context, params["pool"])
    inside = components.largest(context.graph)
    rows = rows_that_fit(context, pool)
    if is_whole(pool, rows):
        return labels_of(context, pool, first(rows), {"epoch": 0, **statistics(first(rows), first(rows))})
    picks = train(pool, inside, rows, INITIAL[params["init"]], schedule, context.seed, kept | {0})
    epoch = _best_epoch(context, pool, {epoch: picks[epoch] for epoch in kept})
    return labels_of(context, pool, picks[epoch], {"epoch": epoch, **statistics(picks[epoch], picks[0])})


def forced_first(context: BuildContext) -> LabelHeuristic:
    """The compressor's own path, with rows that are one-hot on the first landmarks."""
    pool = landmark_pool(context, "fps")
    inside, rows = components.largest(context.graph), rows_that_fit(context, pool)
    picks = train(pool, inside, rows, compressor.one_hot, Schedule(epochs=0), context.seed, {0})
    return labels_of(context, pool, picks[0], statistics(picks[0], picks[0]))


def landmark_pool(context: BuildContext, selector: str) -> Pool:
    """The pool that ALT would have of this size, whatever the seed, or all vertices of a component that has fewer."""
    return context.pools.selected(selector, context.params["K0"])


def rows_that_fit(context: BuildContext, pool: Pool) -> tuple[int, ...]:
    """Rows of the one matrix, or of the forward and the backward one, never more than the pool has landmarks."""
    count: int = context.params["m"]
    if context.params["directions"] == "one":
        return (min(count, len(pool)),)
    return (min(count // 2, len(pool)), min(count - count // 2, len(pool)))


def is_whole(pool: Pool, rows: Sequence[int]) -> bool:
    """Whether there is nothing to choose: a row for every landmark of the pool, which training could only repeat."""
    return all(count == len(pool) for count in rows)


def first(rows: Sequence[int]) -> Picks:
    """The first landmarks of the pool, a row each."""
    return tuple(tuple(range(count)) for count in rows)


def labels_of(context: BuildContext, pool: Pool, picks: Picks, facts: Mapping[str, int | float]) -> LabelHeuristic:
    """The picked labels as ALT would deploy them."""
    backward = picks[1] if len(picks) == 2 else None
    labels = subset(context.network, pool, picks[0], backward, context.params["labels"])
    return replace(labels, facts=facts)


def expansions(context: BuildContext, candidate: LabelHeuristic, queries: QuerySet) -> int:
    """What a candidate expands on some queries, searched as `modern`."""
    layout = deploy(candidate, context.network).searched
    return int(search(context.network, layout, queries.sources, queries.targets).expanded.sum())


def _best_epoch(context: BuildContext, pool: Pool, picks: Mapping[int, Picks]) -> int:
    """Of several epochs the one that expands least on validation, ties to the earliest."""
    if len(picks) == 1:
        return next(iter(picks))
    if not len(context.validation):
        raise UsageError("of several checkpoints one is chosen on validation queries, and the protocol has none.")
    totals = {at: expansions(context, labels_of(context, pool, picks[at], {}), context.validation) for at in picks}
    return min(sorted(totals), key=totals.__getitem__)
