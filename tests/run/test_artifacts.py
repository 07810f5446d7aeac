"""Artifacts of methods: made once for a graph and a source, charged each time, and never taken from another."""

import json
import time

import numpy as np
import pytest

from aacbench.errors import AacbenchError
from aacbench.graphs.load import load
from aacbench.run.artifacts import Artifacts
from aacbench.run.shared import Pools
from aacbench.search import network
from aacbench.util import array_store

ROWS = np.arange(6, dtype=np.int32).reshape(2, 3)


class Maker:
    """Counts how often it is called."""

    def __init__(self, seconds=0.0):
        self.seconds, self.calls = seconds, 0

    def __call__(self):
        self.calls += 1
        time.sleep(self.seconds)
        return {"rows": ROWS, "levels": 3, "ratio": 0.5}


@pytest.fixture
def artifacts(tmp_path):
    """The service of one more build in the same study."""
    net = network(load("p7"))

    def another(folder=tmp_path, source="d1", graph="g", **more):
        return Artifacts(Pools(net, folder), graph, folder, {"mine": source, "yours": source}, **more)

    return another


def test_it_is_made_once_and_comes_back_the_same_and_read_only(artifacts):
    make = Maker()
    for _ in range(3):
        found = artifacts().get("mine", ["a", 1, {"k": 2.5}], make)
        assert {**found, "rows": found["rows"].tolist()} == {"rows": ROWS.tolist(), "levels": 3, "ratio": 0.5}
        assert found["rows"].dtype == np.int32
        assert not found["rows"].flags.writeable
    assert make.calls == 1
    assert ROWS.flags.writeable  # the author's own array is as it was


@pytest.mark.parametrize(
    ("method", "key", "changes"),
    [("yours", "a", {}), ("mine", "b", {}), ("mine", "a", {"source": "d2"}), ("mine", "a", {"graph": "h"})],
)
def test_another_method_key_source_or_graph_makes_its_own(artifacts, method, key, changes):
    make = Maker()
    artifacts().get("mine", "a", make)
    artifacts(**changes).get(method, key, make)
    assert make.calls == 2


def test_its_time_is_charged_to_each_build_that_finds_it(artifacts):
    first, second = artifacts(), artifacts()
    make = Maker(0.05)
    first.get("mine", "a", make)
    assert first.seconds == 0  # it took its time in this very build
    second.get("mine", "a", make)
    second.get("mine", "a", make)
    assert 0.05 <= second.seconds < 0.05 + 5
    assert second.seconds == json.loads(next(first._folder.rglob("meta.json")).read_text())["facts"]["seconds"]


def test_a_pool_inside_is_charged_as_a_pool(artifacts):
    def with_a_pool(service):
        return lambda: {"rows": service._pools.farthest(2).forward.copy()}

    first, second = artifacts(), artifacts()
    first.get("mine", "a", with_a_pool(first))
    second.get("mine", "a", with_a_pool(second))
    assert second.pool_seconds == pytest.approx(first._pools.seconds)
    assert second._pools.seconds == 0


def test_a_damaged_one_is_made_again(artifacts, tmp_path, monkeypatch):
    make = Maker()
    artifacts().get("mine", "a", make)
    (file,) = tmp_path.rglob("rows.npy")
    file.write_bytes(file.read_bytes()[:-1] + b"\xff")
    monkeypatch.setattr(array_store, "_CHECKED", set())  # as in another process
    for calls in (2, 2):
        assert artifacts().get("mine", "a", make)["rows"].tolist() == ROWS.tolist()
        assert make.calls == calls


def test_one_that_was_made_from_something_else_is_made_again(artifacts, tmp_path):
    make = Maker()
    artifacts().get("mine", "a", make)
    (file,) = tmp_path.rglob("meta.json")
    meta = json.loads(file.read_text())
    meta["facts"]["made_from"]["source"] = "d0"
    file.write_text(json.dumps(meta))
    artifacts().get("mine", "a", make)
    artifacts().get("mine", "a", make)
    assert make.calls == 2


def test_without_a_folder_each_build_makes_its_own(artifacts):
    make = Maker()
    for _ in range(2):
        service = artifacts(folder=None)
        for _ in range(2):
            assert not service.get("mine", "a", make)["rows"].flags.writeable
    assert make.calls == 2


def test_nothing_is_stored_of_a_graph_that_was_changed(artifacts, tmp_path):
    def check():
        raise AacbenchError("changed")

    with pytest.raises(AacbenchError, match="changed"):
        artifacts(check=check).get("mine", "a", Maker())
    assert not list(tmp_path.rglob("meta.json"))


@pytest.mark.parametrize(
    ("key", "made", "reason"),
    [
        ("a", [1], "mapping from names to arrays and numbers, not a list"),
        ("a", {"x": "text"}, "must be a NumPy array"),
        ("a", {"x": float("nan")}, "must be a NumPy array"),
        ("a", {"x y": 1}, "plain identifier"),
        ("a", {"x": np.array(["text"])}, "plain numbers"),
        ({1, 2}, {"x": 1}, "The key of an artifact is a set"),
    ],
)
def test_junk_is_refused_with_and_without_a_study(artifacts, tmp_path, key, made, reason):
    for folder in (tmp_path, None):
        with pytest.raises(AacbenchError, match=reason):
            artifacts(folder=folder).get("mine", key, lambda: made)
