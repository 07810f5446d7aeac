"""The conformance suite: one list of checks, chosen by what a method claims, each run over the zoo."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aacbench.contract.method import Claims, Method
from aacbench.errors import UsageError
from aacbench.graphs.record import Graph
from aacbench.testing import answer_checks, bound_checks, budget_checks, build_checks, search_checks
from aacbench.testing.outcomes import (
    HeldUpError,
    NotBuiltError,
    NothingToDoError,
    NotPossibleError,
    NotSupportedError,
    told,
)
from aacbench.testing.report import (
    EXPECTED,
    FAILED,
    NOT_RUN,
    NOTHING,
    PASSED,
    UNEXPECTED,
    UNSUPPORTED,
    Counterexample,
    Report,
    Result,
)
from aacbench.testing.shrink import STEPS, shrunk
from aacbench.testing.subject import BUDGETS, Subject
from aacbench.testing.zoo import is_of_few, is_one_way, zoo

_NO_ANSWER = (NotSupportedError, NotBuiltError, HeldUpError, NothingToDoError, NotPossibleError)


@dataclass(frozen=True, slots=True)
class Check:
    """A named check: when it is called for, on which graphs, and how many tries a smaller counterexample is worth."""

    name: str
    run: Callable[[Subject, Graph], None]
    claimed: Callable[[Claims], bool] = lambda _: True
    on: Callable[[Graph], bool] = lambda _: True
    steps: int = STEPS

    @property
    def summary(self) -> str:
        """What must hold, in a sentence."""
        return (self.run.__doc__ or "").strip()


CHECKS = (
    Check("parameters", build_checks.parameters, steps=0),
    Check("builds", build_checks.builds),
    Check("graph-untouched", build_checks.graph_untouched),
    Check("zero-at-target", bound_checks.zero_at_target),
    Check("numbers", bound_checks.numbers),
    Check("unreachable", bound_checks.unreachable),
    Check("admissible", bound_checks.admissible, lambda claims: claims.admissible),
    Check("consistent", bound_checks.consistent, lambda claims: claims.consistent),
    Check("forms-agree", bound_checks.forms_agree),
    Check("one-answer", answer_checks.one_answer),
    Check("directed", build_checks.directed, on=is_one_way),
    Check("within-budget", budget_checks.within_budget, lambda claims: claims.matched),
    Check("more-budget", budget_checks.never_shrinks, on=is_of_few, steps=60),
    Check("shortest-paths", search_checks.shortest_paths, steps=60),
    Check("same-seed", build_checks.same_seed, on=is_of_few, steps=60),
    Check("other-seeds", build_checks.other_seeds, lambda claims: claims.deterministic, is_of_few, 60),
    # These two ask another process, so a counterexample is as small as the zoo has it.
    Check("other-process", build_checks.other_process, on=is_of_few, steps=0),
    Check("bundle", build_checks.loads_from_bundle, steps=0),
)


def checks_for(method: Method, only: Iterable[str] = ()) -> list[Check]:
    """The checks that a method's claims call for, or those of them with these names."""
    wanted = set(only)
    unknown = wanted - {check.name for check in CHECKS}
    if unknown:
        names = ", ".join(check.name for check in CHECKS)
        raise UsageError(f"there is no check {min(unknown)!r}; there are {names}.")
    return [check for check in CHECKS if check.claimed(method.claims) and (not wanted or check.name in wanted)]


def check_method(
    method: Method,
    *,
    budgets: Sequence[float] = BUDGETS,
    settings: Mapping[str, Any] | None = None,
    expected_failures: Mapping[str, str] | None = None,
    only: Iterable[str] = (),
    locate: Callable[[], Method] | None = None,
) -> Report:
    """Check a method in this process.

    `expected_failures` maps names of checks to reasons. `locate` finds the method again in another process, where its
    `build` is not at the top of a module.
    """
    expected = checked_expectations(method, expected_failures)
    subject = subject_of(method, budgets=budgets, settings=settings, locate=locate)
    results = [run_check(subject, check, expected.get(check.name)) for check in checks_for(method, only)]
    return Report(method.name, tuple(results), not_claimed(method))


def subject_of(
    method: Method,
    *,
    budgets: Sequence[float] = BUDGETS,
    settings: Mapping[str, Any] | None = None,
    locate: Callable[[], Method] | None = None,
) -> Subject:
    """A method ready to be checked on the zoo."""
    if method.made_of is not None:
        raise UsageError(
            f"{method.name!r} is made of other methods, which must be put in before it is checked: "
            f"`aacbench check` does so, and in tests `aacbench.contract.composite.standalone`."
        )
    return Subject(
        method=method,
        budgets=tuple(map(float, budgets)),
        settings=dict(settings or {}),
        locate=locate,
        graphs=tuple(zoo().values()),
    )


