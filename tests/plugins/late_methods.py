"""Methods that find only while they build that they cannot be built."""

import numpy as np

from aacbench.plugins import LabelHeuristic, MaxHeuristic, Method, Parameter, Part, Unsupported, hookimpl


def fits(budget, info, params):
    return params


def nothing(context):
    return LabelHeuristic({"rows": np.zeros((context.graph.vertices, 1), dtype=np.int32)}, "differential")


def late(context):
    return Unsupported("It grew.", bytes_needed=np.int64(100_000))


def without_a_number(context):
    return Unsupported("the moon is full")


def without_a_reason(context):
    return Unsupported(" ")


def with_half_a_byte(context):
    return Unsupported("it grew", bytes_needed=0.5)


def from_two_on(context):
    return Unsupported("two is too many") if context.params["K"] > 1 else nothing(context)


def by_seed(context):
    return nothing(context) if context.seed == 1 else Unsupported("a bad seed")


def whole(context):
    return MaxHeuristic(context.parts)


@hookimpl
def aacbench_methods():
    yield Method("late", "too large", fits, late)
    yield Method("late-in-words", "impossible", fits, without_a_number)
    yield Method("late-without-reason", "wrong", fits, without_a_reason)
    yield Method("late-half", "wrong", fits, with_half_a_byte)
    yield Method("late-grid", "only one", fits, from_two_on, parameters={"K": Parameter(1, "how many")})
    yield Method("late-by-seed", "claims that the seed changes nothing", fits, by_seed)
    parts = Part("alt", share=0.5), Part("late", share=0.5)
    yield Method("late-part", "one part too large", fits, whole, made_of=lambda params: parts)
