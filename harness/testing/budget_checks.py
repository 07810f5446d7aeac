"""Checks of memory: the arrays deployed stay within the budget, and more budget never gives less."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from numbers import Real
from typing import Any

from aacbench.bundle.inventory import check_budget
from aacbench.contract.budget import Budget
from aacbench.contract.composite import PARTS
from aacbench.contract.method import Params, Unsupported
from aacbench.errors import OverBudgetError
from aacbench.graphs.record import Graph
from aacbench.testing.outcomes import BrokenError, NotSupportedError
from aacbench.testing.subject import Subject
from aacbench.testing.zoo import is_of_few

ODD = 13.0  # a budget that no label width divides
ALSO = (64.0, 77.0, 128.0)  # where there is room for more than a few labels
LADDER = (*map(float, range(1, 65)), 77.0, 96.0, 128.0, 192.0, 256.0, 512.0)
_MOST_BUILT = 16  # pairs of budgets at which some setting is less, to be measured


def within_budget(subject: Subject, graph: Graph) -> None:
    """The bytes of the arrays deployed, measured, do not exceed the budget by one."""
    refusal, count = None, 0
    for budget in _measured_at(subject, graph):
        try:
            built = subject.besides(graph, budget)
        except NotSupportedError as error:
            refusal = error
            continue
        count += 1
        try:
            check_budget(built.counted, Budget(budget))
        except OverBudgetError as error:
            raise BrokenError(str(error)) from error
    if refusal is not None and not count:
        raise refusal


def never_shrinks(subject: Subject, graph: Graph) -> None:
    """What is supported stays supported with more budget, and no fewer bytes are deployed."""
    fitted = {budget: subject.fitted(graph, budget) for budget in sorted({*LADDER, *_measured_at(subject, graph)})}
    last = [*fitted.values()][-1]
    if isinstance(last, Unsupported) and all(isinstance(params, Unsupported) for params in fitted.values()):
        raise NotSupportedError(last.reason)
    suspicious = []
    for (less, before), (more, after) in pairwise(fitted.items()):
        if isinstance(before, Unsupported):
            continue
        if isinstance(after, Unsupported):
            raise BrokenError(f"{less:g} bytes a vertex are supported, but {more:g} are not: {after.reason}")
        if _less_of_something(before, after):
            suspicious.append((less, more))
    some = suspicious[:: 1 + len(suspicious) // _MOST_BUILT]
    _check_bytes(subject, graph, (*_measured_at(subject, graph), *(budget for pair in some for budget in pair)))


def _measured_at(subject: Subject, graph: Graph) -> tuple[float, ...]:
    """The budgets asked for, which other checks look at too, before those that are measured only here."""
    return (*subject.budgets, ODD, *(ALSO if is_of_few(graph) else ()))


def _less_of_something(before: Params, after: Params) -> bool:
    """Whether some number among the settings fell, or something that is no number changed."""
    numbers, words = _numbers(before), _words(before)
    return words != _words(after) or any(value < numbers.get(name, value) for name, value in _numbers(after).items())


def _check_bytes(subject: Subject, graph: Graph, budgets: Iterable[float]) -> None:
    measured = {}
    for budget in budgets:
        with suppress(NotSupportedError):
            measured[budget] = subject.besides(graph, budget).counted.total_bytes
    for (less, before), (more, after) in pairwise(sorted(measured.items())):
        if after < before:
            raise BrokenError(
                f"{less:g} bytes a vertex are used for {before} bytes of labels, but {more:g} for {after} only"
            )


def _numbers(params: Params) -> dict[str, Any]:
    return {name: value for name, value in _settings(params) if _is_number(value)}


def _words(params: Params) -> dict[str, Any]:
    return {name: value for name, value in _settings(params) if not _is_number(value)}


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _settings(params: Params, where: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting, those of the parts a method is made of included."""
    for name, value in params.items():
        if name != PARTS:
            yield where + name, value
    for number, part in enumerate(params.get(PARTS, ())):
        yield from _settings(part["params"], f"{where}{PARTS}.{number}.")
