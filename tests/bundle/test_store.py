"""Bundles: a heuristic comes back from its files alone, and damage or hidden data does not go unnoticed."""

import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

import aacbench
from aacbench.bundle import store
from aacbench.bundle.deploy import deploy
from aacbench.bundle.evidence import Sample, check_evidence, check_steady, take_evidence
from aacbench.contract.method import BatchHeuristic, LabelHeuristic, MaxHeuristic, ScalarHeuristic
from aacbench.errors import BundleError, DisagreementError, UsageError
from aacbench.graphs import from_arcs
from aacbench.graphs.load import load
from aacbench.processes.pool import Limits, isolated
from aacbench.search import dijkstra, network
from aacbench.util import array_store
from aacbench.util.source_file import read_source

PLUGINS = Path(__file__).parent / "plugins"
HONEST = ("honest_differential", "honest_kernel", "honest_batch")


def ring_graph():
    """A cycle with chords, symmetric, larger than what is sampled whole."""
    rng = np.random.default_rng(7)
    tails = np.concatenate([np.arange(400), rng.integers(0, 400, 80)])
    heads = np.concatenate([(np.arange(400) + 1) % 400, rng.integers(0, 400, 80)])
    weights = rng.integers(1, 50, len(tails))
    return from_arcs(400, np.append(tails, heads), np.append(heads, tails), np.append(weights, weights))


RING = network(ring_graph())


def built(stem, *arguments):
    return read_source(PLUGINS / f"{stem}.py").load().build(RING, *arguments)


def saved(folder, heuristic):
    return store.save(folder, heuristic, RING.graph, {"graph": "ring", "policy": "modern"})


def table(heuristic):
    deployed = deploy(heuristic, RING)
    return np.stack([deployed.many(np.arange(400), t) for t in (0, 7, 399)])


def measured_elsewhere(job):
    """In a process that never built it: compare the bounds of the bundle with those of the build."""
    folder, sample, evidence = job
    heuristic = store.load(store.open_bundle(folder))
    check_steady(deploy(heuristic, RING), sample)
    check_evidence(heuristic, RING, sample, evidence)
    return table(heuristic)


def elsewhere(folder, heuristic):
    sample = Sample(400, targets=(3,))
    evidence = tuple(take_evidence(heuristic, RING, sample))
    job = saved(folder, heuristic).folder, sample, evidence
    return isolated(measured_elsewhere, job, Limits(600), "It cannot be loaded")


@pytest.mark.parametrize("stem", HONEST)
def test_an_honest_heuristic_is_the_same_in_another_process(tmp_path, stem):
    assert np.array_equal(elsewhere(tmp_path, built(stem)), table(built(stem)))


def test_a_maximum_of_plugins_comes_back_with_all_its_sources(tmp_path):
    heuristic = MaxHeuristic((built("honest_kernel"), built("honest_differential"), built("honest_kernel")))
    bundle = saved(tmp_path, heuristic)
    assert [entry["module"].split("_")[2:4] for entry in bundle.content["sources"]] == [["honest", "kernel"]]
    assert np.array_equal(table(store.load(bundle)), table(heuristic))


def test_data_outside_the_arrays_is_not_there_and_the_difference_is_named(tmp_path):
    with pytest.raises(
        Exception, match=r"h\(\d+, \d+\) is [1-9]\d* in the process that built it, but 0 from the bundle"
    ):
        elsewhere(tmp_path, built("hidden_global"))


@pytest.mark.parametrize("stem", ["hidden_compiled_global", "hidden_below"])
def test_an_array_of_its_module_that_a_kernel_reads_is_refused(stem):
    with pytest.raises(UsageError, match=r"reads LABELS, an array of 8000 bytes .* which no budget counts; pass it"):
        deploy(built(stem), RING)


def test_a_kernel_may_read_a_few_constants_of_its_module():
    assert deploy(built("honest_constants"), RING).many([0, 1], 3).tolist() == [0, 1]


def test_a_function_that_no_other_process_finds_is_refused(tmp_path):
    def inner(arrays, us, t):
        return np.zeros(len(us))

    class Holder:
        def many(self, arrays, us, t):
            return np.zeros(len(us))

    closure = built("hidden_closure").many
    for function in (inner, lambda arrays, us, t: np.zeros(len(us)), Holder().many, closure):
        with pytest.raises(BundleError, match="not at the top of a module"):
            saved(tmp_path, BatchHeuristic({}, function))


def flip(file):
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize("damage", [flip, Path.unlink, lambda file: file.write_bytes(b"")])
@pytest.mark.parametrize("pattern", ["rows.npy", "bundle.json", "*.py"])
def test_a_damaged_bundle_is_noticed_and_written_again(tmp_path, pattern, damage):
    heuristic = built("honest_kernel")
    bundle = saved(tmp_path, heuristic)
    (file,) = bundle.folder.glob(pattern)
    damage(file)
    with pytest.raises(BundleError):
        store.load(store.open_bundle(bundle.folder))
    assert store.sound_bundle(bundle.folder) is None
    assert np.array_equal(table(store.load(saved(tmp_path, heuristic))), table(heuristic))


