"""Hybrids: the larger bound of two methods, each with half of the budget or with all of it."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from aacbench.contract.method import BuildContext, Claims, MaxHeuristic, Method, Parameter, Params, Part
from aacbench.plugins import Budget, GraphInfo, hookimpl, read_part


@hookimpl
def aacbench_methods() -> Iterator[Method]:
    two = {
        "a": Parameter("aac", "a method, with settings as in alt-pool[K0=64]"),
        "b": Parameter("alt", "another method"),
    }
    half = Method(
        "hybrid-half",
        "the larger bound of two methods, each with half of the budget",
        fit,
        build,
        parameters=two,
        made_of=partial(parts, 0.5),
        docs="docs/methods/hybrid.md",
    )
    yield half
    yield replace(half, name="hybrid", summary="short name of hybrid-half: the larger bound of two methods")
    yield Method(
        "hybrid-double",
        "the larger bound of two methods, each with the whole budget: twice the memory",
        fit,
        build,
        Claims(matched=False),
        two,
        partial(parts, 1.0),
        docs="docs/methods/hybrid.md",
    )


def parts(share: float, params: Params) -> tuple[Part, Part]:
    return read_part(params["a"], share), read_part(params["b"], share)


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params:
    """Return the params: a hybrid stores nothing itself, and its parts are fitted separately."""
    return params


def build(context: BuildContext) -> MaxHeuristic:
    return MaxHeuristic(context.parts)
