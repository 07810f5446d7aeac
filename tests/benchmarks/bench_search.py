"""The compiled search against the same loop in C++, against plain Python, and against itself."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import numpy as np
import pytest
from benchmarks import cpp, plain

from aacbench.search import network, parse, search

BOUNDS = {"masked tables": plain.masked_bound, "NumPy rows": plain.numpy_bound, "lists": plain.list_bound}


@pytest.fixture(scope="module")
def cpp_search(tmp_path_factory):
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("the comparison with C++ needs g++")
    return cpp.build(compiler, tmp_path_factory.mktemp("cpp"))


@pytest.mark.parametrize("policy", ["paper", "modern"])
@pytest.mark.parametrize("landmarks", [0, 8, 16])
def test_time_per_expansion_against_cpp(compare, road, cpp_search, landmarks, policy):
    layout, rule = road.layout(landmarks), parse(policy)
    queries = road.queries.take(slice(100, 150 if landmarks else 105))
    run = lambda: search(road.net, layout, queries.sources, queries.targets, rule)  # noqa: E731
    ours, theirs = compare(
        f"A*, K={landmarks}, {policy} / same loop in C++",
        run,
        cpp_search.batch(road.net, layout, queries, rule),
        per=(int(run().expanded.sum()), "expansion"),
        rounds=40,  # short ones: some fall into quiet moments
        at_most=1.1,
    )
    assert np.array_equal(cpp.table(ours), theirs)


@pytest.mark.parametrize("labels", ["masked tables", "NumPy rows", "lists"])
def test_queries_against_plain_python(compare, road, labels):
    """The paper's setting; the plain loop answers the first five test queries, and so does ours."""
    queries = road.queries.take(slice(100, 105))
    layout, rule = road.layout(8), parse("paper")
    adjacent, h = plain.neighbours(road.net.graph), BOUNDS[labels](road.pool.first(8))
    pairs = list(zip(queries.sources.tolist(), queries.targets.tolist(), strict=True))
    ours, theirs = compare(
        f"A*, K=8, paper / plain Python with {labels}",
        lambda: search(road.net, layout, queries.sources, queries.targets, rule),
        lambda: [plain.astar(adjacent, h, s, t) for s, t in pairs],
        per=(len(pairs), "query"),
        rounds=9,
        at_most=1 / 100,
    )
    assert list(zip(ours.cost, ours.expanded, strict=True)) == theirs


def test_vertex_order(compare, road):
    in_file_order = network(road.net.graph, order="file")
    sources, targets = road.queries.sources, road.queries.targets
    layouts = road.layout(8), road.layout(8, in_file_order)
    ours, theirs = compare(
        "A*, K=8, modern: depth-first / file order",
        lambda: search(road.net, layouts[0], sources, targets),
        lambda: search(in_file_order, layouts[1], sources, targets),
        per=(len(sources), "query"),
        rounds=15,
    )
    assert np.array_equal(cpp.table(ours), cpp.table(theirs))


def test_two_threads(compare, road):
    layout, sources, targets = road.layout(8), road.queries.sources, road.queries.targets
    ours, theirs = compare(
        "A*, K=8, modern: two threads / one",
        lambda: search(road.net, layout, sources, targets, threads=2),
        lambda: search(road.net, layout, sources, targets, threads=1),
        per=(len(sources), "query"),
        rounds=25,
        at_most=1 / 1.8,
    )
    assert np.array_equal(cpp.table(ours), cpp.table(theirs))


def test_two_threads_of_anything(compare):
    """The control for the line above: what two threads are worth here and now, whatever they do."""
    half = bytes(1 << 25)

    def hashed(threads):
        with ThreadPoolExecutor(threads) as pool:
            return [found.hexdigest() for found in pool.map(sha256, [half, half])]

    ours, theirs = compare(
        "control, sha256: two threads / one", lambda: hashed(2), lambda: hashed(1), per=(1, "run"), rounds=25
    )
    assert ours == theirs
