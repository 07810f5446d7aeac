"""docs/recommend.md: its commands run, and its Python answers queries with what they exported."""

import re
from pathlib import Path

from cli.command import run_line

from aacbench.protocols import read_protocol

TEXT = (Path(__file__).parents[2] / "docs" / "recommend.md").read_text(encoding="utf-8")


def test_it_says_how_many_candidates_two_names_are():
    named = [method for method in read_protocol("recommend").methods if method.name in ("alt", "greedy-train")]
    assert f"`alt,greedy-train` are {len(named)} candidates" in TEXT


def test_what_was_exported_answers_queries(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    deploy = TEXT.partition("## Deploy it")[2]
    lines = [line for block in re.findall(r"```sh\n(.*?)```", deploy, re.DOTALL) for line in block.splitlines()]
    assert [run_line(f"{line} --workers 1") for line in lines] == [0]
    told = capsys.readouterr().out
    (export,) = re.findall(r"^  (aacbench export .*)$", told, re.MULTILINE)
    shown = re.sub(r"export \w+ FOLDER", "export CELL my-heuristic", export)
    assert f"```text\n{shown}\n```" in deploy
    assert run_line(export.replace("FOLDER", "my-heuristic")) == 0
    assert re.search(r"^Use \S+ on road-500 at 32 B/v: ", told, re.MULTILINE)
    (code,) = re.findall(r"```python\n(.*?)```", deploy, re.DOTALL)
    capsys.readouterr()
    exec(code, {})
    cost, size, expanded = capsys.readouterr().out.splitlines()
    assert float(cost.split()[0]) > 0
    assert float(size) < 32.1  # the settings of the kernel are counted, but free
    assert re.fullmatch(r"\[\d+ +\d+\]", expanded)
