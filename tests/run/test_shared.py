"""Dijkstra's answers: searched once, shared out between workers, and themselves checked."""

import threading

import numpy as np
import pytest

from aacbench.errors import AacbenchError
from aacbench.run import shared as reference
from aacbench.run.audit import check_reference
from aacbench.run.loaded_graph import loaded_graph, sealed
from aacbench.run.records import QueryPlan
from aacbench.run.shared import references
from aacbench.search import dijkstra


@pytest.fixture
def small():
    return _again(loaded_graph("grid", QueryPlan(validation=20, test=30)))


def _again(loaded):
    """As another process has it: it remembers no answers."""
    return sealed(loaded.net, loaded.splits)


def parts_of(small):
    return {name: small.part(name) for name in ("validation", "test")}


@pytest.mark.parametrize("policy", ["paper", "modern"])
def test_they_are_what_a_search_gives_also_from_disk(small, tmp_path, policy: str) -> None:
    first = references([tmp_path], small, parts_of(small), policy)
    again = references([tmp_path], _again(small), parts_of(small), policy)
    for name, queries in parts_of(small).items():
        wanted = dijkstra(small.net, queries.sources, queries.targets, policy=policy).columns()
        for found in (first[name].columns(), again[name].columns()):
            assert all(np.array_equal(found[column], wanted[column]) for column in wanted)


def test_a_process_reads_them_from_disk_once(small, tmp_path, monkeypatch) -> None:
    references([tmp_path], _again(small), parts_of(small), "modern")
    first = references([tmp_path], small, parts_of(small), "modern")
    monkeypatch.setattr(reference.artifacts, "read", lambda *_: pytest.fail("read again"))
    assert references([tmp_path], small, parts_of(small), "modern") == first


def test_what_another_folder_has_is_not_searched_again(small, tmp_path, monkeypatch) -> None:
    own, common = tmp_path / "own", tmp_path / "common"
    wanted = references([common], small, parts_of(small), "modern")
    monkeypatch.delattr(reference, "dijkstra")
    found = references([own, common], _again(small), parts_of(small), "modern")
    assert all(np.array_equal(found[name].cost, wanted[name].cost) for name in wanted)
    assert not own.exists()


def test_workers_search_each_part_once(small, tmp_path, monkeypatch) -> None:
    searched, both = [], threading.Barrier(2, timeout=60)

    def counted(net, sources, targets, **options):
        searched.append(len(sources))
        both.wait()  # each must be at a part of its own at the same time
        return dijkstra(net, sources, targets, **options)

    monkeypatch.setattr(reference, "dijkstra", counted)
    found = []
    workers = [
        threading.Thread(target=lambda: found.append(references([tmp_path], _again(small), parts_of(small), "modern")))
        for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(searched) == [20, 30]
    assert all(np.array_equal(found[0][name].cost, found[1][name].cost) for name in parts_of(small))


def test_a_reference_that_is_not_the_distance_is_found_out(small) -> None:
    queries = small.part("test")
    cost = dijkstra(small.net, queries.sources, queries.targets).cost
    audited = queries.targets[:2]
    check_reference(small.net, queries, cost, audited, small.exact)
    wrong = np.where(np.arange(len(cost)) == 1, cost + 1, cost)
    with pytest.raises(AacbenchError, match="a defect of the search"):
        check_reference(small.net, queries, wrong, audited, small.exact)
