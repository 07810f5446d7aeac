"""The suite in a worker process with limits: a method that hangs or crashes has failed a check, and nothing else."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aacbench.contract.method import Method
from aacbench.processes.pool import Limits, Pool
from aacbench.processes.worker import Failure
from aacbench.testing.report import FAILED, NOT_RUN, Report, Result
from aacbench.testing.subject import BUDGETS, Subject
from aacbench.testing.suite import CHECKS, checked_expectations, checks_for, not_claimed, run_check, subject_of

SECONDS = 120.0  # a check, numba's compiling included
_MOST_LOST = 2  # workers that hang or die before the rest is left


@dataclass(slots=True)
class Examiner:
    """What a worker needs to run a check by name; it finds the method for itself, and keeps what it has built."""

    locate: Callable[[], Method]
    budgets: tuple[float, ...] = BUDGETS
    settings: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, str] = field(default_factory=dict)
    subject: Subject | None = None

    def __call__(self, name: str) -> Result:
        """The result of the check of this name."""
        if self.subject is None:
            self.subject = subject_of(
                self.locate(),
                budgets=self.budgets,
                settings=self.settings,
                locate=self.locate,
            )
        check = next(check for check in CHECKS if check.name == name)
        return run_check(self.subject, check, self.expected.get(name))


def check_limited(
    method: Method,
    examiner: Examiner,
    *,
    only: Iterable[str] = (),
    limits: Limits | None = None,
    tell: Callable[[Result], None] = lambda _: None,
) -> Report:
    """Check a method in another process; `tell` hears each result as it comes."""
    checked_expectations(method, examiner.expected)
    subject_of(method, settings=examiner.settings).params()
    names = [check.name for check in checks_for(method, only)]
    results: list[Result] = []
    lost = 0
    with Pool(examiner, 1, limits or Limits(SECONDS)) as workers:
        for name, answer in workers.run(names):
            lost += isinstance(answer, Failure)
            results.append(Result(name, FAILED, reason=_said(answer)) if isinstance(answer, Failure) else answer)
            tell(results[-1])
            if lost == _MOST_LOST:
                break
    for name in names[len(results) :]:
        results.append(Result(name, NOT_RUN, reason="two checks before it hung or crashed"))
        tell(results[-1])
    return Report(method.name, tuple(results), not_claimed(method))


def _said(failure: Failure) -> str:
    return failure.reason.replace("the cell", "the check")
