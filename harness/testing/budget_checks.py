"""Checks of memory: the arrays deployed stay within the budget, and more budget never gives less."""

import math
from collections.abc import Iterator
from itertools import pairwise
from numbers import Real
from typing import Any

from aacbench.errors import OverBudgetError
from aacbench.graphs.record import Graph
from aacbench.memory.conventions import Budget
from aacbench.memory.inventory import check_budget
from aacbench.method import Params, Unsupported
from aacbench.parts import PARTS
from aacbench.testing.subject import BrokenError, NotSupportedError, Subject

ODD = 13.0  # a budget that no label width divides
LADDER = (*map(float, range(1, 65)), 96.0, 128.0, 192.0, 256.0, 512.0)
_MOST_BUILT = 4  # pairs of budgets that look as if less was given, to be measured


def within_budget(subject: Subject, graph: Graph) -> None:
    """The bytes of the arrays deployed, measured, do not exceed the budget by one."""
    refusal, count = None, 0
    for budget in sorted({*subject.budgets, ODD}):
        try:
            built = subject.built(graph, budget)
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
    """What is supported stays supported with more budget, and fewer bytes are deployed only where a setting grew."""
    fitted = [(budget, subject.fitted(graph, budget)) for budget in LADDER]
    if isinstance(fitted[-1][1], Unsupported) and all(isinstance(params, Unsupported) for _, params in fitted):
        raise NotSupportedError(fitted[-1][1].reason)
    measured = 0
    for (less, before), (more, after) in pairwise(fitted):
        if isinstance(before, Unsupported):
            continue
        if isinstance(after, Unsupported):
            raise BrokenError(f"{less:g} bytes a vertex are supported, but {more:g} are not: {after.reason}")
        if _suspicious(before, after) and measured < _MOST_BUILT:
            measured += 1
            _check_bytes(subject, graph, less, more)


def _suspicious(before: Params, after: Params) -> bool:
    """Whether the settings differ and none of their numbers grew."""
    if dict(before) == dict(after):
        return False
    numbers = dict(_numbers(before))
    return not any(value > numbers.get(name, math.inf) for name, value in _numbers(after))


def _check_bytes(subject: Subject, graph: Graph, less: float, more: float) -> None:
    small, large = (subject.built(graph, budget).counted.total_bytes for budget in (less, more))
    if large < small:
        raise BrokenError(
            f"{less:g} bytes a vertex are used for {small} bytes of labels, but {more:g} for {large} only"
        )


def _numbers(params: Params, where: str = "") -> Iterator[tuple[str, Any]]:
    """Every number among the settings, those of the parts a method is made of included."""
    for name, value in params.items():
        if isinstance(value, Real) and not isinstance(value, bool):
            yield where + name, value
    for number, part in enumerate(params.get(PARTS, ())):
        yield from _numbers(part["params"], f"{where}{PARTS}.{number}.")
