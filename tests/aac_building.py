"""What the tests of AAC share: methods fitted and built as a cell would, and held to their budgets."""

from functools import cache

import numpy as np

from aacbench.bundle.inventory import check_budget, inventory
from aacbench.contract.budget import Budget
from aacbench.contract.method import BuildContext
from aacbench.labels.graph_info import graph_info
from aacbench.plugins.manager import load_plugins
from aacbench.plugins.settings import resolve
from aacbench.queries.record import QuerySet
from aacbench.run.pools import StoredPools

NO_QUERIES = QuerySet(sources=np.empty(0, dtype=np.int64), targets=np.empty(0, dtype=np.int64))


@cache
def _plugins():
    return load_plugins(environment={"AACBENCH_PLUGINS": ""})


def method(name):
    return _plugins().method(name).method


def fitted(name, info, budget, **given):
    chosen = method(name)
    return chosen.fit(budget, info, resolve(chosen, given))


def context(net, folder, params, seed=42, train=NO_QUERIES, validation=NO_QUERIES):
    return BuildContext(
        network=net, params=params, seed=seed, train=train, validation=validation, pools=StoredPools(net, folder)
    )


def built(name, net, folder, budget=32, seed=42, train=NO_QUERIES, validation=NO_QUERIES, **given):
    charged = budget if isinstance(budget, Budget) else Budget(budget)
    params = fitted(name, graph_info(net), charged, **given)
    heuristic = method(name).build(context(net, folder, params, seed, train, validation))
    check_budget(inventory(heuristic, net.graph.vertices), charged)
    return heuristic


def the_same(one, other):
    return one.settings == other.settings and np.array_equal(one.arrays["rows"], other.arrays["rows"])
