"""Heuristics held in one's hand: the same as a run would build, with bounds, paths and counterexamples."""

import numba
import numpy as np
import pytest

import aacbench
from aacbench.errors import OverBudgetError, UnsupportedError, UsageError
from aacbench.graphs.load import load
from aacbench.library.plugins import load_files
from aacbench.plugins import BatchHeuristic, Claims, Method, Unsupported
from aacbench.search import dijkstra, network
from aacbench.util.paths import cache_folder


def fit(budget, info, params):
    return params


def bounds(arrays, us, t):
    return np.abs(arrays["place"][us] - arrays["place"][t])


def build_line(context):
    return BatchHeuristic({"place": np.arange(context.graph.vertices, dtype=np.int32)}, bounds)


LINE = Method("line", "the number of the vertex is its place", fit, build_line)


@pytest.fixture(scope="module")
def alt():
    return aacbench.build("alt", "grid-8", 16)


def test_a_heuristic_gives_bounds_paths_and_counts(alt):
    best = dijkstra(network(load("grid-8")), [0, 5], [63, 9])
    assert alt.search([0, 5], [63, 9]).cost.tolist() == best.cost.tolist()
    assert alt.route(0, 63).cost == best.cost[0]
    assert alt(0, 63) == alt.many([7, 0], 63)[1] <= best.cost[0]


def test_it_says_what_it_is_and_what_it_takes(alt):
    assert repr(alt) == "alt on grid-8: 16.125 bytes per vertex in rows"
    assert (alt.params["K"], alt.claims, alt.arrays["rows"].shape) == (4, Claims(), (64, 4))
    assert not alt.arrays["rows"].flags.writeable


def test_settings_are_given_in_text_or_by_name():
    one, other = aacbench.build("alt[K=2,tie=fifo]", "grid-8", 16), aacbench.build("alt", "grid-8", 16, K=2)
    assert one.params == other.params
    assert (one.info["policy"], other.info["policy"]) == ("reopen=on,tie=fifo,bpmx=off", "modern")


def test_a_method_from_a_cell_is_built_and_its_counterexample_found():
    graph = aacbench.as_graph(([0, 1, 2], [1, 2, 3], [2, 2, 1]), directed=False)
    line = aacbench.build(LINE, graph, 4)
    assert line.counterexample() is None
    close = aacbench.as_graph(([0, 1, 0], [1, 2, 3], [2, 2, 1]), directed=False)
    broken = aacbench.build(LINE, close, 4)
    assert broken.counterexample().sentence == "h(3, 0) = 3 exceeds the distance 1"
    assert broken.check([3]).violations["admissible"] > 0
    assert broken.check([1]).counterexamples == ()


def test_a_claim_that_is_not_made_has_no_counterexample():
    modest = Method("line", "no claim", fit, build_line, claims=Claims(admissible=False, consistent=False))
    close = aacbench.as_graph(([0, 1, 0], [1, 2, 3], [2, 2, 1]), directed=False)
    assert aacbench.build(modest, close, 4).counterexample() is None


def test_what_cannot_be_built_is_an_error_with_its_reason():
    with pytest.raises(UnsupportedError, match=r"^alt on p7 at 2 bytes per vertex: A label of 4 bytes does not fit"):
        aacbench.build("alt", "p7", 2)
    refusing = Method("late", "refuses when it builds", fit, lambda context: Unsupported("It is too large"))
    with pytest.raises(UnsupportedError, match=r"^late on p7 at 64 bytes per vertex: It is too large\.$"):
        aacbench.build(refusing, "p7")
    with pytest.raises(OverBudgetError, match="28 bytes, but 3 bytes a vertex allow 21"):
        aacbench.build(LINE, "p7", 3)
    with pytest.raises(UsageError, match="Unknown method 'atl'; did you mean 'alt'"):
        aacbench.build("atl", "p7")
    with pytest.raises(UsageError, match=r"^The budget must be a number of bytes per vertex, not 'sixteen'\.$"):
        aacbench.build("alt", "p7", "sixteen")
    with pytest.raises(UsageError, match="takes one method with one value for each setting"):
        aacbench.build("alt[K=1|2]", "p7")
    with pytest.raises(UsageError, match=r"The name of a method must be letters, digits and hyphens"):
        aacbench.build(Method("a b", "x", fit, build_line), "p7")


def test_a_name_in_place_of_a_number_is_answered_with_where_numbers_are():
    town = aacbench.as_graph((["Linz", "Graz", "Wien"], ["Graz", "Wien", "Enns"], [1, 2, 3]), directed=False)
    h = aacbench.build(LINE, town, 4)
    for ask in (lambda: h("Linz", "Graz"), lambda: h(0, "Linz"), lambda: h.route("Linz", 0), lambda: h.check(["Linz"])):
        with pytest.raises(UsageError, match=r"must be numbers; graph\.vertex_by_name\['Linz'\] is that of a name"):
            ask()


CACHED = """
from numba import njit

from aacbench.plugins import LabelHeuristic, Method, hookimpl


@njit(cache=True)
def kernel(labels, u, t):
    return 0


@hookimpl
def aacbench_methods():
    yield Method("cached", "a kernel in the cache", lambda budget, info, params: params, lambda context: kernel)
"""


def test_what_a_plugin_compiles_here_is_not_found_by_workers(tmp_path):
    file, before = tmp_path / "cached.py", numba.config.CACHE_DIR
    file.write_text(CACHED)
    kernel = load_files([file], to_build=True).method("cached").method.build(None)
    assert not kernel.stats.cache_path.startswith(str(cache_folder()))
    assert before == numba.config.CACHE_DIR