@pytest.fixture(scope="module")
def hierarchy(tmp_path_factory):
    """A small bundle of `ch`, with the bytes and the array of each file."""
    graph = RING.graph
    bundle = store.save(tmp_path_factory.mktemp("ch"), aacbench.build("ch", graph, budget=256).heuristic, graph)
    files = {file: file.read_bytes() for file in sorted(bundle.folder.glob("*.npy"))}
    return bundle, files, store.load_arrays(bundle)


CHANGES = st.tuples(st.integers(0, 2**30), st.integers(0, 2**30), st.integers(1, 255), st.binary(max_size=200))


def told(arrays):
    return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()}


def after_damage(hierarchy, file, data):
    """What the bundle holds with these bytes in the file, or None if it is refused in a sentence."""
    bundle, files, _ = hierarchy
    array_store._CHECKED.clear()  # it knows files by their time, which may be the same here
    file.write_bytes(data)
    try:
        return told(store.load_arrays(bundle))
    except BundleError:
        return None
    finally:
        file.write_bytes(files[file])


@given(CHANGES)
@settings(max_examples=400, deadline=None)
def test_a_changed_array_file_is_refused_or_holds_the_same_array(hierarchy, change):
    _, files, arrays = hierarchy
    number, place, mask, more = change
    file, data = list(files.items())[number % len(files)]
    at = place % len(data)
    flipped = data[:at] + bytes([data[at] ^ mask]) + data[at + 1 :]
    assert after_damage(hierarchy, file, flipped) in (None, told(arrays))
    assert after_damage(hierarchy, file, data + more if more else data[:at]) is None


def test_every_changed_bit_of_a_header_is_refused_or_harmless(hierarchy):
    _, files, arrays = hierarchy
    file, data = next(iter(files.items()))
    for at, bit in itertools.product(range(128), range(8)):
        flipped = data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
        assert after_damage(hierarchy, file, flipped) in (None, told(arrays))


def test_a_bundle_for_which_memory_is_short_is_not_called_damaged(hierarchy, monkeypatch):
    def short(*_):
        raise MemoryError

    monkeypatch.setattr(store, "_load_array", short)
    with pytest.raises(MemoryError):
        store.load_arrays(hierarchy[0])


def test_a_bundle_that_another_process_wrote_meanwhile_is_left_alone(tmp_path, monkeypatch):
    heuristic = built("honest_kernel")
    bundle = saved(tmp_path, heuristic)
    there = (bundle.folder / "rows.npy").stat().st_ino
    looked, sound_bundle = [], store.sound_bundle

    def absent_at_first(folder):
        looked.append(folder)
        return sound_bundle(folder) if len(looked) > 1 else None

    monkeypatch.setattr(store, "sound_bundle", absent_at_first)
    saved(tmp_path, heuristic)
    assert len(looked) == 3
    assert (bundle.folder / "rows.npy").stat().st_ino == there
    assert [path.name for path in bundle.folder.parent.iterdir()] == [bundle.folder.name]


def test_a_scalar_heuristic_has_nothing_to_save(tmp_path):
    with pytest.raises(BundleError, match="no arrays"):
        saved(tmp_path, ScalarHeuristic(lambda u, t: 0))


def test_a_bound_that_changes_from_call_to_call_is_refused():
    calls = [0]

    def h(u, t):
        calls[0] += 1
        return calls[0] % 2

    with pytest.raises(DisagreementError, match=r"h\(\d+, \d+\) returned \d, then \d"):
        check_steady(deploy(ScalarHeuristic(h), RING), Sample(400))


@njit
def half(labels, u, t):
    return abs(labels.table[u] - labels.table[t]) / 2


def test_a_bound_of_fractions_on_whole_numbers_is_compared_as_the_search_rounds_it():
    heuristic = LabelHeuristic({"table": np.arange(400)}, half)
    taken = take_evidence(heuristic, RING, Sample(400))
    assert taken
    check_evidence(heuristic, RING, Sample(400), taken)


def test_forms_of_one_bound_that_differ_are_refused():
    rows = np.zeros((400, 1), dtype=np.int32)
    heuristic = LabelHeuristic({"rows": rows}, "differential", h=lambda u, t: 0 if u == t else 1)
    evidence = take_evidence(heuristic, RING, Sample(400))
    with pytest.raises(DisagreementError, match=r"is 0 in the compiled form of the heuristic, but 1 in its function h"):
        check_evidence(heuristic, RING, Sample(400), evidence)


