"""Checks of building: it works, leaves the graph alone, depends on the seed as claimed, and on its arrays alone."""

import numpy as np

from aacbench.contract.budget import CONVENTIONS
from aacbench.contract.composite import PARTS
from aacbench.contract.method import Parameter, Unsupported
from aacbench.contract.parameters import problem_with
from aacbench.errors import AacbenchError
from aacbench.graphs.record import Graph
from aacbench.testing.outcomes import BrokenError, NotBuiltError, NothingToDoError, NotSupportedError, number
from aacbench.testing.subject import SEED, Subject
from aacbench.testing.subprocess_build import bounds_from_bundles, digests_elsewhere
from aacbench.testing.zoo import as_symmetric, is_one_way

OTHER_SEEDS = (2, 12345)
AMPLE = 1024.0  # bytes per vertex at which no method is short of memory on a small graph
_VALUES = (bool, int, float, str)


def parameters(subject: Subject, graph: Graph) -> None:
    """Each default is valid and has a help text; `fit` takes them under every convention, and gives plain values."""
    for name, parameter in subject.method.parameters.items():
        _check_parameter(name, parameter)
    for convention in CONVENTIONS.values():
        for budget in (*subject.budgets, AMPLE):
            answer = subject.fitted(graph, budget, convention)
            if isinstance(answer, Unsupported):
                _check_reason(answer)
            else:
                _check_answer(subject, answer)


def builds(subject: Subject, graph: Graph) -> None:
    """`build` gives a heuristic for whatever `fit` answers."""
    try:
        for _ in subject.every(graph):
            pass
    except NotBuiltError as error:
        raise BrokenError(str(error)) from error


def graph_untouched(subject: Subject, graph: Graph) -> None:
    """Neither `build` nor the heuristic changes the graph or the queries."""
    for built in subject.every(graph):
        _ = built.table
        try:
            built.loaded.check()
        except AacbenchError as error:
            raise BrokenError(str(error)) from error


def same_seed(subject: Subject, graph: Graph) -> None:
    """Built again with the same seed, the heuristic is the same to the byte."""
    for built in subject.every(graph):
        if subject.build(graph, built.budget).digest != built.digest:
            raise BrokenError(f"two builds with the seed {SEED} differ, at {built.budget:g} bytes a vertex")


def other_process(subject: Subject, graph: Graph) -> None:
    """Built in another process with the same seed, the heuristic is the same to the byte."""
    for built in subject.every(graph):
        theirs = digests_elsewhere(subject, graph)[graph.digest, built.budget]
        if theirs != built.digest:
            raise BrokenError(
                f"a build with the seed {SEED} in another process differs, at {built.budget:g} bytes a vertex"
            )


def other_seeds(subject: Subject, graph: Graph) -> None:
    """Built with another seed, a deterministic heuristic is the same to the byte."""
    for built in subject.every(graph):
        for seed in OTHER_SEEDS:
            if subject.besides(graph, built.budget, seed).digest != built.digest:
                raise BrokenError(
                    f"the seeds {SEED} and {seed} give different heuristics, and `deterministic` is claimed"
                )


def directed(subject: Subject, graph: Graph) -> None:
    """A method that claims `directed` takes one-way arcs where it takes two-way ones; any other one refuses them."""
    if not is_one_way(graph):
        return
    refused = _refusal(subject, graph)
    if not subject.method.claims.directed:
        if refused is None:
            raise BrokenError("`directed` is not claimed, so `fit` must answer Unsupported where arcs are one-way")
        return
    if refused is not None:
        elsewhere = _refusal(subject, as_symmetric(graph))
        if elsewhere is None:
            raise BrokenError(f"`directed` is claimed, but one-way arcs are refused: {refused}")
        raise NotSupportedError(refused)


def loads_from_bundle(subject: Subject, graph: Graph) -> None:
    """Loaded from its bundle, in a process that never built it, the heuristic gives the same bounds."""
    for built in subject.each(graph):
        if built.deployed.tier == "scalar":
            raise NothingToDoError("a scalar heuristic has no arrays, so its memory is self-reported")
        theirs = bounds_from_bundles(subject, graph)[graph.digest, built.budget]
        if isinstance(theirs, str):
            raise BrokenError(theirs)
        for u, t in np.argwhere(~((theirs == built.table) | (np.isnan(theirs) & np.isnan(built.table)))):
            raise BrokenError(
                f"h({u}, {t}) = {number(built.table[u, t])} in the process that built it, but "
                f"{number(theirs[u, t])} from the bundle; it depends on something that is not in its arrays"
            )


def _refusal(subject: Subject, graph: Graph) -> str | None:
    answer = subject.fitted(graph, AMPLE)
    return answer.reason if isinstance(answer, Unsupported) else None


def _check_parameter(name: str, parameter: Parameter) -> None:
    if type(parameter.default) not in _VALUES:
        raise BrokenError(f"the default of {name!r} must be a number, text, True or False")
    wrong = problem_with(parameter, parameter.default)
    if wrong:
        raise BrokenError(f"parameter {name!r} takes {wrong}, which its default {parameter.default!r} is not")
    if not parameter.help.strip():
        raise BrokenError(f"parameter {name!r} has no help text")


def _check_reason(answer: Unsupported) -> None:
    if not isinstance(answer.reason, str) or not answer.reason.strip():
        raise BrokenError("`fit` answers Unsupported without a reason")


def _check_answer(subject: Subject, answer: object) -> None:
    if not isinstance(answer, dict) and not hasattr(answer, "items"):
        raise BrokenError(f"`fit` must answer with parameters or Unsupported, not a {type(answer).__name__}")
    given = dict(answer)  # type: ignore[call-overload]
    for name, parameter in subject.method.parameters.items():
        if name not in given:
            raise BrokenError(f"`fit` leaves out the parameter {name!r}")
        wrong = problem_with(parameter, given[name])
        if wrong:
            raise BrokenError(f"`fit` answers {name}={given[name]!r}, but the parameter takes {wrong}")
    for name, value in given.items():
        if name != PARTS and type(value) not in _VALUES:
            raise BrokenError(f"`fit` answers {name}={value!r}, which is not a plain number or text")
