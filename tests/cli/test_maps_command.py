"""`aacbench maps` lists, describes, writes and checks map sets, and refuses in one sentence."""

import json
from pathlib import Path

import numpy as np
from cli.command import command

SIZES = ("--train", "3", "--val", "4", "--test", "2")


def test_the_list_names_what_is_embedded(capsys):
    assert command("maps") == 0
    assert "terrain-12" in capsys.readouterr().out
    assert command("maps", "--json") == 0
    assert {"terrain-30", "warcraft:12x12"} <= {row["name"] for row in json.loads(capsys.readouterr().out)}


def test_the_sets_of_a_plugin_are_listed(capsys):
    assert command("maps", "--plugin", Path(__file__).parents[1] / "plugins" / "good.py") == 0
    assert "own:maps" in capsys.readouterr().out


def test_terrain_is_written_and_checked(tmp_path, capsys):
    assert command("maps", "make", "terrain-4-s1", "--out", tmp_path / "t", *SIZES) == 0
    assert len(list((tmp_path / "t").iterdir())) == 9
    capsys.readouterr()
    assert command("maps", "check", tmp_path / "t", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["cells a side"], facts["calibration maps"], facts["warnings"]) == (4, 2, [])
    assert command("maps", "show", f"mapset:{tmp_path / 't'}") == 0
    assert facts["digest"] in capsys.readouterr().out


def test_a_damaged_file_is_refused_with_code_2(tmp_path, capsys):
    command("maps", "make", "terrain-4-s1", "--out", tmp_path, *SIZES)
    np.save(tmp_path / "val_maps.npy", np.zeros(3))
    assert command("maps", "check", tmp_path) == 2
    assert "val_maps.npy has numbers of type float64" in capsys.readouterr().err


def test_what_cannot_be_made_is_refused(tmp_path, capsys):
    assert command("maps", "make", "warcraft:12x12", "--out", tmp_path) == 2
    assert "is not generated" in capsys.readouterr().err
    assert command("maps", "make", "terrain-4", "--out", tmp_path, "--val", "3") == 2
    assert "--val must be even" in capsys.readouterr().err
    assert command("maps", "show", "terain-12") == 2
    assert "did you mean 'terrain-12'?" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