def test_arrays_of_every_kind_come_back_as_they_were(tmp_path):
    shared = np.arange(400, dtype=np.float32)
    arrays = {
        "one": shared,
        "same": shared,
        "turned": np.asfortranarray(np.arange(800.0).reshape(400, 2)),
        "stepped": np.arange(800, dtype=np.uint16)[::2],
        "empty": np.empty((400, 0), dtype=np.int8),
        "point": np.array(5, dtype=np.int16),
    }
    heuristic = BatchHeuristic(arrays, read_source(PLUGINS / "every_kind.py").load().many)
    assert np.array_equal(elsewhere(tmp_path, heuristic), table(heuristic))
    assert not (saved(tmp_path, heuristic).folder / "same.npy").exists()  # one memory, one file


def test_the_digest_names_the_content_and_nothing_else(tmp_path):
    first = saved(tmp_path / "a", built("honest_differential"))
    again = store.save(tmp_path / "b", built("honest_differential"), RING.graph, {"seconds": 3})
    other = saved(tmp_path / "a", built("honest_kernel"))
    assert first.digest == again.digest == first.folder.name != other.digest
    rows = np.array(built("honest_differential").arrays["rows"])
    rows[5, 0] += 1
    assert saved(tmp_path / "a", LabelHeuristic({"rows": rows}, "differential", {"both": 2})).digest != first.digest


@pytest.mark.parametrize("name", ["rows.npy", "bundle.json", "honest"])
def test_every_changed_byte_of_a_bundle_is_noticed(tmp_path, name):
    bundle = saved(tmp_path, built("honest_kernel"))
    file = next(path for path in bundle.folder.iterdir() if name in path.name)
    data = bytearray(file.read_bytes())
    at = data.index(b"slack") if name != "rows.npy" else len(data) - 3
    data[at] ^= 1
    file.write_bytes(data)
    with pytest.raises(BundleError, match="is damaged"):
        store.load(store.open_bundle(bundle.folder))


@pytest.mark.parametrize("name", ["rows.npy", "bundle.json"])
def test_a_missing_file_is_named(tmp_path, name):
    bundle = saved(tmp_path, built("honest_differential"))
    (bundle.folder / name).unlink()
    with pytest.raises(BundleError, match=name):
        store.load(store.open_bundle(bundle.folder))


def test_an_exported_bundle_answers_queries_in_another_process(tmp_path):
    bundle = saved(tmp_path / "bundles", built("honest_kernel"))
    copy = store.copy_bundle(bundle, tmp_path / "exported", {"cell": "a1"})
    shutil.rmtree(tmp_path / "bundles")
    np.savez(tmp_path / "ring.npz", **{name: getattr(RING.graph, name) for name in ("indptr", "indices", "weights")})
    code = (
        "import sys, json, numpy as np, aacbench\n"
        "from aacbench.graphs import Graph\n"
        "graph = Graph(**np.load(sys.argv[2]))\n"
        "bundle = aacbench.load_bundle(sys.argv[1], graph)\n"
        "found, route = bundle.search([3, 10], [200, 10]), bundle.route(3, 200)\n"
        "print(json.dumps([found.cost.tolist(), route.cost, route.vertices, bundle.bytes_per_vertex]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, copy.folder, tmp_path / "ring.npz"], capture_output=True, text=True, check=True
    )
    costs, cost, vertices, held = json.loads(done.stdout)
    assert costs == dijkstra(RING, [3, 10], [200, 10]).cost.tolist()
    assert cost == costs[0]
    assert (vertices[0], vertices[-1]) == (3, 200)
    assert held == 4 + 8 / 400


@pytest.mark.parametrize("other", [from_arcs(2, [0], [1], [9]), "p7"], ids=("itself", "by name"))
def test_a_bundle_of_another_graph_is_refused(tmp_path, other):
    bundle = saved(tmp_path, built("honest_differential"))
    with pytest.raises(BundleError, match="another graph"):
        aacbench.load_bundle(bundle.folder, other)


def test_the_graph_of_a_bundle_may_be_named(tmp_path):
    rows = np.zeros((7, 1), dtype=np.int32)
    bundle = store.save(tmp_path, LabelHeuristic({"rows": rows}, "differential"), load("p7"))
    assert aacbench.load_bundle(bundle.folder, "p7")(0, 6) == 0


def test_no_way_is_said_so(tmp_path):
    graph = from_arcs(2, [0], [1], [9])
    rows = np.zeros((2, 1), dtype=np.int32)
    bundle = store.save(tmp_path, LabelHeuristic({"rows": rows}, "differential"), graph)
    loaded = aacbench.load_bundle(bundle.folder, graph)
    assert loaded.route(1, 0) is None
    assert loaded.route(0, 1).vertices == [0, 1]
    assert loaded(0, 1) == 0
