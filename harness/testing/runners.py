"""Three ways to run the suite: in this process, in a worker process with limits, and as tests of pytest."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aacbench.contract.method import Method
from aacbench.errors import UsageError
from aacbench.graphs.record import Graph
from aacbench.processes.pool import Limits, Pool
from aacbench.processes.worker import Failure
from aacbench.testing.report import EXPECTED, FAILED, NOT_RUN, NOTHING, Report, Result
from aacbench.testing.subject import BUDGETS, Subject
from aacbench.testing.suite import CHECKS, Check, checks_for, not_claimed, run_check
from aacbench.testing.zoo import zoo

SECONDS = 120.0  # per check, including compilation
_MOST_LOST = 2  # workers that may hang or die before the remaining checks are skipped


def check_method(
    method: Method,
    *,
    budgets: Sequence[float] = BUDGETS,
    settings: Mapping[str, Any] | None = None,
    expected_failures: Mapping[str, str] | None = None,
    only: Iterable[str] = (),
    locate: Callable[[], Method] | None = None,
    graphs: Iterable[Graph] | None = None,
) -> Report:
    """Check a method in this process.

    `expected_failures` maps names of checks to reasons. `locate` finds the method in another process, if its `build`
    is not at the top of a module. `graphs` are those of the zoo to use, all by default.
    """
    expected = checked_expectations(method, expected_failures)
    subject = subject_of(method, budgets=budgets, settings=settings, locate=locate, graphs=graphs)
    results = [run_check(subject, check, expected.get(check.name)) for check in checks_for(method, only)]
    return Report(method.name, tuple(results), not_claimed(method))


def subject_of(
    method: Method,
    *,
    budgets: Sequence[float] = BUDGETS,
    settings: Mapping[str, Any] | None = None,
    locate: Callable[[], Method] | None = None,
    graphs: Iterable[Graph] | None = None,
) -> Subject:
    """Prepare a method for the checks."""
    if method.made_of is not None:
        raise UsageError(
            f"Method {method.name!r} is made of other methods, which must be filled in first: "
            f"use `aacbench check`, or `aacbench.contract.composite.standalone` in tests."
        )
    return Subject(
        method=method,
        budgets=tuple(map(float, budgets)),
        settings=dict(settings or {}),
        locate=locate,
        graphs=tuple(zoo().values() if graphs is None else graphs),
    )


def checked_expectations(method: Method, expected_failures: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return the expected failures; raise `UsageError` for a check that does not apply, or a missing reason."""
    expected = dict(expected_failures or {})
    for name, reason in expected.items():
        if name not in {check.name for check in checks_for(method)}:
            raise UsageError(f"The check {name!r} is expected to fail, but does not apply to method {method.name!r}.")
        if not isinstance(reason, str) or not reason.strip():
            raise UsageError(f"Give a reason why the check {name!r} is expected to fail.")
    return expected


@dataclass(slots=True)
class CheckJob:
    """Runs a check by name in a worker process, which keeps the builds for the next check."""

    locate: Callable[[], Method]
    budgets: tuple[float, ...] = BUDGETS
    settings: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, str] = field(default_factory=dict)
    subject: Subject | None = None

    def __call__(self, name: str) -> Result:
        """The result of the check of this name."""
        if self.subject is None:
            self.subject = subject_of(self.locate(), budgets=self.budgets, settings=self.settings, locate=self.locate)
        check = next(check for check in CHECKS if check.name == name)
        return run_check(self.subject, check, self.expected.get(name))


def check_in_worker(
    method: Method,
    job: CheckJob,
    *,
    only: Iterable[str] = (),
    limits: Limits | None = None,
    on_result: Callable[[Result], None] = lambda _: None,
    on_progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """Check a method in another process, where a hang or crash fails one check only.

    `on_result` is called with each result as it arrives, `on_progress` with a line such as that kernels are compiled.
    """
    checked_expectations(method, job.expected)
    subject_of(method, settings=job.settings).params()
    names = [check.name for check in checks_for(method, only)]
    results: list[Result] = []
    lost = 0
    with Pool(job, 1, limits or Limits(SECONDS), progress=lambda _, text: on_progress(text)) as workers:
        for name, answer in workers.run(names):
            lost += isinstance(answer, Failure)
            results.append(Result(name, FAILED, reason=answer.reason) if isinstance(answer, Failure) else answer)
            on_result(results[-1])
            if lost == _MOST_LOST:
                break
    for name in names[len(results) :]:
        results.append(Result(name, NOT_RUN, reason="two earlier checks hung or crashed"))
        on_result(results[-1])
    return Report(method.name, tuple(results), not_claimed(method))


def parametrize_with_checks(
    methods: Iterable[Method],
    *,
    expected_failures: Mapping[str, str] | None = None,
    budgets: Sequence[float] = BUDGETS,
    settings: Mapping[str, Any] | None = None,
    locate: Callable[[], Method] | None = None,
    graphs: Iterable[Graph] | None = None,
) -> Any:
    """Decorate a test that takes one argument, `check`, and calls it: `def test_conformance(check): check()`.

    A check in `expected_failures` must fail: its test is xfailed, and fails if the check passes.
    """
    import pytest

    cases = []
    for method in methods:
        expected = checked_expectations(method, expected_failures)
        subject = subject_of(method, budgets=budgets, settings=settings, locate=locate, graphs=graphs)
        for check in checks_for(method):
            case = _test_case(subject, check, expected.get(check.name))
            cases.append(pytest.param(case, id=f"{method.name}-{check.name}"))
    return pytest.mark.parametrize("check", cases)


def _test_case(subject: Subject, check: Check, expected: str | None) -> Callable[[], None]:
    def case() -> None:
        import pytest

        result = run_check(subject, check, expected)
        if result.status in (NOT_RUN, NOTHING):  # if it did not run, another check has failed
            pytest.skip(result.reason)
        if result.status == EXPECTED:
            pytest.xfail(result.reason)
        if not result.ok:
            pytest.fail("\n".join(result.lines()), pytrace=False)

    return case
