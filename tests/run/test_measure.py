"""Measuring reads what the build left: unchanged files are not hashed twice, and any change is noticed."""

import os

import pytest
from method_builds import method
from single_cells import cell_job

from aacbench.errors import BundleError
from aacbench.run.build import build
from aacbench.run.measure import measure
from aacbench.run.records import QueryPlan
from aacbench.util import array_store


@pytest.fixture
def job(tmp_path):
    queries = QueryPlan(validation=5, test=5)
    return cell_job(
        tmp_path, method, "alt", {"K": 4, "pool": "fps", "labels": "exact"}, graph="grid-8", queries=queries
    )


def array_file(job):
    (file,) = job.bundles.rglob("rows.npy")
    return file


def test_a_file_that_changed_after_the_build_is_noticed(job, monkeypatch):
    monkeypatch.setattr(array_store, "_CHECKED", set())  # as in another process
    built = build(job)
    file = array_file(job)
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    os.utime(file, (0, 0))  # another time than the build's, also where files have coarse ones
    with pytest.raises(BundleError, match=r"rows\.npy is not what was written"):
        measure(job, built)


def test_a_file_that_the_build_left_is_not_hashed_again(job, monkeypatch):
    built = build(job)
    monkeypatch.setattr(array_store, "_CHECKED", set())
    hashed = []
    monkeypatch.setattr(array_store, "sha256_of", lambda array: hashed.append(array.shape))
    assert measure(job, built).outcome == "ok"
    assert (64, 4) not in hashed
