"""Cached graphs are read back as they were, or not at all."""

import errno
import importlib
import json
import mmap
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import example_count

from aacbench.graphs import from_arcs
from aacbench.util import array_store
from aacbench.util.cleanup import scratch_name
from aacbench.util.paths import cache_folder

loading = importlib.import_module("aacbench.graphs.load")
KEY = loading.cache_key({"test": 1})


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AACBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def sample(weights=(1.5, 2.0, 7.25), coords=True, directed=True):
    places = [[0, 0], [1, 0], [2, 5]] if coords else None
    return from_arcs(3, [0, 1, 2], [1, 2, 0], weights, coords=places, name="made", declared_directed=directed)


def entry(cache):
    return cache / "graphs" / KEY[:2] / KEY


def left_in(cache):
    return sorted(path.name for path in (cache / "graphs").rglob("*") if path.name != KEY[:2])


def owner_of(array):
    return owner_of(array.base) if isinstance(array, np.ndarray) else array


@pytest.mark.parametrize(
    "graph",
    [sample(), sample((1, 2, 3)), sample(coords=False), sample(directed=False), from_arcs(2, [], [], [])],
    ids=["float", "integral", "bare", "undirected", "arcless"],
)
def test_a_kept_graph_is_read_back_as_it_was(graph):
    for found in (loading.write_cached(KEY, graph, "asked"), loading.read_cached(KEY, "asked")):
        assert found is not graph
        assert found.digest == graph.digest
        assert found.name == "asked"
        assert found.declared_directed == graph.declared_directed
        assert (found.coords is None) == (graph.coords is None)


def test_arrays_are_mapped_from_disk_and_read_only():
    found = loading.write_cached(KEY, sample(), "asked")
    for array in (found.indptr, found.indices, found.weights, found.coords):
        assert type(array) is np.ndarray
        assert not array.flags.writeable
        assert isinstance(owner_of(array), mmap.mmap)


def test_an_unknown_key_is_not_found():
    assert loading.read_cached(KEY, "asked") is None


FILES = ["indptr.npy", "indices.npy", "weights.npy", "coords.npy", "meta.json"]
DAMAGE = {
    "removed": lambda path: path.unlink(),
    "emptied": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-3]),
    "flipped": lambda path: path.write_bytes(path.read_bytes()[:-3] + b"\xff" + path.read_bytes()[-2:]),
    "other": lambda path: path.write_bytes(b"[1, 2]"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("file", FILES)
def test_a_damaged_entry_is_dropped_and_made_anew(cache, file, damage):
    graph = sample()
    loading.write_cached(KEY, graph, "asked")
    damage(entry(cache) / file)
    assert loading.read_cached(KEY, "asked") is None
    assert left_in(cache) == []
    assert loading.write_cached(KEY, graph, "asked").digest == graph.digest
    assert loading.read_cached(KEY, "asked").digest == graph.digest


@pytest.mark.parametrize(
    "error",
    [OSError(errno.EMFILE, "Too many open files"), OSError(errno.EIO, "I/O error"), PermissionError(), MemoryError()],
    ids=["files", "disk", "permission", "memory"],
)
def test_an_entry_that_cannot_be_read_just_now_stays(cache, monkeypatch, error):
    def fail(*args, **kwargs):
        raise error

    loading.write_cached(KEY, sample(), "asked")
    with monkeypatch.context() as patched:
        patched.setattr(np, "load", fail)
        assert loading.read_cached(KEY, "asked") is None
    assert loading.read_cached(KEY, "asked").digest == sample().digest


@example_count(60)
@given(st.sampled_from(FILES), st.floats(0, 1, exclude_max=True), st.integers(1, 255))
def test_no_flipped_byte_ever_gives_another_graph(file, where, flip):
    graph = loading.write_cached(KEY, sample(), "asked")
    path = array_store._folder(cache_folder() / "graphs", KEY) / file
    content = bytearray(path.read_bytes())
    content[int(where * len(content))] ^= flip
    path.unlink()  # a new file: the graph above still has the old one mapped
    path.write_bytes(content)
    found = loading.read_cached(KEY, "asked")
    assert found is None or (found.digest == graph.digest and np.array_equal(found.weights, graph.weights))


@pytest.mark.parametrize(
    "change",
    [{"format": "other/1"}, {"sha256": {}}, {"facts": {}}, {"facts": {"digest": "0", "declared_directed": True}}],
)
def test_a_tampered_description_is_noticed(cache, change):
    loading.write_cached(KEY, sample(), "asked")
    meta = entry(cache) / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | change))
    assert loading.read_cached(KEY, "asked") is None


