"""What docs/graphs.md shows of files is so: the table is read, and the commands run."""

import re
from pathlib import Path

from cli.command import run_line

from aacbench.graphs.load import load

TEXT = (Path(__file__).parents[2] / "docs" / "graphs.md").read_text(encoding="utf-8")


def test_the_table_is_read_and_run_under_its_short_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (table,) = re.findall(r"```text\n(.*?)```", TEXT, re.DOTALL)
    Path("roads.csv").write_text(table, encoding="utf-8")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]
    assert [run_line(line) for line in lines] == [0, 0]
    text = capsys.readouterr().out
    assert re.search(r"^name +austria$", text, re.MULTILINE)
    assert "| austria |" in text
    assert load("file:roads.csv?source=from&target=to&weight=minutes").names.tolist() == ["Linz", "Graz", "Wien"]
