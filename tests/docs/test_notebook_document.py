"""The notebook: its cells are run in order, and print what the document shows."""

import re
from pathlib import Path

TEXT = (Path(__file__).parents[2] / "docs" / "notebook.md").read_text(encoding="utf-8")
CELLS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


def test_its_cells_print_what_it_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in CELLS:
        first, _, rest = cell.partition("\n")
        if first.startswith("%%writefile "):
            Path(first.split()[1]).write_text(rest, encoding="utf-8")
        else:
            exec(cell, names)
    printed = capsys.readouterr().out
    shown = re.findall(r"print\(.*\)  # (.*)", TEXT)
    assert shown.pop(1) == "lower bounds on distances"
    assert len(shown) == 2
    for line in (*shown, *re.findall(r"^\|.*\|$", TEXT, flags=re.MULTILINE), *re.findall(r"```text\n(.*?)\n```", TEXT)):
        assert line in printed.splitlines(), line
