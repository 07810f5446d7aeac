"""Cold reload: honest heuristics agree in a fresh process, and what hides data outside its arrays does not."""

import importlib.util
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from aacbench.bundle import helper
from aacbench.bundle.reload import cold_reload
from aacbench.contract.method import BatchHeuristic, LabelHeuristic, ScalarHeuristic
from aacbench.errors import ReloadError
from aacbench.graphs import from_arcs
from aacbench.search import network
from aacbench.search.stored import save_network

PLUGINS = Path(__file__).parent / "plugins"


@pytest.fixture(scope="module")
def ring():
    """A cycle with chords, symmetric, larger than what is sampled whole."""
    rng = np.random.default_rng(7)
    tails = np.concatenate([np.arange(400), rng.integers(0, 400, 80)])
    heads = np.concatenate([(np.arange(400) + 1) % 400, rng.integers(0, 400, 80)])
    weights = rng.integers(1, 50, len(tails))
    return network(from_arcs(400, np.append(tails, heads), np.append(heads, tails), np.append(weights, weights)))


def plugin(stem):
    """A plugin file as a loader imports it: by path, under a name of its own."""
    name = f"reload_plugin_{stem}"
    spec = importlib.util.spec_from_file_location(name, PLUGINS / f"{stem}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def reload(net, stem, *arguments, **options):
    heuristic = plugin(stem).build(net, *arguments)
    return cold_reload(heuristic, net, plugin_file=PLUGINS / f"{stem}.py", **options)


@pytest.mark.parametrize("stem", ["honest_differential", "honest_kernel", "honest_batch"])
def test_honest_heuristics_agree_and_repeat_their_digest(ring, stem):
    first, again, other_seed = reload(ring, stem), reload(ring, stem), reload(ring, stem, seed=1)
    assert first.status == again.status == "agreed"
    assert first.digest == again.digest != other_seed.digest
    assert first.pairs == 16 * 256


def test_one_helper_serves_every_request(ring):
    reload(ring, "honest_batch")
    pid = helper._RUNNING[0].process.pid
    reload(ring, "honest_kernel")
    assert helper._RUNNING[0].process.pid == pid


def test_a_closure_is_refused(ring):
    with pytest.raises(ReloadError, match="move the function to the top of its module"):
        reload(ring, "hidden_closure")


@pytest.mark.parametrize("stem", ["hidden_global", "hidden_compiled_global"])
def test_data_in_a_global_is_caught_with_the_first_pair(ring, stem):
    for _ in range(2):  # the second time, machine code made after a build is on disk
        with pytest.raises(ReloadError, match=r"h\(\d+, \d+\) is [1-9]\d* as built but 0 when rebuilt"):
            reload(ring, stem)


def test_functions_that_cannot_be_found_by_name_are_refused(ring):
    def inner(arrays, us, t):
        return np.zeros(len(us))

    class Holder:
        def many(self, arrays, us, t):
            return np.zeros(len(us))

    for function in (inner, lambda arrays, us, t: np.zeros(len(us)), Holder().many):
        with pytest.raises(ReloadError, match="top of its module"):
            cold_reload(BatchHeuristic({}, function), ring)


def test_a_module_that_a_fresh_process_cannot_import_is_told(ring):
    with pytest.raises(ReloadError, match="No module named 'reload_plugin_honest_batch'"):
        cold_reload(plugin("honest_batch").build(ring), ring)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("leaves", f"status -{signal.SIGABRT.value}"),
        ("exits", "SystemExit: 3"),
        ("hangs", "not done within 0.5 seconds"),
        ("kills_its_parent", "ended without an answer"),
    ],
)
def test_a_rebuild_that_misbehaves_is_an_error_and_the_next_one_works(ring, function, told):
    with pytest.raises(ReloadError, match=told):
        reload(ring, "misbehaving", function, timeout=0.5 if function == "hangs" else 60)
    assert reload(ring, "honest_batch").status == "agreed"


def test_writing_to_deployed_arrays_is_refused_where_they_were_built_too(ring):
    with pytest.raises(ValueError, match="read-only"):
        reload(ring, "misbehaving", "writes")


def test_requests_start_from_a_clean_image(ring):
    for _ in range(2):
        with pytest.raises(ReloadError, match=r"is 1.0 as built but 0.0 when rebuilt"):
            reload(ring, "misbehaving", "remembers")


def test_a_helper_that_was_killed_is_started_anew(ring):
    reload(ring, "honest_batch")
    process = helper._RUNNING[0].process
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert reload(ring, "honest_batch").status == "agreed"


def test_an_interrupt_is_for_the_one_who_asks(ring):
    reload(ring, "honest_batch")
    process = helper._RUNNING[0].process
    os.kill(process.pid, signal.SIGINT)
    assert reload(ring, "honest_batch").status == "agreed"
    assert helper._RUNNING[0].process is process


def test_a_damaged_graph_on_disk_is_told_and_made_anew(ring, tmp_path, monkeypatch):
    monkeypatch.setattr("aacbench.search.stored.cache_folder", lambda: tmp_path)
    net = network(from_arcs(2, [0], [1], [9]))
    heuristic = plugin("honest_batch").build(net)
    save_network(tmp_path / "networks", net)
    next(tmp_path.rglob("place.npy")).write_bytes(b"damaged")
    with pytest.raises(ReloadError, match="gone or damaged; run again"):
        cold_reload(heuristic, net, plugin_file=PLUGINS / "honest_batch.py")
    assert cold_reload(heuristic, net, plugin_file=PLUGINS / "honest_batch.py").pairs == 4


def test_a_scalar_heuristic_is_declared_only(ring):
    record = cold_reload(ScalarHeuristic(lambda u, t: 0), ring)
    assert (record.status, record.digest, record.pairs) == ("declared only", None, 0)


def test_arrays_of_every_kind_come_back_as_they_were(ring):
    shared = np.arange(400, dtype=np.float32)
    arrays = {
        "one": shared,
        "same": shared,
        "turned": np.asfortranarray(np.arange(800.0).reshape(400, 2)),
        "stepped": np.arange(800, dtype=np.uint16)[::2],
        "empty": np.empty((400, 0), dtype=np.int8),
        "point": np.array(5, dtype=np.int16),
    }
    module = plugin("every_kind")
    assert cold_reload(BatchHeuristic(arrays, module.many), ring, plugin_file=PLUGINS / "every_kind.py").pairs > 0


def test_float_graphs_and_single_vertices_reload():
    for graph in (from_arcs(3, [0, 1], [1, 2], [0.5, 0.25]), from_arcs(1, [], [], [])):
        net = network(graph)
        rows = np.zeros((graph.vertices, 1), dtype=np.float64)
        assert cold_reload(LabelHeuristic({"rows": rows}, "differential"), net).pairs == graph.vertices**2
