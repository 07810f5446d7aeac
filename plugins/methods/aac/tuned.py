"""The tuned compressor: straight-through rows trained to minimise the expansions they do not prevent."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import torch

from aacbench.contract.method import BuildContext, LabelHeuristic, Unsupported
from aacbench.graphs import components
from aacbench.graphs.record import Array
from aacbench.labels.pool import Pool
from aacbench.plugins.methods import expansions
from aacbench.plugins.methods.aac import Picks, compressor
from aacbench.plugins.methods.aac.building import (
    INITIAL,
    first_landmarks,
    heuristic_of,
    row_counts,
    takes_whole_pool,
    with_labels,
)
from aacbench.plugins.methods.aac.examples import draw_examples, draw_pairs, greedy, hold_out, training_tables
from aacbench.plugins.methods.aac.optimiser import AdamW
from aacbench.plugins.methods.aac.training import isolated_torch, statistics
from aacbench.queries.record import QuerySet

CHECKPOINTS = 8  # selections kept during training
JUDGED = 400  # pairs never trained on, to choose on besides the validation queries
FIRST = -1  # the "epoch" of the pool's first landmarks, which are ALT's if the pool starts with farthest points
ODDS = -2.0  # log odds that a row draws its greedy start: low, so that training explores first


def aac_tuned(context: BuildContext) -> LabelHeuristic | Unsupported:
    """Start greedily, train, and return the selection with the fewest expansions: a checkpoint, the start, or ALT's."""
    context = with_labels(context)
    params, rng = context.params, np.random.default_rng(context.seed)
    inside = components.largest(context.graph)
    rows = row_counts(context, min(params["K0"], len(inside)))
    if takes_whole_pool(min(params["K0"], len(inside)), rows):
        everything = first_landmarks(rows)
        facts = {"epoch": FIRST, **statistics(everything, everything)}
        return heuristic_of(context, joined(_pools(context, inside, rng)), everything, facts)
    pools, judges, tables, weight = _training_data(context, inside, rows, rng)
    context.progress(f"{len(weight)} examples")
    with isolated_torch():
        torch.manual_seed(context.seed)
        logits = start_logits(params["init"], tables, weight, rows, sum(map(len, pools)))
        picks = train_rows(logits, tables, weight, params)
    picks[FIRST] = first_landmarks(rows)
    return _best(context, pools, picks, judges)


def _best(
    context: BuildContext, pools: Sequence[Pool], picks: Mapping[int, Picks], judges: QuerySet
) -> LabelHeuristic | Unsupported:
    """Return the selection with the fewest expansions; of equal ones, the first."""
    used = np.unique([pick for selection in picks.values() for side in selection for pick in side])
    ends = np.cumsum([0, *map(len, pools)])
    chosen = [used[(used >= begin) & (used < end)] - begin for begin, end in pairwise(ends.tolist())]
    whole = joined([context.pools.rows(pool, some) for pool, some in zip(pools, chosen, strict=True) if len(some)])
    place = {int(landmark): at for at, landmark in enumerate(used)}
    totals: dict[Picks, float] = {}
    for selection in picks.values():
        if selection not in totals:  # training may end where it began
            there = tuple(tuple(place[pick] for pick in side) for side in selection)
            totals[selection] = expansions(context, heuristic_of(context, whole, there, {}), judges)
    best = min(picks, key=lambda epoch: totals[picks[epoch]])
    counts = {"expanded": totals[picks[best]], "expanded_at_start": totals[picks[0]]}
    facts = {"epoch": best, **{name: count for name, count in counts.items() if count < math.inf}}
    there = tuple(tuple(place[pick] for pick in side) for side in picks[best])
    return heuristic_of(context, whole, there, {**facts, **statistics(picks[best], picks[0])})


def _training_data(
    context: BuildContext, inside: Array, rows: Sequence[int], rng: np.random.Generator
) -> tuple[list[Pool], QuerySet, list[Array], Array]:
    """Return the pools, the queries to choose on, and the examples as tables of what prevents them, with weights.

    The number of random draws for an example depends on the pool. So all examples of a large pool, which has only the
    columns that they need, are drawn before it; of a small one they are drawn as they are used, as they always were.
    """
    if not context.pools.is_large(context.params["K0"]):
        pools = _pools(context, inside, rng)
        pairs, judges = _pairs_and_judges(context, inside, rng)
        return pools, judges, *training_tables(pools, draw_examples(context.network, inside, pairs, rng), rows, rng)
    pairs, judges = _pairs_and_judges(context, inside, rng)
    examples = list(draw_examples(context.network, inside, pairs, rng))
    ends = np.unique(np.concatenate([end for some in examples for end in (some.vertex, some.target)]))
    pools = _pools(context, inside, rng, at=ends)
    tables, weight = training_tables(pools, examples, rows, rng)
    return [pool.at(ends[:0]) for pool in pools], judges, tables, weight  # their columns are needed no more