def test_a_full_disk_costs_only_the_cache(cache, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    graph = sample()
    found = loading.write_cached(KEY, graph, "asked")
    assert (found.digest, found.name) == (graph.digest, "asked")
    assert left_in(cache) == []


def test_a_cache_that_cannot_hold_folders_costs_only_the_cache(cache):
    cache.mkdir()
    (cache / "graphs").write_text("in the way")
    assert loading.read_cached(KEY, "asked") is None
    assert loading.write_cached(KEY, sample(), "asked").digest == sample().digest


def test_a_cache_that_cannot_be_written_is_read(cache, tmp_path, monkeypatch):
    kept = loading.write_cached(KEY, sample(), "asked")
    monkeypatch.setattr(loading, "cache_folders", lambda: (cache, tmp_path / "instead"))
    monkeypatch.setattr(loading, "cache_folder", lambda: tmp_path / "instead")
    assert loading.read_cached(KEY, "asked").digest == kept.digest


def test_losing_the_race_to_another_process_is_success(cache, monkeypatch):
    fill = array_store._fill
    graph = sample()

    def overtaken(folder, *content):
        fill(folder, *content)
        entry(cache).mkdir()
        fill(entry(cache), *content)

    monkeypatch.setattr(array_store, "_fill", overtaken)
    found = loading.write_cached(KEY, graph, "asked")
    assert found.digest == graph.digest
    assert isinstance(owner_of(found.weights), mmap.mmap)
    assert left_in(cache) == sorted([KEY, *FILES])


def test_folders_of_killed_processes_go(cache):
    other_shard = cache / "graphs" / ("00" if KEY[:2] != "00" else "01")
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    ours = other_shard / scratch_name(".unfinished")
    dead = other_shard / ours.name.replace(f"~{os.getpid()}~", f"~{process.pid}~")
    for folder in (ours, dead):
        folder.mkdir(parents=True)
    loading.write_cached(KEY, sample(), "asked")
    assert not dead.exists()
    assert ours.exists()


RACER = """
import importlib, sys, time, pathlib
from aacbench.util import array_store
from aacbench.graphs import from_arcs
from aacbench.util.paths import cache_folder
loading = importlib.import_module("aacbench.graphs.load")
graph = from_arcs(500, list(range(499)), list(range(1, 500)), [0.5] * 499)
pathlib.Path(sys.argv[1]).touch()
while not pathlib.Path(sys.argv[2]).exists():
    time.sleep(0.001)
for turn in range(40):
    key = loading.cache_key({"turn": turn})
    found = loading.read_cached(key, "g") or loading.write_cached(key, graph, "g")
    assert found.digest == graph.digest
    if turn % 4 == 0:
        array_store.drop(cache_folder() / "graphs", key)
"""


def test_processes_do_not_disturb_each_other(cache, tmp_path):
    ready = [tmp_path / f"ready-{number}" for number in range(3)]
    commands = [[sys.executable, "-c", RACER, str(path), str(tmp_path / "go")] for path in ready]
    racers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]
    while not all(path.exists() for path in ready) and all(racer.poll() is None for racer in racers):
        time.sleep(0.01)
    (tmp_path / "go").touch()
    errors = [racer.communicate()[1] for racer in racers]
    assert [racer.returncode for racer in racers] == [0, 0, 0], errors
    assert not [name for name in left_in(cache) if name.startswith(".")]


def test_a_key_depends_on_every_part_and_on_no_order():
    assert loading.cache_key({"a": 1, "b": 2}) == loading.cache_key({"b": 2, "a": 1})
    assert len({loading.cache_key(parts) for parts in ({}, {"a": 1}, {"a": 2}, {"b": 1})}) == 4


def test_the_code_that_makes_a_graph_counts(monkeypatch):
    monkeypatch.setattr(loading, "sources_digest", lambda: "changed")
    assert loading.cache_key({"test": 1}) != KEY


def test_the_code_is_that_of_every_file_about_graphs(tmp_path, monkeypatch):
    (tmp_path / "readers").mkdir()
    source = tmp_path / "readers" / "format.py"
    monkeypatch.setattr(loading, "__file__", str(tmp_path / "load.py"))
    digests = []
    for text in ("one", "two"):
        source.write_text(text)
        digests.append(loading.sources_digest.__wrapped__())
    assert digests[0] != digests[1]
