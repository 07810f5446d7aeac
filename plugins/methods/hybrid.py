"""Hybrids: the larger bound of two other methods, at half the budget each or at the whole of it each."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from aacbench.contract.method import BuildContext, Claims, MaxHeuristic, Method, Parameter, Params, Part
from aacbench.plugins import Budget, GraphInfo, hookimpl, read_part


@hookimpl
def aacbench_methods() -> Iterator[Method]:
    """Two methods at half the budget each, and at the whole of it each."""
    two = {
        "a": Parameter("aac", "a method, with settings as in alt-pool[K0=64]"),
        "b": Parameter("alt", "another method"),
    }
    half = Method(
        "hybrid-half",
        "the larger bound of two methods, each at half the budget",
        fit,
        build,
        parameters=two,
        made_of=partial(parts, 0.5),
    )
    yield half
    yield replace(half, name="hybrid", summary="hybrid-half by a shorter name")
    yield Method(
        "hybrid-double",
        "the larger bound of two methods, each at the whole budget: twice the memory",
        fit,
        build,
        Claims(matched=False),
        two,
        partial(parts, 1.0),
    )


def parts(share: float, params: Params) -> tuple[Part, Part]:
    """The two methods as a user named them."""
    return read_part(params["a"], share), read_part(params["b"], share)


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params:
    """Nothing of its own: its parts are fitted each by itself."""
    return params


def build(context: BuildContext) -> MaxHeuristic:
    """The pointwise maximum."""
    return MaxHeuristic(context.parts)
