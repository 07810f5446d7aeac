"""The conformance suite: the list of checks, and how one of them runs over all graphs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from aacbench.contract.method import Claims, Method
from aacbench.errors import UsageError
from aacbench.graphs.record import Graph
from aacbench.testing import bound_checks, budget_checks, build_checks, process_checks
from aacbench.testing.report import (
    EXPECTED,
    FAILED,
    NOT_RUN,
    NOTHING,
    PASSED,
    UNEXPECTED,
    UNSUPPORTED,
    Counterexample,
    Result,
)
from aacbench.testing.shrink import STEPS, shrunk
from aacbench.testing.subject import (
    BlockedError,
    BrokenError,
    NotBuiltError,
    NothingToDoError,
    NotPossibleError,
    NotSupportedError,
    Subject,
)
from aacbench.testing.zoo import is_one_way, is_representative
from aacbench.util.text import describe

_NO_RESULT = (NotSupportedError, NotBuiltError, BlockedError, NothingToDoError, NotPossibleError)


@dataclass(frozen=True, slots=True)
class Check:
    """A named check: the claims that require it, its graphs, and how many tries to shrink a counterexample."""

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
    Check("one-answer", bound_checks.one_answer),
    Check("directed", build_checks.directed, on=is_one_way),
    Check("within-budget", budget_checks.within_budget, lambda claims: claims.matched),
    Check("more-budget", budget_checks.never_shrinks, on=is_representative, steps=60),
    Check("shortest-paths", bound_checks.shortest_paths, steps=60),
    Check("same-seed", build_checks.same_seed, on=is_representative, steps=60),
    Check("other-seeds", build_checks.other_seeds, lambda claims: claims.deterministic, is_representative, 60),
    # Each try of these two would start a process, so their counterexamples are not shrunk.
    Check("other-process", process_checks.other_process, on=is_representative, steps=0),
    Check("bundle", process_checks.loads_from_bundle, steps=0),
)


def checks_for(method: Method, only: Iterable[str] = ()) -> list[Check]:
    """The checks that the method's claims require; with `only`, those of them with these names."""
    wanted = set(only)
    unknown = wanted - {check.name for check in CHECKS}
    if unknown:
        names = ", ".join(check.name for check in CHECKS)
        raise UsageError(f"Unknown check {min(unknown)!r}; known checks: {names}.")
    return [check for check in CHECKS if check.claimed(method.claims) and (not wanted or check.name in wanted)]


def not_claimed(method: Method) -> tuple[str, ...]:
    """The checks of claims that the method does not make."""
    return tuple(check.name for check in CHECKS if not check.claimed(method.claims))


def run_check(subject: Subject, check: Check, expected: str | None = None) -> Result:
    """Run one check on each of its graphs and shrink the first failure.

    `expected` is the reason why a failure is expected, if it is.
    """
    passed: list[str] = []
    failed: list[tuple[Graph, str]] = []
    unsupported: dict[str, str] = {}
    blocked: dict[str, BlockedError] = {}
    not_built = nothing = ""
    for graph in filter(check.on, subject.graphs):
        try:
            problem = _problem(subject, check, graph)
        except NotSupportedError as refusal:
            unsupported[graph.name] = str(refusal)
        except NothingToDoError as error:
            nothing = str(error)
        except BlockedError as error:
            blocked[graph.name] = error
        except NotBuiltError:
            not_built = "nothing was built, see builds"
        except NotPossibleError as error:
            reason = f"{error} (expected to fail: {expected})" if expected else str(error)
            return Result(check.name, EXPECTED if expected else FAILED, reason=reason)
        else:
            passed += [] if problem else [graph.name]
            failed += [(graph, problem)] if problem else []
    names = tuple(graph.name for graph, _ in failed)
    ran = (*passed, *names)
    if failed:
        case = _counterexample(subject, check, *failed[0])
        status = FAILED if expected is None else EXPECTED
        return Result(check.name, status, ran, unsupported, names, case, expected or "")
    if blocked:
        reason = _blocked_reason(blocked, expected)
        return Result(check.name, EXPECTED if expected else NOT_RUN, ran, unsupported, reason=reason)
    if expected is not None and ran:
        return Result(check.name, UNEXPECTED, ran, unsupported, reason=f"it was expected to fail: {expected}")
    if not ran and nothing:
        return Result(check.name, NOTHING, ran, unsupported, reason=nothing)
    if not ran and not_built:
        return Result(check.name, NOT_RUN, ran, unsupported, reason=not_built)
    if not ran and check.name == "builds":  # a method may refuse graphs of one kind, but not all
        return Result(check.name, FAILED, (), unsupported, reason="the method refuses every graph")
    return Result(check.name, PASSED if ran else UNSUPPORTED, ran, unsupported)


def _blocked_reason(blocked: Mapping[str, BlockedError], expected: str | None) -> str:
    """On which graphs a check did not run, which other check says why, and the first defect."""
    first, *_ = blocked.values()
    checks = " and ".join(sorted({error.check for error in blocked.values()}))
    suffix = f" (expected to fail: {expected})" if expected else ""
    return f"not run on {', '.join(blocked)}, see {checks}: {first}{suffix}"


def _problem(subject: Subject, check: Check, graph: Graph) -> str | None:
    try:
        check.run(subject, graph)
    except _NO_RESULT:
        raise
    except BrokenError as error:
        return str(error)
    except (Exception, SystemExit) as error:  # a plugin may raise anything; Ctrl-C is the user's
        return describe(error)
    return None


def _counterexample(subject: Subject, check: Check, graph: Graph, problem: str) -> Counterexample:
    def problem_on(candidate: Graph) -> str | None:
        try:
            return _problem(subject, check, candidate)
        except _NO_RESULT:
            return None

    smallest = shrunk(graph, lambda candidate: problem_on(candidate) is not None, check.steps)
    sentence = problem_on(smallest)
    if sentence is None:  # the failure is not reproducible
        smallest, sentence = graph, f"{problem.rstrip('.')}; when tried again, it passed"
    arcs = zip(smallest.sources.tolist(), smallest.indices.tolist(), smallest.weights.tolist(), strict=True)
    return Counterexample(graph.name, sentence, smallest.vertices, tuple(arcs), made_smaller=smallest is not graph)
