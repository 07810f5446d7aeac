"""A method that changes the graph when nobody looks: its cell is an error, and nothing of it reaches a later cell.

All cells run in this process, one after the other, which is what a worker that is used again does.
"""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import small_studies as studies

from aacbench.cli.methods import method_in_worker
from aacbench.graphs.load import load
from aacbench.labels import pool
from aacbench.run import reference
from aacbench.run.cell import Job, Result, run_cell
from aacbench.run.loaded_graph import forget, world
from aacbench.run.plan import CellPlan
from aacbench.run.rebuild import rebuild
from aacbench.run.records import QueryPlan
from aacbench.search import network
from aacbench.search.stored import load_network, networks_folder, save_network
from aacbench.util import array_store as artifacts

GRAPH = "grid-9"  # no other test keeps its arrays in the cache
PLUGIN = Path(studies.__file__).parent / "plugins" / "mischief_methods.py"
QUERIES = QueryPlan(validation=8, test=7)
CHANGED = "the method changed the graph or the queries it was given, so nothing it did counts."
METHOD_OF = partial(method_in_worker, (PLUGIN,))


def run(root: Path, method: str, **params) -> Result:
    plan = CellPlan(
        graph=GRAPH,
        method=method,
        label=method,
        params=params,
        budget=16,
        convention="measured/1",
        seed=1,
        policy="modern",
        splits=("validation", "test"),
    )
    job = Job(
        cell_id="0" * 24,
        plan=plan,
        queries=QUERIES,
        artifacts=root / "artifacts",
        method_of=METHOD_OF,
        reference_policy="modern",
        plugin_file=None if method == "alt" else PLUGIN,
    )
    return run_cell(job)


def kept(root: Path) -> dict[str, dict]:
    """The digests of every array in the folder that all workers share."""
    return {
        file.parent.name: json.loads(file.read_bytes())["sha256"] for file in (root / "artifacts").rglob("meta.json")
    }


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """Nothing of the graph is in memory, nor its arrays on disk for those who rebuild.

    What is searched lies in memory that can be written to, as where nothing can be cached: the system itself would end
    a process that writes to a file's map.
    """
    monkeypatch.setattr("aacbench.run.loaded_graph.stored_network", network)
    forget()
    artifacts.drop(networks_folder(), save_network(networks_folder(), network(load(GRAPH))))
    yield
    forget()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> tuple[Result, dict]:
    root = tmp_path_factory.mktemp("undisturbed")
    forget()
    return run(root, "alt", K=2, labels="exact", pool="fps"), kept(root)


def nothing_reached(root: Path, undisturbed) -> None:
    """What alt comes to, what it reads, and the copy of the graph for fresh processes are as ever."""
    after = run(root, "alt", K=2, labels="exact", pool="fps")
    assert (after.outcome, after.files) == ("ok", undisturbed[0].files)
    assert kept(root) == undisturbed[1]
    true = network(load(GRAPH))
    copy = load_network(networks_folder(), save_network(networks_folder(), true))
    assert np.array_equal(copy.arcs.weights, true.arcs.weights)


@pytest.mark.parametrize("method", ["when-sampled", "when-audited", "when-searched", "from-a-thread"])
def test_what_a_method_does_when_it_is_asked_stays_in_its_cell(tmp_path: Path, undisturbed, method: str) -> None:
    result = run(tmp_path, method)
    assert (result.outcome, result.reason) == ("error", CHANGED)
    nothing_reached(tmp_path, undisturbed)


def test_a_thread_that_stays_does_not_spoil_the_next_cell(tmp_path: Path, undisturbed) -> None:
    assert run(tmp_path, "from-a-late-thread").outcome == "ok"
    late = METHOD_OF("from-a-late-thread").build.__globals__["LATE"]
    late.set()
    while late.is_set():
        pass
    nothing_reached(tmp_path, undisturbed)


def test_a_pool_or_reference_of_a_graph_that_changed_meanwhile_is_not_kept(
    tmp_path: Path, undisturbed, monkeypatch
) -> None:
    change = METHOD_OF("quiet").build.__globals__["zero"]

    def disturbed(compute, net, *arguments, **options):
        change(net.arcs.weights)
        return compute(net, *arguments, **options)

    for module, name in ((reference, "dijkstra"), (pool, "farthest_points")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, partial(disturbed, getattr(module, name)))
            result = run(tmp_path / name, "quiet")
        assert (result.outcome, result.reason) == ("error", CHANGED)
        nothing_reached(tmp_path / name, undisturbed)


def test_a_rebuilt_method_does_not_spoil_the_pools_of_the_next(tmp_path: Path, undisturbed) -> None:
    here = world(GRAPH, QUERIES)
    key = {"graph": GRAPH, "graph_digest": here.net.graph.digest, "query_digests": here.digests(), "seed": 1}
    rebuilt = rebuild(tmp_path, {**key, "params": {}}, QUERIES, METHOD_OF("when-sampled"))
    rebuilt.deployed.many([0], 1)
    with pytest.raises(Exception, match="changed the graph"):
        rebuild(tmp_path, {**key, "params": {"K": 2, "labels": "exact", "pool": "fps"}}, QUERIES, METHOD_OF("alt"))
    forget()
    nothing_reached(tmp_path, undisturbed)
