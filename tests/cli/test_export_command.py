"""`aacbench export`: a cell's heuristic leaves the study as it was measured."""

import shutil

import numpy as np
import pytest
import small_studies as studies
from cli.command import JUDGED, command, run_study
from made_studies import made_cell, made_study

import aacbench
from aacbench.run.rows import read_queries


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    root = tmp_path_factory.mktemp("export") / "study"
    assert run_study(root, "alt,plain") == 0
    return root


@pytest.fixture
def study(counted, tmp_path):
    return shutil.copytree(counted, tmp_path / "study")


@pytest.mark.parametrize("pruned", [False, True])
def test_an_exported_bundle_searches_as_the_rows_say(study, tmp_path, capsys, pruned):
    cell = next(cell for cell in studies.cells(study).values() if cell.key["method"] == "alt")
    if pruned:
        shutil.rmtree(study / "artifacts")
    assert command("export", cell.cell_id[:8], tmp_path / "out", "--study", study) == 0
    assert "alt on p7 at 8 B/v" in capsys.readouterr().out
    shutil.rmtree(study)
    loaded = aacbench.load_bundle(tmp_path / "out")
    rows = read_queries(cell.files["queries.csv"])
    found = loaded.search(rows["source"], rows["target"])
    assert np.array_equal(found.expanded, rows["expanded"])
    assert loaded.info["cell"] == cell.cell_id
    assert loaded.bytes_per_vertex == cell.record["bytes"]["measured_per_vertex"]


def test_a_cell_may_be_named_by_what_it_is(study, tmp_path, capsys):
    place = ("--method", "alt", "--graph", "p7", "--budget", "8", "--seed", "1", "--study", study)
    assert command("export", *place, tmp_path / "out") == 0
    assert "alt on p7 at 8 B/v, seed 1" in capsys.readouterr().out
    assert command("export", "--method", "plane", "--study", study, tmp_path / "other") == 2
    assert "No cell of plane in" in (said := capsys.readouterr().err)
    assert "Its methods are dijkstra, alt" in said
    assert command("export", "3f", tmp_path / "other", *place) == 2
    assert command("export", "3f", "--study", study) == 2


def test_cells_that_fit_alike_are_listed_with_their_ids(tmp_path, capsys):
    cells = [made_cell("alt", [5], seed=seed) for seed in (1, 2)]
    root = made_study(tmp_path / "study", cells)
    assert command("export", "--method", "alt", "--study", root, tmp_path / "out") == 2
    said = capsys.readouterr().err
    assert "2 cells fit. Add --graph, --budget or --seed" in said
    assert all(f"{name[:8]}: alt on p7" in said for name, _, _ in cells)


def test_cells_that_share_a_bundle_are_exported_with_their_own_descriptions(tmp_path):
    assert run_study(tmp_path / "study", "alt,alt[tie=fifo]") == 0
    cells = [cell for cell in studies.cells(tmp_path / "study").values() if cell.key["method"] == "alt"]
    assert len({cell.record["bundle"] for cell in cells}) == 1
    for number, cell in enumerate(cells):
        assert command("export", cell.cell_id, tmp_path / str(number), "--study", tmp_path / "study") == 0
        info = aacbench.load_bundle(tmp_path / str(number)).info
        assert {name: info[name] for name in ("label", "policy")} == {
            "label": cell.key["label"],
            "policy": cell.key["policy"],
        }
        assert info["build"] == cell.record["build"]


def test_a_cell_of_a_plugin_without_a_bundle_needs_the_plugin(study, tmp_path, capsys):
    plain = next(cell for cell in studies.cells(study).values() if cell.key["method"] == "plain")
    assert command("export", plain.cell_id, tmp_path / "out", "--study", study) == 2
    assert "Unknown method 'plain'. Name the file it came from with --plugin." in capsys.readouterr().err


def test_a_folder_that_exists_and_a_cell_without_arrays_are_refused(study, tmp_path, capsys):
    names = {cell.key["method"]: cell.cell_id for cell in studies.cells(study).values()}
    assert command("export", names["alt"], tmp_path, "--study", study) == 2
    assert "exists already" in capsys.readouterr().err
    assert command("export", names["plain"], tmp_path / "out", "--study", study, "--plugin", JUDGED) == 2
    assert "has no bundle" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_named_with_what_to_do(study, tmp_path, capsys):
    (tmp_path / "loop").symlink_to("loop")
    (cell,) = (cell for cell in studies.cells(study).values() if cell.key["method"] == "alt")
    assert command("export", cell.cell_id, tmp_path / "loop" / "out", "--study", study) == 2
    said = capsys.readouterr().err
    assert f"{tmp_path / 'loop' / 'out'} could not be written" in said
    assert "name another folder" in said
    assert "--out" not in said


def test_limits_hold_where_a_bundle_is_built_again(study, tmp_path, capsys):
    cell = next(cell for cell in studies.cells(study).values() if cell.key["method"] == "alt")
    shutil.rmtree(study / "artifacts")
    limit = ("--study", study, "--time-limit", "0.000001")
    assert command("export", cell.cell_id, tmp_path / "out", *limit) == 2
    assert "It took longer than 1e-06 seconds" in capsys.readouterr().err


TOO_HIGH = """
import numpy as np
from aacbench.plugins import BatchHeuristic, Method, hookimpl

def many(arrays, us, t):
    return np.where(us == t, 0, 1000)

@hookimpl
def aacbench_methods():
    yield Method("high", "inadmissible", lambda budget, info, params: params, lambda context: BatchHeuristic({}, many))
"""


def test_a_heuristic_that_was_found_wrong_is_exported_with_a_warning(tmp_path, capsys):
    plugin = tmp_path / "high.py"
    plugin.write_text(TOO_HIGH)
    assert run_study(tmp_path / "study", "high", "--plugin", plugin) == 3
    high = next(cell for cell in studies.cells(tmp_path / "study").values() if cell.key["method"] == "high")
    capsys.readouterr()
    assert command("export", high.cell_id, tmp_path / "out", "--study", tmp_path / "study", "--plugin", plugin) == 0
    assert capsys.readouterr().err.startswith("aacbench: This cell is wrong (not admissible: h(")
    assert aacbench.load_bundle(tmp_path / "out").info["outcome"] == "wrong"
