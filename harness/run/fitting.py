"""How much of each method fits a budget: all questions in one batch, those to plugins in workers with limits."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

from aacbench.contract.budget import Budget, GraphInfo
from aacbench.contract.composite import assemble, part_names
from aacbench.contract.method import Method, Params, Unsupported
from aacbench.contract.parameters import PREFERRED
from aacbench.errors import UsageError
from aacbench.processes.pool import Limits, run_all
from aacbench.processes.worker import Failure, failure_of
from aacbench.search.policy import switch
from aacbench.util.canonical import canonical, plain

SECONDS = 60.0  # a method is asked for a number; one that needs longer would hold up every other cell


@dataclass(frozen=True, slots=True)
class Fitted:
    """What fits, and the switches of the search that the method prefers."""

    params: Params
    search: Mapping[str, Any]


Answer = Fitted | Unsupported | Failure


@dataclass(frozen=True, slots=True)
class Question:
    """What a method is asked: how much of it fits."""

    method: str
    budget: Budget
    info: GraphInfo
    params: Params

    @property
    def digest(self) -> bytes:
        """The same for equal questions, such as those of several seeds."""
        charged = self.budget.bytes_per_vertex, self.budget.convention.label
        return canonical([self.method, *charged, self.info.name, self.params])


@dataclass(frozen=True, slots=True)
class _Job:
    """A question with all that a worker needs to ask it."""

    question: Question
    method_of: Callable[[str], Method]


def ask(method: Method, question: Question) -> Answer:
    """What a method answers, or why it gives no answer: the code is the author's, so anything may happen."""
    doing = "fit"
    try:
        fitted = method.fit(question.budget, question.info, dict(question.params))
        if isinstance(fitted, Unsupported):
            return checked_refusal(fitted, question.budget, question.info.vertices)
        params, doing = _plain(fitted), "search"
        return Fitted(params, _preferred(method, question.params))
    except (Exception, SystemExit) as error:
        failure = failure_of(error)
        return replace(failure, reason=f"{doing} failed: {failure.reason}", trace="")


def checked_refusal(answer: Unsupported, budget: Budget, vertices: int) -> Unsupported:
    """Return the answer of `fit` or `build`; where it has the bytes that would be needed, they are in the reason."""
    needed = answer.bytes_needed
    if not isinstance(answer.reason, str) or not answer.reason.strip():
        raise UsageError(f"Unsupported needs a reason in words, not {answer.reason!r}")
    if needed is None:
        return answer
    if isinstance(needed, bool) or not isinstance(needed, Integral) or needed < 0:
        raise UsageError(f"The bytes_needed of Unsupported must be a whole number, not {needed!r}")
    told = f"it would need {answer.need(vertices)}"
    if answer.or_more and needed <= budget.exact_bytes * vertices:  # stopped for another reason than its size
        told = f"it had reached {answer.need(vertices).removeprefix('more than ')}"
    told = f"{told}, the budget is {budget.bytes_per_vertex:g} B/v"
    return Unsupported(f"{answer.reason.strip().rstrip('.')}; {told}", int(needed), answer.or_more)


def ask_all(
    questions: Sequence[Question],
    methods: Mapping[str, Method],
    foreign: Mapping[str, str],
    method_of: Callable[[str], Method],
    workers: int,
    limits: Limits,
) -> list[Answer]:
    """The answers in the order of the questions; those of `foreign` methods, by plugin, come from worker processes."""
    found: dict[bytes, Answer] = {}
    jobs: dict[bytes, _Job] = {}

    def origin(question: Question) -> str:
        names = (question.method, *part_names(question.params))
        return " ".join(foreign[name] for name in names if name in foreign)

    digests = list(_digests(questions))
    for question, digest in zip(questions, digests, strict=True):
        if origin(question):
            jobs[digest] = _Job(question, method_of)
        elif digest not in found:
            found[digest] = ask(_whole(question, methods.__getitem__), question)
    short = replace(limits, seconds=min(limits.seconds, SECONDS))
    for job, answer in run_all(_ask_here, list(jobs.values()), workers, short, lambda job: origin(job.question)):
        if isinstance(answer, Failure) and not answer.reason.startswith(("fit ", "search ")):  # the worker died
            answer = replace(answer, reason=f"fit failed: {answer.reason}")
        found[job.question.digest] = answer
    return [found[digest] for digest in digests]


def _digests(questions: Sequence[Question]) -> Iterator[bytes]:
    """Yield the digest of each question, computed once for those that share their settings, as seeds do."""
    known: dict[tuple[object, ...], bytes] = {}
    for question in questions:
        same = question.method, question.budget, question.info, id(question.params)
        if same not in known:
            known[same] = question.digest
        yield known[same]


def _ask_here(job: _Job) -> Answer:
    return ask(_whole(job.question, job.method_of), job.question)


def _whole(question: Question, method_of: Callable[[str], Method]) -> Method:
    return assemble(method_of(question.method), question.params, method_of)


def _preferred(method: Method, params: Params) -> dict[str, Any]:
    """The switches a method prefers, as the policy spells them; junk is refused like that of `fit`."""
    wanted = dict(method.search(dict(params)))
    unknown = set(wanted) - set(PREFERRED)
    if unknown:
        raise UsageError(f"The search has no switch {min(unknown)!r}; it has {', '.join(PREFERRED)}")
    return {key: switch(key, value) for key, value in wanted.items()}


def _plain(fitted: Any) -> Params:
    if not isinstance(fitted, Mapping):
        raise UsageError(f"It returned a {type(fitted).__name__} instead of parameters or Unsupported")
    canonical(fitted)  # text that has no UTF-8 form is found only when it is spelt
    values: Params = plain(fitted, "the answer")
    return values