def _pairs_and_judges(
    context: BuildContext, inside: Array, rng: np.random.Generator
) -> tuple[tuple[Array, Array], QuerySet]:
    """Return the pairs to train on, and the queries to choose on: the validation queries and held-out pairs."""
    count = context.params["pairs"]
    pairs, judges = hold_out(draw_pairs(context.train, inside, count + JUDGED, rng), count, JUDGED)
    sources = np.concatenate([context.validation.sources, judges.sources])
    return pairs, QuerySet(sources=sources, targets=np.concatenate([context.validation.targets, judges.targets]))


def _pools(context: BuildContext, inside: Array, rng: np.random.Generator, at: Array | None = None) -> list[Pool]:
    """Return farthest points and equally many random vertices, or the pool of the selector that the user named."""
    if context.params["pool"] != "fps+random":
        return [context.pools.selected(context.params["pool"], context.params["K0"], at=at)]
    far = context.pools.farthest((context.params["K0"] + 1) // 2, at=at)
    others = np.setdiff1d(inside, far.landmarks)
    count = min(context.params["K0"] - len(far), len(others))
    return [far, *([context.pools.of(rng.choice(others, count, replace=False), at=at)] if count else [])]


def joined(pools: Sequence[Pool]) -> Pool:
    """Return the landmarks of pools with all columns in one pool."""
    forward = np.concatenate([pool.forward for pool in pools])
    backward = forward if pools[0].symmetric else np.concatenate([pool.backward for pool in pools])
    landmarks = np.concatenate([pool.landmarks for pool in pools])
    return Pool(landmarks, forward, backward, sum(pool.seconds for pool in pools))


def start_logits(
    name: str, tables: Sequence[Array], weight: Array, rows: Sequence[int], size: int
) -> list[torch.Tensor]:
    """Return logits that favour a greedy selection, or those of the published start."""
    if name != "greedy":
        return [INITIAL[name](count, size) for count in rows]
    logits = [torch.full((count, size), -math.log(size) - ODDS) for count in rows]
    for matrix, picks in zip(logits, greedy(tables, weight, rows), strict=True):
        matrix[range(len(picks)), list(picks)] = 0.0
    return logits


def train_rows(
    start: list[torch.Tensor], tables: Sequence[Array], weight: Array, params: Mapping[str, int | float]
) -> dict[int, Picks]:
    """Return the distinct landmarks that rows pick before training and at some of its epochs.

    With one-hot rows the loss is exactly the share of examples that no row prevents, and its gradient for a row is
    what each landmark would prevent in that row's place. So each step swaps rows for better ones.
    """
    logits = [torch.nn.Parameter(matrix) for matrix in start]
    epochs = int(params["epochs"]) if len(weight) else 0
    every = max(1, epochs // CHECKPOINTS)
    picks = {0: distinct(logits)}
    optimiser = AdamW(logits, params["lr"], weight_decay=0.0)
    shares = np.cumsum(weight) / max(weight.sum(), 1e-300)
    for epoch in range(1, epochs + 1):
        drawn = np.searchsorted(shares, torch.rand(int(params["batch"]), dtype=torch.float64).numpy())
        batch = [torch.from_numpy(table[np.minimum(drawn, len(weight) - 1)]).float() for table in tables]
        optimiser.minimise(expected_expansions(logits, batch))
        if epoch % every == 0:
            picks[epoch] = distinct(logits)
    return picks


def expected_expansions(logits: Sequence[torch.Tensor], batch: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return the share of a batch that is not prevented by rows drawn from the logits."""
    selections = compressor.select(logits, 1.0)
    prevents = torch.cat([examples @ rows.float().T for examples, rows in zip(batch, selections, strict=True)], dim=1)
    return (1 - prevents).prod(dim=1).mean()


def distinct(logits: Sequence[torch.Tensor]) -> Picks:
    """Return the landmark each row picks, or its next choice if an earlier row has it; a label twice is wasted."""
    found = []
    for matrix in logits:
        taken: list[int] = []
        for order in matrix.argsort(dim=1, descending=True, stable=True).tolist():
            taken.append(next(k for k in order if k not in taken))
        found.append(tuple(taken))
    return tuple(found)
