"""Where the steps of cells run: in worker processes on this machine, or on a cluster of dask."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aacbench.processes.dask_pool import DaskPool, Packing
from aacbench.processes.pool import Pool, run_all
from aacbench.run.run_config import DASK, RunConfig
from aacbench.run.shipping import HerePacking, StepPacking
from aacbench.run.steps import Job, Step, StepPool, run_step

Heard = Callable[[Job, str], None]


def step_pool(config: RunConfig, workers: int, progress: Heard = lambda *_: None, *, fresh: bool = False) -> StepPool:
    """A pool for steps, of so many workers unless the scheduler that is given has its own."""

    def heard(step: Step, text: str) -> None:
        progress(step.job, text)

    if config.executor == DASK:
        packing = StepPacking(config.limits, fresh) if config.scheduler else HerePacking(config.limits, fresh)
        return DaskPool(packing, workers, config.limits, config.scheduler, heard, config.note)
    limit = config.limits.seconds
    return Pool(
        run_step, workers, config.limits, lambda step: step.kind, lambda step: step.seconds(limit), heard, fresh=fresh
    )


@contextmanager
def timing_place(
    config: RunConfig, work: Callable[[Any], Any], packing: Packing
) -> Iterator[tuple[Callable[[Any], Any], str]]:
    """Yield a function that runs a job with nothing beside it, and the machine it runs on unless that is this one.

    A cluster that this machine started for itself is gone by then. That of a scheduler must have a worker to time on.
    """
    if config.executor == DASK and config.scheduler:
        with DaskPool(packing, 1, config.limits, config.scheduler, note=config.note, alone=True) as pool:
            yield lambda job: next(iter(pool.run([job])))[1], pool.where()
    else:
        yield lambda job: run_all(work, [job], 1, config.limits)[0][1], ""
