"""Checks of memory: deployed arrays fit the budget, and a larger budget never gives less."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from numbers import Real
from typing import Any

from aacbench.bundle.inventory import check_budget
from aacbench.contract.budget import Budget
from aacbench.contract.composite import PARTS
from aacbench.contract.method import Params, Unsupported
from aacbench.errors import OverBudgetError
from aacbench.graphs.record import Graph
from aacbench.testing.subject import BrokenError, NotSupportedError, Subject
from aacbench.testing.zoo import is_representative

ODD = 13.0  # a budget that no label width divides
LARGE = (64.0, 77.0, 128.0)  # budgets for more than a few labels
LADDER = (*map(float, range(1, 65)), 77.0, 96.0, 128.0, 192.0, 256.0, 512.0)
_MOST_BUILT = 16  # pairs of budgets to measure because some setting falls from one to the next


def within_budget(subject: Subject, graph: Graph) -> None:
    """The deployed arrays, measured, do not exceed the budget by a single byte."""
    refusal, count = None, 0
    for budget in _measured_at(subject, graph):
        try:
            built = subject.build_extra(graph, budget)
        except NotSupportedError as error:
            refusal = error
            continue
        count += 1
        try:
            check_budget(built.memory, Budget(budget))
        except OverBudgetError as error:
            raise BrokenError(str(error)) from error
    if refusal is not None and not count:
        raise refusal


def never_shrinks(subject: Subject, graph: Graph) -> None:
    """A larger budget supports whatever a smaller one does, and deploys no fewer bytes."""
    fitted = {budget: subject.fit(graph, budget) for budget in sorted({*LADDER, *_measured_at(subject, graph)})}
    last = [*fitted.values()][-1]
    if isinstance(last, Unsupported) and all(isinstance(params, Unsupported) for params in fitted.values()):
        raise NotSupportedError(last.reason)
    suspicious = []
    for (less, before), (more, after) in pairwise(fitted.items()):
        if isinstance(before, Unsupported):
            continue
        if isinstance(after, Unsupported):
            raise BrokenError(f"{less:g} bytes per vertex are supported, but {more:g} are not: {after.reason}")
        if _some_setting_falls(before, after):
            suspicious.append((less, more))
    if subject.method.chooses:  # with more room, something smaller may be chosen
        return
    sample = suspicious[:: 1 + len(suspicious) // _MOST_BUILT]
    _check_bytes(subject, graph, (*_measured_at(subject, graph), *(budget for pair in sample for budget in pair)))


def _measured_at(subject: Subject, graph: Graph) -> tuple[float, ...]:
    """The budgets to measure: those of the subject first, then those that no other check builds."""
    return (*subject.budgets, ODD, *(LARGE if is_representative(graph) else ()))


def _some_setting_falls(before: Params, after: Params) -> bool:
    """Whether some numeric setting falls, or another one changes."""
    numbers = _numbers(before)
    return _others(before) != _others(after) or any(
        value < numbers.get(name, value) for name, value in _numbers(after).items()
    )


def _check_bytes(subject: Subject, graph: Graph, budgets: Iterable[float]) -> None:
    measured: dict[float, int] = {}
    refused: dict[float, NotSupportedError] = {}
    for budget in budgets:
        try:
            measured[budget] = subject.build_extra(graph, budget).memory.charged_bytes
        except NotSupportedError as refusal:
            refused[budget] = refusal
    for more in sorted(refused):
        if smaller := [budget for budget in measured if budget < more]:
            raise BrokenError(f"{max(smaller):g} bytes per vertex are supported, but {more:g} are not: {refused[more]}")
    if refused and not measured:
        raise refused[max(refused)]
    for (less, before), (more, after) in pairwise(sorted(measured.items())):
        if after < before:
            raise BrokenError(
                f"{less:g} bytes per vertex give {before} bytes of labels, but {more:g} give only {after}"
            )


def _numbers(params: Params) -> dict[str, Any]:
    return {name: value for name, value in _settings(params) if _is_number(value)}


def _others(params: Params) -> dict[str, Any]:
    return {name: value for name, value in _settings(params) if not _is_number(value)}


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _settings(params: Params, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting, including those of the parts."""
    for name, value in params.items():
        if name != PARTS:
            yield prefix + name, value
    for number, part in enumerate(params.get(PARTS, ())):
        yield from _settings(part["params"], f"{prefix}{PARTS}.{number}.")
