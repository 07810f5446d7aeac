"""docs/recommend.md: its commands run, and its Python answers queries with what they exported."""

import re
from pathlib import Path

from cli.command import run_line

TEXT = (Path(__file__).parents[2] / "docs" / "recommend.md").read_text(encoding="utf-8")


def test_what_was_exported_answers_queries(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    deploy = TEXT.partition("## Deploy it")[2]
    lines = [line for block in re.findall(r"```sh\n(.*?)```", deploy, re.DOTALL) for line in block.splitlines()]
    assert [run_line(f"{line} --workers 1" if "recommend" in line else line) for line in lines] == [0, 0]
    told = capsys.readouterr().out
    assert re.search(r"^Use \S+ on road-500 at 32 B/v: ", told, re.MULTILINE)
    (code,) = re.findall(r"```python\n(.*?)```", deploy, re.DOTALL)
    exec(code, {})
    cost, size, expanded = capsys.readouterr().out.splitlines()
    assert float(cost.split()[0]) > 0
    assert float(size) < 32.1  # the settings of the kernel are counted, but free
    assert re.fullmatch(r"\[\d+ +\d+\]", expanded)