def checked_expectations(method: Method, expected_failures: Mapping[str, str] | None) -> Mapping[str, str]:
    """Expected failures, refused where a check does not exist, is not called for, or has no reason."""
    expected = dict(expected_failures or {})
    for name, reason in expected.items():
        if name not in {check.name for check in checks_for(method)}:
            raise UsageError(f"{name!r} is expected to fail, but is no check that {method.name!r} is put to.")
        if not isinstance(reason, str) or not reason.strip():
            raise UsageError(f"say why the check {name!r} is expected to fail.")
    return expected


def not_claimed(method: Method) -> tuple[str, ...]:
    """The checks of claims that the method does not make."""
    return tuple(check.name for check in CHECKS if not check.claimed(method.claims))


def run_check(subject: Subject, check: Check, expected: str | None = None) -> Result:
    """Run one check on each of its graphs; a failure is made as small as it gets."""
    passed: list[str] = []
    failed: list[tuple[Graph, str]] = []
    unsupported: dict[str, str] = {}
    held_up: dict[str, HeldUpError] = {}
    reason = idle = ""
    for graph in filter(check.on, subject.graphs):
        try:
            problem = _problem(subject, check, graph)
        except NotSupportedError as refusal:
            unsupported[graph.name] = str(refusal)
        except NothingToDoError as error:
            idle = str(error)
        except HeldUpError as error:
            held_up[graph.name] = error
        except NotBuiltError:
            reason = "nothing was built to look at, see the check named builds"
        except NotPossibleError as error:
            why = f"{error} (expected to fail: {expected})" if expected else str(error)
            return Result(check.name, EXPECTED if expected else FAILED, reason=why)
        else:
            passed += [] if problem else [graph.name]
            failed += [(graph, problem)] if problem else []
    names = tuple(graph.name for graph, _ in failed)
    ran = (*passed, *names)
    if failed:
        case = _counterexample(subject, check, *failed[0])
        status = FAILED if expected is None else EXPECTED
        return Result(check.name, status, ran, unsupported, names, case, expected or "")
    if held_up:
        return Result(check.name, EXPECTED if expected else NOT_RUN, ran, unsupported, reason=_see(held_up, expected))
    if expected is not None and ran:
        return Result(check.name, UNEXPECTED, ran, unsupported, reason=f"it was expected to fail: {expected}")
    if not ran and reason:
        return Result(check.name, NOT_RUN, ran, unsupported, reason=reason)
    if not ran and idle:
        return Result(check.name, NOTHING, ran, unsupported, reason=idle)
    if not ran:
        return _unsupported_everywhere(check, unsupported)
    return Result(check.name, PASSED, ran, unsupported)


def _see(held_up: Mapping[str, HeldUpError], expected: str | None) -> str:
    """Where a check did not run, which other one says why, and the first of what that sees."""
    first, *_ = held_up.values()
    checks = " and ".join(sorted({error.check for error in held_up.values()}))
    known = f" (expected to fail: {expected})" if expected else ""
    return f"not run on {', '.join(held_up)}, see {checks}: {first}{known}"


def _unsupported_everywhere(check: Check, unsupported: Mapping[str, str]) -> Result:
    """A method may refuse every graph of one kind, but one that refuses them all was not checked at all."""
    if check.name == "builds":
        return Result(check.name, FAILED, (), unsupported, reason="every graph of the zoo is refused")
    return Result(check.name, UNSUPPORTED, (), unsupported)


def _problem(subject: Subject, check: Check, graph: Graph) -> str | None:
    try:
        check.run(subject, graph)
    except _NO_ANSWER:
        raise
    except (Exception, SystemExit) as error:  # a plugin may raise anything; Ctrl-C is the user's
        return told(error)
    return None


def _counterexample(subject: Subject, check: Check, graph: Graph, problem: str) -> Counterexample:
    def seen(candidate: Graph) -> str | None:
        try:
            return _problem(subject, check, candidate)
        except _NO_ANSWER:
            return None

    smallest = shrunk(graph, lambda candidate: seen(candidate) is not None, check.steps)
    said = seen(smallest)
    if said is None:  # whatever comes and goes is best told as it was met first
        smallest, said = graph, f"{problem.rstrip('.')}; when tried again, it passed"
    arcs = zip(smallest.sources.tolist(), smallest.indices.tolist(), smallest.weights.tolist(), strict=True)
    return Counterexample(graph.name, said, smallest.vertices, tuple(arcs), made_smaller=smallest is not graph)
