"""Methods made of others, some of them impossible."""

from aacbench.plugins import Claims, MaxHeuristic, Method, Part, ScalarHeuristic, hookimpl


def fits(budget, info, params):
    return params


def whole(context):
    return MaxHeuristic(context.parts)


def peek(context):
    """What a part is shown, told by the bytes it declares: one for every ten test queries."""
    count = 0 if context.oracle_queries is None else len(context.oracle_queries)
    return ScalarHeuristic(lambda u, t: 0, declared_bytes_per_vertex=count / 10)


def broken(params):
    raise ZeroDivisionError("nothing to divide")


@hookimpl
def aacbench_methods():
    def made(name, parts, **more):
        return Method(name, "made of others", fits, whole, made_of=parts, **more)

    yield Method("peeker", "counts the test queries", fits, peek, Claims(oracle=True))
    yield Method("blind", "counts the test queries too", fits, peek)
    yield Method("shaky", "not consistent", fits, peek, Claims(consistent=False))
    yield made("greedy", lambda params: (Part("alt"), Part("alt", share=0.5)))
    yield made("circle", lambda params: (Part("circle"),))
    yield made("empty", lambda params: ())
    yield made("failing", broken)
