"""The suite in an author's own pytest: a test for each check of each method."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from aacbench.contract.method import Method
from aacbench.testing.report import EXPECTED, NOT_RUN, NOTHING
from aacbench.testing.subject import BUDGETS, Subject
from aacbench.testing.suite import Check, checked_expectations, checks_for, run_check, subject_of


def parametrize_with_checks(
    methods: Iterable[Method],
    *,
    expected_failures: Mapping[str, str] | None = None,
    budgets: Sequence[float] = BUDGETS,
    settings: Mapping[str, Any] | None = None,
    **found_by: Any,
) -> Any:
    """Decorate a test with one argument, `check`, that calls it: `def test_conformance(check): check()`.

    `expected_failures` maps names of checks to reasons; such a test is expected to fail, and fails where it does not.
    """
    import pytest

    cases = []
    for method in methods:
        expected = checked_expectations(method, expected_failures)
        subject = subject_of(method, budgets=budgets, settings=settings, **found_by)
        for check in checks_for(method):
            case = _case(subject, check, expected.get(check.name))
            cases.append(pytest.param(case, id=f"{method.name}-{check.name}"))
    return pytest.mark.parametrize("check", cases)


def _case(subject: Subject, check: Check, expected: str | None) -> Callable[[], None]:
    def case() -> None:
        import pytest

        result = run_check(subject, check, expected)
        said = "\n".join(result.lines())
        if result.status in (NOT_RUN, NOTHING):  # then another check has failed
            pytest.skip(result.reason)
        if result.status == EXPECTED:
            pytest.xfail(result.reason)
        if not result.ok:
            pytest.fail(said, pytrace=False)

    return case
