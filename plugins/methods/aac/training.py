"""The paper's training loop, which replays its random draws, and statistics of a selection."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from aacbench.graphs.record import Array
from aacbench.labels.pool import Pool
from aacbench.plugins.methods.aac import Picks, compressor
from aacbench.plugins.methods.aac.compressor import Initial
from aacbench.plugins.methods.aac.optimiser import AdamW

FINAL_TEMPERATURE = 0.1
WEIGHT_DECAY = 0.01  # torch's default for AdamW, with which the published runs were made
COVERAGE_VERTICES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The training settings: steps, pairs per step, learning rate, and the weights of the regularisers."""

    epochs: int
    batch: int = 256
    lr: float = 1e-3
    lambda_ent: float = 0.01
    lambda_uniq: float = 0.0
    lambda_cov: float = 0.0

    def temperature(self, epoch: int) -> float:
        """Return the temperature, which falls from 1 to its final value by the same factor each epoch."""
        return float(FINAL_TEMPERATURE ** (epoch / max(1, self.epochs - 1)))


@contextmanager
def isolated_torch() -> Iterator[None]:
    """Use one thread and a separate random state; restore both afterwards."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(threads)


def schedule_of(params: Mapping[str, Any]) -> Schedule:
    names = ("epochs", "batch", "lr", "lambda_ent", "lambda_uniq", "lambda_cov")
    return Schedule(**{name: params[name] for name in names})


def train(
    pool: Pool,
    vertices: Array,
    rows: Sequence[int],
    initial: Initial,
    schedule: Schedule,
    seed: int,
    kept: set[int],
    block: int = 0,
) -> Mapping[int, Picks]:
    """Return the landmarks that each row picks at the epochs `kept`; epoch 0 is before training.

    `rows` has the number of rows of one matrix, or of the forward and the backward matrix. With `block`, the vertices
    are those of maps of so many cells, and both ends of a pair are on one map. The seed is set twice, and draws come in
    this order, because the published runs did so.
    """
    with isolated_torch():
        torch.manual_seed(seed)
        logits = [torch.nn.Parameter(initial(count, len(pool))) for count in rows]
        picks = {0: compressor.deployed(logits)}
        optimiser = AdamW(logits, schedule.lr, WEIGHT_DECAY)
        torch.manual_seed(seed)
        for epoch in range(schedule.epochs):
            optimiser.minimise(_loss(pool, vertices, logits, schedule, epoch, block))
            if epoch + 1 in kept:
                picks[epoch + 1] = compressor.deployed(logits)
    return {epoch: chosen for epoch, chosen in picks.items() if epoch in kept}


def _loss(
    pool: Pool, vertices: Array, logits: Sequence[torch.Tensor], schedule: Schedule, epoch: int, block: int
) -> torch.Tensor:
    sources, targets = _drawn(vertices, schedule.batch), _drawn(vertices, schedule.batch)
    if block:
        targets = sources // block * block + targets % block
    selections = compressor.select(logits, schedule.temperature(epoch))
    differences = batch_differences(pool, sources, targets, len(logits))
    gap = (compressor.teacher(differences) - compressor.bound(selections, differences)).mean()
    loss = gap + schedule.lambda_ent * compressor.entropy(logits)
    if schedule.lambda_uniq:
        loss = loss + schedule.lambda_uniq * compressor.overlap(logits)
    if schedule.lambda_cov:
        sampled = _drawn(vertices, COVERAGE_VERTICES)  # drawn last and only if used, so that other runs replay
        tables = (pool.forward, pool.backward)[: len(logits)]
        loss = loss + schedule.lambda_cov * compressor.covering_radius(
            selections, [_columns(t, sampled) for t in tables]
        )
    return loss


def batch_differences(pool: Pool, sources: Array, targets: Array, matrices: int) -> list[torch.Tensor]:
    """Return d(l, t) - d(l, s) for each landmark and pair, and with two matrices also d(s, l) - d(t, l)."""
    ahead = _columns(pool.forward, targets) - _columns(pool.forward, sources)
    if matrices == 1:
        return [ahead]
    return [ahead, _columns(pool.backward, sources) - _columns(pool.backward, targets)]


def _drawn(vertices: Array, count: int) -> Array:
    return vertices[torch.randint(0, len(vertices), (count,)).numpy()]


def _columns(table: Array, vertices: Array) -> torch.Tensor:
    return torch.from_numpy(table[:, vertices].astype("float64"))


def statistics(picks: Picks, initial: Picks) -> dict[str, int | float]:
    """Return facts about a selection for the cell's record, over the rows of all matrices.

    `unique_ratio` is the share of rows whose pick differs from all earlier rows of the matrix. `rows_beyond_first`
    counts picks outside ALT's choice, the first landmarks of the pool. `rows_moved` counts rows changed by training.
    """
    rows = sum(map(len, picks))
    distinct = sum(len(set(row)) for row in picks)
    beyond = sum(pick >= len(row) for row in picks for pick in row)
    moved = sum(
        now != then for row, old in zip(picks, initial, strict=True) for now, then in zip(row, old, strict=True)
    )
    return {"rows": rows, "unique_ratio": distinct / rows, "rows_beyond_first": beyond, "rows_moved": moved}
