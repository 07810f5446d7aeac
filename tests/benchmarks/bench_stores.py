"""Label stores against plain rows of the same landmarks: time per bound, and per expansion."""

import numpy as np
import pytest

from aacbench.bundle.deploy import deploy
from aacbench.labels import farthest_points, subset
from aacbench.labels.stores.coded import Coded
from aacbench.labels.stores.lossless import Lossless
from aacbench.labels.stores.quantised import Quantised
from aacbench.labels.stores.selection import Selection
from aacbench.search import search

LANDMARKS = 32
STORES = {"for16": Lossless, "cover": Lossless, "packed": Lossless, "u16": Quantised, "u8": Quantised, "u6": Coded}


@pytest.fixture(scope="module")
def layouts(road):
    """Plain rows, and a store of the same landmarks."""
    pool, chosen = farthest_points(road.net, LANDMARKS), range(LANDMARKS)

    def of(store):
        made = STORES[store].of(road.net, Selection.of(pool, chosen), store).encode(LANDMARKS)
        return deploy(made, road.net), deploy(subset(road.net, pool, chosen), road.net)

    return of


@pytest.mark.parametrize("store", STORES)
def test_time_per_bound(compare, road, layouts, store):
    ours, theirs = layouts(store)
    starts = np.random.default_rng(1).integers(0, road.net.graph.vertices - 64, 2000)
    near = road.net.original[(starts[:, None] + np.arange(64)).ravel()]  # runs of neighbours, as a search asks for
    compare(
        f"h, {store} / plain rows",
        lambda: ours.many(near, 5),
        lambda: theirs.many(near, 5),
        per=(len(near), "bound"),
        rounds=25,
        at_most=2.0,
    )


@pytest.mark.parametrize("store", STORES)
def test_time_per_expansion(compare, road, layouts, store):
    ours, theirs = layouts(store)
    queries = road.queries.take(slice(100, 150))
    one, other = (
        lambda each=each: search(road.net, each.searched, queries.sources, queries.targets) for each in (ours, theirs)
    )
    found, plain = compare(
        f"A*, {store} / plain rows",
        one,
        other,
        per=(int(one().expanded.sum()), "expansion"),
        their_per=int(other().expanded.sum()),
        rounds=15,
    )
    if STORES[store] is Lossless:
        assert np.array_equal(found.expanded, plain.expanded)
