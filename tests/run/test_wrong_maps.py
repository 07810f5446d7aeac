"""What is wrong with maps is told before a run; what an encoder lacks fails its own cells and no others."""

import os
import subprocess
import sys

import numpy as np
import pytest
from cli.command import command

from aacbench.library.study import open_study
from aacbench.maps.load import load_maps
from aacbench.maps.record import SPLITS
from aacbench.run.encode import train_context

PROTOCOL = """
protocol = "wrong"
summary = "a study that something is wrong with"
kind = "context"
maps = ["terrain-5"]
budgets = [8]
seeds = [1]
[splits]
train = 4
validation = 2
calibration = 2
test = 3
[queries]
random = 2
[[encoders]]
name = "constant"
[[methods]]
name = "hops"
"""
COUNTS = {"train": 4, "validation": 2, "calibration": 2, "test": 3}


@pytest.fixture
def protocol(tmp_path):
    (tmp_path / "wrong.toml").write_text(PROTOCOL)
    return tmp_path / "wrong.toml"


def refused(capsys, folder, *words):
    assert command("run", *words, "--out", folder / "study") == 2
    assert not (folder / "study").exists()
    return capsys.readouterr().err


def test_a_map_set_that_is_not_there_is_told_with_where_it_belongs(protocol, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("AACBENCH_DATA", str(tmp_path))
    told = refused(capsys, tmp_path, "--protocol", protocol, "--maps", "warcraft:12x12")
    assert "warcraft:12x12 needs train_maps.npy" in told
    assert "put them in" in told
    assert "terrain-12 is embedded" in told


def test_a_damaged_file_is_told_with_its_place(protocol, tmp_path, capsys):
    maps = tmp_path / "maps"
    assert command("maps", "make", "terrain-5", "--out", maps, "--train", 4, "--val", 4, "--test", 3) == 0
    weights = np.load(maps / "test_vertex_weights.npy")
    weights[2, 1, 4] = -1
    np.save(maps / "test_vertex_weights.npy", weights)
    capsys.readouterr()
    told = refused(capsys, tmp_path, "--protocol", protocol, "--maps", f"mapset:{maps}")
    assert "test_vertex_weights.npy, map 2, cell (1, 4): the weight -1.0 is not a positive number" in told


def test_training_never_sees_a_map_for_calibration_or_tests():
    maps = load_maps("terrain-5", COUNTS)
    for sees in ("costs", "paths", "nothing"):
        context = train_context(maps, sees, {}, 1, False, lambda _: None)
        shown = {image.tobytes() for part in (context.train, context.validation) for image in part.images}
        assert len(shown) == COUNTS["train"] + COUNTS["validation"]
        hidden = {image.tobytes() for split in SPLITS[2:] for image in maps.splits[split].images}
        assert not shown & hidden
        assert (context.train.costs is None, context.train.paths is None) == (sees != "costs", sees == "nothing")
        assert context.oracle_costs is None


def test_without_torch_encoders_that_need_it_are_unsupported_and_the_rest_runs(protocol, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'torch' else find(name, *rest)\n"
    )
    encoders, methods = run_with_own_modules(tmp_path)
    assert [outcome for outcome, _ in encoders] == ["unsupported"] * 3 + ["ok"]
    assert {reason.partition(";")[0] for _, reason in encoders[:3]} == {"torch is not installed"}
    assert [outcome for outcome, _ in methods] == ["ok", "ok", "ok", "unsupported"]
    assert methods[3][1].startswith("torch is not installed; install it with pip")


@pytest.mark.parametrize("content", ["raise OSError('libtorch.so is missing')", ""])  # an empty one: left by pip
def test_a_broken_torch_is_told_with_what_to_do_and_the_rest_runs(protocol, tmp_path, content):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text(content)
    encoders, methods = run_with_own_modules(tmp_path)
    assert [outcome for outcome, _ in encoders] == ["error"] * 3 + ["ok"]
    assert [outcome for outcome, _ in methods] == ["ok", "ok", "ok", "error"]
    for _, reason in (*encoders[:3], methods[3]):
        assert reason.startswith("torch is installed but cannot be used (")
        assert reason.endswith("install it again with pip, then run again with --existing retry-failed")


def run_with_own_modules(folder):
    """Outcomes and reasons of encoders, and of methods on true costs, in processes that import from `folder` first."""
    code = "import sys; from aacbench.cli import main; main(sys.argv[1:])"
    words = ["run", "--protocol", "wrong.toml", "--encoders", "cnn,gap-paper,neural-astar,true", "--out", "study"]
    subprocess.run(
        [sys.executable, "-c", code, *words, "--methods", "hops,cells,aac-tuned", "--workers", "1"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        check=False,
    )
    contents = open_study(folder / "study").contents
    on_true = [cell for cell in contents.planned_cells() if cell.key["graph"].endswith("/true")]
    both = contents.encode_cells(), on_true
    return [[(cell.outcome, cell.record.get("reason", "")) for cell in cells] for cells in both]
