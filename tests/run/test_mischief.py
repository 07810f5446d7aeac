"""A method that changes the graph when nobody looks: its cell is an error, and nothing of it reaches a later cell.

All cells run in this process, one after the other, which is what a worker that is used again does.
"""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import small_studies as studies
from cli import group
from single_cells import cell_job

from aacbench.errors import AacbenchError
from aacbench.graphs.load import load
from aacbench.labels import pool
from aacbench.plugins.in_workers import MethodOf, sources_of
from aacbench.plugins.manager import load_plugins
from aacbench.run import shared as reference
from aacbench.run.build import Result
from aacbench.run.loaded_graph import forget
from aacbench.run.measure import run_cell
from aacbench.run.records import QueryPlan
from aacbench.search import network
from aacbench.search.networks import networks_folder, save_network, stored_network
from aacbench.util import array_store as artifacts

GRAPH = "grid-9"  # no other test keeps its arrays in the cache
PLUGIN = Path(studies.__file__).parent / "plugins" / "mischief_methods.py"
QUERIES = QueryPlan(validation=8, test=7)
CHANGED = "changed the graph or the queries"
METHOD_OF = MethodOf(sources_of(load_plugins([PLUGIN])))


def run(root: Path, method: str, **params) -> Result:
    return run_cell(cell_job(root, METHOD_OF, method, params, graph=GRAPH, queries=QUERIES, budget=16))


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
    assert np.array_equal(stored_network(load(GRAPH)).arcs.weights, true.arcs.weights)


@pytest.mark.parametrize("method", ["when-sampled", "when-audited", "when-searched", "from-a-thread"])
def test_what_a_method_does_when_it_is_asked_stays_in_its_cell(tmp_path: Path, undisturbed, method: str) -> None:
    with pytest.raises(AacbenchError, match=CHANGED):
        run(tmp_path, method)
    nothing_reached(tmp_path, undisturbed)


def test_a_thread_that_stays_makes_the_next_cell_an_error_and_no_row_wrong(tmp_path: Path, undisturbed) -> None:
    assert run(tmp_path, "from-a-late-thread").outcome == "ok"
    late = METHOD_OF("from-a-late-thread").build.__globals__["LATE"]
    late.set()
    group.wait_for(lambda: not late.is_set())
    with pytest.raises(AacbenchError, match=CHANGED):  # a worker's next cell is of the same plugin
        run(tmp_path, "alt", K=2, labels="exact", pool="fps")
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
            with pytest.raises(AacbenchError, match=CHANGED):
                run(tmp_path / name, "quiet")
        nothing_reached(tmp_path / name, undisturbed)
