"""The two steps of cells in processes: a process that builds never measures, and none that measures built."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from aacbench.processes.pool import Limits
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

    def seconds(self, limit: float) -> float:
        """How long it may take: what a cell's build took is no longer there for its measuring."""
        return limit if self.built is None else max(1.0, limit - self.built.seconds)


class StepPool(Protocol):
    """What runs steps, as a context: they are taken from a function, and answers come as they are done.

    It may answer a build with what was built, or with the result of the measuring that it did too.
    """

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def run(self, jobs: Iterable[Step]) -> Generator[tuple[Step, Any]]: ...
    def run_from(
        self, next_job: Callable[[], Step | None], answered: Callable[[Step, Any], None]
    ) -> Generator[tuple[Step, Any]]: ...


def run_step(step: Step) -> Built | Result:
    """Do one step, in a worker. A scalar heuristic has no bundle, so it is measured where it was built."""
    if isinstance(step.job, EncodeJob):
        return encode.build(step.job) if step.built is None else encode.measure(step.job, step.built)
    if step.built is not None:
        return measure(step.job, step.built)
    built = build(step.job)
    return built if isinstance(built, Result) or built.live is None else measure(step.job, built)


def build_all(pool: StepPool, jobs: Iterator[Job]) -> Iterator[tuple[Job, Built | Result]]:
    """Build each of the jobs; a heuristic that was measured where it was built comes as a Result."""
    for step, answer in pool.run(Step(job) for job in jobs):
        yield step.job, _checked(answer)


def run_cells(
    pool: StepPool, jobs: Iterator[Job], limits: Limits, built: Mapping[str, Built] | None = None
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
