"""What comes before a search: reading a graph, finding it in the cache, and starting the command."""

import gzip
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from benchmarks.road import new_york_files

from aacbench.graphs.load import load
from aacbench.graphs.readers.dimacs import read_dimacs


@pytest.fixture(scope="module")
def files(road, tmp_path_factory):
    """The road graph as DIMACS files, by the reader's parameters."""
    return new_york_files() or _written(road.net.graph, tmp_path_factory.mktemp("dimacs"))


def _written(graph, folder):
    arcs = np.stack([graph.sources + 1, graph.indices + 1, graph.weights], axis=1)
    places = np.column_stack([np.arange(graph.vertices) + 1, graph.coords.astype(np.int64)])
    tables = {
        "path": ("road.gr.gz", f"p sp {graph.vertices} {graph.arcs}", "a", arcs),
        "coords": ("road.co.gz", f"p aux sp co {graph.vertices}", "v", places),
    }
    for name, header, mark, rows in tables.values():
        with gzip.open(folder / name, "wt") as stream:
            np.savetxt(stream, rows, fmt=f"{mark} %d %d %d", header=header, comments="")
    return {role: folder / table[0] for role, table in tables.items()}


def _with_pandas(path, comment_lines):
    """The numbers only: no check, no rows by vertex."""
    return pd.read_csv(path, sep=" ", header=None, skiprows=comment_lines, usecols=[1, 2, 3]).to_numpy()


def _comment_lines(path, mark):
    with gzip.open(path, "rt") as stream:
        return next(number for number, line in enumerate(stream) if line.startswith(mark))


def test_reading_against_pandas(compare, files):
    skipped = _comment_lines(files["path"], "a "), _comment_lines(files["coords"], "v ")
    ours, theirs = compare(
        "read_dimacs / pandas.read_csv of both files",
        lambda: read_dimacs(**files),
        lambda: (_with_pandas(files["path"], skipped[0]), _with_pandas(files["coords"], skipped[1])),
        per=(1, "graph"),
        rounds=5,
    )
    ends = np.stack([ours.sources, ours.indices], axis=1).astype(np.int64)
    kept = np.lexsort((theirs[0][:, 2], theirs[0][:, 1], theirs[0][:, 0]))
    first = np.unique(theirs[0][kept, :2], axis=0, return_index=True)[1]  # parallel arcs: the least weight
    assert np.array_equal(ends + 1, theirs[0][kept][first, :2])
    assert np.array_equal(ours.weights, theirs[0][kept][first, 2])
    assert np.array_equal(ours.coords, theirs[1][:, 1:])


def test_cached_graph(compare, files):
    name = f"file:{files['path']}"
    ours, theirs = compare(
        "load, from the cache / read_dimacs",
        lambda: load(name),
        lambda: read_dimacs(**files),
        per=(1, "graph"),
        rounds=5,
    )
    assert ours.digest == theirs.digest


def test_starting_the_command(compare):
    run = lambda *words: subprocess.run([sys.executable, *words], check=True, capture_output=True, text=True)  # noqa: E731
    ours, theirs = compare(
        "aacbench --help / python -c pass",
        lambda: run("-m", "aacbench", "--help"),
        lambda: run("-c", "pass"),
        per=(1, "start"),
        rounds=15,
    )
    assert "graphs" in ours.stdout
    assert theirs.stdout == ""
