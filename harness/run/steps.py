"""The two steps of cells in a pool of processes: a process that builds never measures, and none that measures built."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from aacbench.processes.pool import Limits, Pool
from aacbench.processes.worker import Failure
from aacbench.run import encode
from aacbench.run.build import Built, CellJob, Result, build, result_of
from aacbench.run.encode import EncodeJob
from aacbench.run.measure import measure

Job = CellJob | EncodeJob

_ADVICE = {"timeout": "; raise it with --time-limit", "out-of-memory": "; raise it with --memory-limit"}


@dataclass(frozen=True, slots=True)
class Step:
    """What a worker is to do for a cell: build it, or measure what was `built`."""

    job: Job
    built: Built | None = None

    @property
    def kind(self) -> str:
        """Steps of the same kind may share a process, one after the other.

        A plugin shares with itself alone, and a function in Python, which may remember what it was asked, with nothing.
        """
        if self.built is None:
            return f"build {self.job.origin}"
        alone = self.job.origin and self.built.tier != "compiled"
        return f"measure {self.job.cell_id if alone else self.job.origin}"


def run_step(step: Step) -> Built | Result:
    """Do one step, in a worker. A scalar heuristic has no bundle, so it is measured where it was built."""
    if isinstance(step.job, EncodeJob):
        return encode.build(step.job) if step.built is None else encode.measure(step.job, step.built)
    if step.built is not None:
        return measure(step.job, step.built)
    built = build(step.job)
    return built if isinstance(built, Result) or built.live is None else measure(step.job, built)


def step_pool(
    workers: int, limits: Limits, progress: Callable[[Job, str], None] = lambda *_: None, *, fresh: bool = False
) -> Pool:
    """A pool for steps. The time that a cell's build took is no longer there for its measuring."""

    def seconds(step: Step) -> float:
        return limits.seconds if step.built is None else max(1.0, limits.seconds - step.built.seconds)

    def heard(step: Step, text: str) -> None:
        progress(step.job, text)

    return Pool(run_step, workers, limits, lambda step: step.kind, seconds, heard, fresh=fresh)


def build_all(pool: Pool, jobs: Iterator[Job]) -> Iterator[tuple[Job, Built | Result]]:
    """Build each of the jobs; a heuristic that was measured where it was built comes as a Result."""
    for step, answer in pool.run(Step(job) for job in jobs):
        yield step.job, _checked(answer)


def run_cells(
    pool: Pool, jobs: Iterator[Job], limits: Limits, built: Mapping[str, Built] | None = None
) -> Iterator[tuple[Job, Result]]:
    """Build and measure each of the jobs; those with a bundle in `built`, by cell, are measured only."""
    measuring: deque[Step] = deque()

    def next_step() -> Step | None:
        if measuring:  # first, so that rows are on disk as soon as they can be
            return measuring.popleft()
        job = next(jobs, None)
        return None if job is None else Step(job, (built or {}).get(job.cell_id))

    def answered(step: Step, answer: Any) -> None:
        if isinstance(answer, Built):
            measuring.append(Step(step.job, answer))

    for step, answer in pool.run_from(next_step, answered):
        found = _checked(answer)
        if isinstance(found, Built):
            continue
        if found.outcome == "timeout":
            found = replace(found, reason=f"The cell took longer than its limit of {limits.seconds:g} seconds")
        yield step.job, replace(found, reason=found.reason + _ADVICE.get(found.outcome, ""))


def _checked(answer: Any) -> Built | Result:
    if isinstance(answer, Failure):
        return result_of(answer)
    if isinstance(answer, Built | Result):
        return answer
    return Result("error", f"The worker sent a {type(answer).__name__} instead of a result", {}, {})
