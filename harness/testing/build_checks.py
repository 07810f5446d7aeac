"""Checks of `fit` and `build`: valid settings, an unchanged graph, and the claims about seeds and one-way arcs."""

from aacbench.contract.budget import CONVENTIONS
from aacbench.contract.composite import PARTS
from aacbench.contract.method import Parameter, Unsupported
from aacbench.contract.parameters import problem_with
from aacbench.errors import AacbenchError
from aacbench.graphs.record import Graph
from aacbench.testing.subject import SEED, BlockedError, BrokenError, NotBuiltError, NotSupportedError, Subject
from aacbench.testing.zoo import as_symmetric, is_one_way

OTHER_SEEDS = (2, 12345)
AMPLE = 1024.0  # bytes per vertex; enough for any method on a small graph
_VALUES = (bool, int, float, str)


def parameters(subject: Subject, graph: Graph) -> None:
    """Every default is valid and has a help text; `fit` accepts it under every convention and returns plain values."""
    for name, parameter in subject.method.parameters.items():
        _check_parameter(name, parameter)
    for convention in CONVENTIONS.values():
        for budget in (*subject.budgets, AMPLE):
            answer = subject.fit(graph, budget, convention)
            if isinstance(answer, Unsupported):
                _check_reason(answer)
            else:
                _check_answer(subject, answer)


def builds(subject: Subject, graph: Graph) -> None:
    """`build` returns a heuristic, or Unsupported, for all settings that `fit` returns."""
    try:
        for _ in subject.builds(graph):
            pass
    except NotBuiltError as error:
        raise BrokenError(str(error)) from error


def graph_untouched(subject: Subject, graph: Graph) -> None:
    """Neither `build` nor the heuristic changes the graph or the queries."""
    for built in subject.builds(graph):
        _ = built.table
        try:
            built.loaded.check()
        except AacbenchError as error:
            raise BrokenError(str(error)) from error


def same_seed(subject: Subject, graph: Graph) -> None:
    """A second build with the same seed gives the same bytes."""
    for built in subject.builds(graph):
        if subject.rebuild(graph, built.budget).digest != built.digest:
            raise BrokenError(f"two builds with seed {SEED} differ, at {built.budget:g} bytes per vertex")


def other_seeds(subject: Subject, graph: Graph) -> None:
    """A build with another seed gives the same bytes, if `deterministic` is claimed."""
    for built in subject.builds(graph):
        for seed in OTHER_SEEDS:
            if subject.build_extra(graph, built.budget, seed).digest != built.digest:
                raise BrokenError(f"`deterministic` is claimed, but seeds {SEED} and {seed} give different heuristics")


def directed(subject: Subject, graph: Graph) -> None:
    """A method that claims `directed` supports one-way arcs if it supports two-way ones; any other refuses them."""
    if not is_one_way(graph):
        return
    refusal = _refusal(subject, graph)
    if not subject.method.claims.directed:
        if refusal is None:
            raise BrokenError("`directed` is not claimed, so `fit` or `build` must return Unsupported for one-way arcs")
        return
    if refusal is not None:
        if _refusal(subject, as_symmetric(graph)) is None:
            raise BrokenError(f"`directed` is claimed, but one-way arcs are refused: {refusal}")
        raise NotSupportedError(refusal)


def _refusal(subject: Subject, graph: Graph) -> str | None:
    """The reason why `fit`, or `build` at every budget, refuses the graph; None if it does not."""
    answer = subject.fit(graph, AMPLE)
    if isinstance(answer, Unsupported):
        return answer.reason
    reason = None
    for budget in (*subject.budgets, AMPLE):  # other checks have built the first ones
        try:
            subject.build(graph, budget)
        except NotSupportedError as refusal:
            reason = str(refusal)
        except (NotBuiltError, BlockedError):  # which other checks report
            return None
        else:
            return None
    return reason


def _check_parameter(name: str, parameter: Parameter) -> None:
    if type(parameter.default) not in _VALUES:
        raise BrokenError(f"the default of {name!r} must be a number, text, True or False")
    wanted = problem_with(parameter, parameter.default)
    if wanted:
        raise BrokenError(f"parameter {name!r} takes {wanted}, but its default is {parameter.default!r}")
    if not parameter.help.strip():
        raise BrokenError(f"parameter {name!r} has no help text")


def _check_reason(answer: Unsupported) -> None:
    if not isinstance(answer.reason, str) or not answer.reason.strip():
        raise BrokenError("`fit` returns Unsupported without a reason")


def _check_answer(subject: Subject, answer: object) -> None:
    if not isinstance(answer, dict) and not hasattr(answer, "items"):
        raise BrokenError(f"`fit` must return parameters or Unsupported, not a {type(answer).__name__}")
    params = dict(answer)  # type: ignore[call-overload]
    for name, parameter in subject.method.parameters.items():
        if name not in params:
            raise BrokenError(f"`fit` omits the parameter {name!r}")
        wanted = problem_with(parameter, params[name])
        if wanted:
            raise BrokenError(f"`fit` returns {name}={params[name]!r}, but the parameter takes {wanted}")
    for name, value in params.items():
        if name != PARTS and type(value) not in _VALUES:
            raise BrokenError(f"`fit` returns {name}={value!r}, which is not a plain number or text")
