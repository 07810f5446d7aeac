"""The encoder of the document works as it is written, in at most forty lines."""

import re
from pathlib import Path

from cli.command import command

from aacbench.library.study import open_study
from aacbench.reports import contextual

TEXT = (Path(__file__).parents[2] / "docs" / "writing-an-encoder.md").read_text(encoding="utf-8")
(CODE,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
SMALL = """
protocol = "small"
summary = "a few maps"
kind = "context"
maps = ["terrain-8-s3"]
budgets = [8]
seeds = [1]
[splits]
train = 60
validation = 5
calibration = 10
test = 30
[[encoders]]
name = "constant"
[[methods]]
name = "hops"
"""


def test_the_encoder_is_short_passes_its_check_and_finds_cheap_paths(tmp_path, monkeypatch, capsys):
    assert len([line for line in CODE.splitlines() if line.strip()]) <= 40
    monkeypatch.chdir(tmp_path)
    Path("tile_colour.py").write_text(CODE, encoding="utf-8")
    Path("small.toml").write_text(SMALL, encoding="utf-8")
    assert command("check", "tile-colour", "--plugin", "tile_colour.py") == 0
    assert capsys.readouterr().out.count("no fault found") == 2
    words = ("--encoders", "constant,tile-colour", "--plugin", "tile_colour.py", "--out", "study", "--workers", "1")
    assert command("run", "--protocol", "small.toml", *words) == 0
    constant, own = contextual.encoder_rows(open_study("study").contents.encode_cells())
    assert own.learns_from == "costs"
    assert own.regret < constant.regret / 5


def test_a_bad_encoder_fails_its_check(tmp_path, capsys):
    (tmp_path / "bad.py").write_text(CODE.replace('return arrays["values"][', 'return -arrays["values"]['))
    assert command("check", "tile-colour", "--plugin", tmp_path / "bad.py") == 1
    assert "not positive" in capsys.readouterr().out


def test_the_commands_of_the_document_are_those_of_the_program():
    (commands,) = re.findall(r"```sh\n(.*?)```", TEXT, flags=re.DOTALL)
    assert [line.split()[1] for line in commands.splitlines()] == ["encoders", "check", "run"]
