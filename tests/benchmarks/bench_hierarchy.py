"""Contraction hierarchies against ALT at 64 bytes a vertex: a query, a bound, and the build."""

import numpy as np
import pytest
from method_builds import built

from aacbench.bundle.deploy import deploy
from aacbench.labels import farthest_points
from aacbench.search import network, search

BUDGET = 64


@pytest.fixture(scope="module")
def forms(road, tmp_path_factory):
    """What `search` takes, by form."""
    folder = tmp_path_factory.mktemp("hierarchy")
    made = {pack: built("ch", road.net, folder, BUDGET, pack=pack) for pack in ("plain", "bytes")}
    made["alt"] = built("alt", road.net, folder, BUDGET)
    return {name: deploy(heuristic, road.net) for name, heuristic in made.items()}


@pytest.mark.parametrize(
    ("ours", "theirs", "wanted"), [("plain", "alt", 0.5), ("bytes", "alt", 0.5), ("bytes", "plain", 1.5)]
)
def test_queries(compare, road, forms, ours, theirs, wanted):
    queries = road.queries.take(slice(100, 200))
    run = {
        name: (lambda form=forms[name].searched: search(road.net, form, queries.sources, queries.targets))
        for name in (ours, theirs)
    }
    one, other = compare(
        f"A*, modern: ch, {ours} / {theirs if theirs == 'alt' else 'ch, ' + theirs}",
        run[ours],
        run[theirs],
        per=(len(queries), "query"),
        rounds=15,
        at_most=wanted,
    )
    assert np.array_equal(one.cost, other.cost)


@pytest.mark.parametrize("pack", ["plain", "bytes"])
def test_bounds_of_every_vertex(compare, road, forms, pack):
    """All bounds to one goal: every vertex of the hierarchy is evaluated once."""
    vertices = np.arange(road.net.graph.vertices)
    compare(
        f"every bound to a goal: ch, {pack} / alt",
        lambda: forms[pack].many(vertices, 7),
        lambda: forms["alt"].many(vertices, 7),
        per=(len(vertices), "bound"),
        rounds=9,
    )


def test_build(compare, road, tmp_path):
    """A contraction with its packing against the landmarks of ALT, both from nothing."""
    net = network(road.net.graph)
    compare(
        "build: ch / 16 farthest-point landmarks",
        lambda: built("ch", net, tmp_path, BUDGET).facts["arcs"],
        lambda: len(farthest_points(net, 16).landmarks),
        per=(1, "build"),
        rounds=3,
    )
