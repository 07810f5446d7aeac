"""Methods built as a cell builds them, and checks of their bounds on every pair of a small graph."""

from dataclasses import replace
from functools import cache

import numpy as np
from hypothesis import strategies as st
from support import true_distances

from aacbench.bundle.deploy import deploy
from aacbench.bundle.inventory import check_budget, inventory
from aacbench.contract.budget import Budget, GraphInfo
from aacbench.contract.method import BuildContext, Unsupported
from aacbench.graphs.load import load
from aacbench.labels.graph_info import graph_info
from aacbench.plugins.manager import load_plugins
from aacbench.plugins.settings import resolve
from aacbench.queries.record import QuerySet
from aacbench.run.shared import Pools
from aacbench.search import network, search
from aacbench.search.astar import RELATIVE_TOLERANCE

NO_QUERIES = QuerySet(sources=np.empty(0, dtype=np.int64), targets=np.empty(0, dtype=np.int64))

INFOS = st.builds(
    GraphInfo,
    name=st.just("g"),
    vertices=st.integers(1, 10**6),
    arcs=st.integers(0, 10**6),
    integral=st.booleans(),
    symmetric=st.booleans(),
    declared_directed=st.booleans(),
    label_bytes=st.just(4),
).flatmap(lambda info: st.sampled_from([info, replace(info, label_bytes=8)] if info.integral else [info]))

NEW_YORK = GraphInfo("NY", 264346, 730100, True, True, True, 4)


@cache
def road():
    """A directed network of 500 vertices."""
    return network(load("road-500"))


@cache
def blocks():
    """The paper's stochastic block model."""
    return network(load("sbm-10k"))


@cache
def plugins():
    """The built-in plugins."""
    return load_plugins(environment={"AACBENCH_PLUGINS": ""})


def method(name):
    """A built-in method."""
    return plugins().method(name).method


def fitted(name, info, budget, **given):
    """The fitted parameters, or Unsupported."""
    return method(name).fit(budget, info, resolve(method(name), given))


def context(net, folder, params, seed=42, train=NO_QUERIES, validation=NO_QUERIES, oracle=None):
    """What a cell gives to a method's build."""
    return BuildContext(
        network=net,
        params=params,
        seed=seed,
        train=train,
        validation=validation,
        pools=Pools(net, folder),
        oracle_queries=oracle,
    )


def built(name, net, folder, budget=32, seed=42, *, train=NO_QUERIES, validation=NO_QUERIES, oracle=None, **given):
    """The heuristic, checked against its budget; None if the method answers Unsupported."""
    charged = budget if isinstance(budget, Budget) else Budget(budget)
    params = fitted(name, graph_info(net), charged, **given)
    if isinstance(params, Unsupported):
        return None
    heuristic = method(name).build(context(net, folder, params, seed, train, validation, oracle))
    check_budget(inventory(heuristic, net.graph.vertices), charged)
    return heuristic


def the_same(one, other):
    """Whether two heuristics deploy the same labels."""
    return one.settings == other.settings and np.array_equal(one.arrays["rows"], other.arrays["rows"])


def expanded(net, heuristic, queries, policy="modern"):
    """Expansions per query."""
    return search(net, deploy(heuristic, net).searched, queries.sources, queries.targets, policy, threads=2).expanded


def assert_sound(heuristic, net):
    """Admissible on every pair, and consistent on every arc from which the target is still reached."""
    graph, many = net.graph, deploy(heuristic, net).many
    exact = true_distances(graph)
    for target in range(graph.vertices):
        h = many(np.arange(graph.vertices), target).astype(np.float64)
        limit = np.where(exact[:, target] < 0, np.inf, exact[:, target])
        assert (h >= 0).all()
        assert (h <= allowed(limit, graph)).all()
        useful = exact[graph.indices, target] >= 0
        through = graph.weights + h[graph.indices]
        assert (h[graph.sources] <= allowed(through, graph))[useful].all()


def allowed(limit, graph):
    """The limit with room for rounding."""
    return limit if graph.integral else limit * (1 + RELATIVE_TOLERANCE)
