"""The document about road graphs says what its own example prints, and names the sizes the code allows."""

import re
from pathlib import Path

from aacbench.graphs.generators.road import FEWEST_VERTICES, MOST_VERTICES

DOCUMENT = Path(__file__).parents[3] / "docs" / "road-graphs.md"


def test_example_prints_what_the_document_says(capsys):
    text = DOCUMENT.read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (printed,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    exec(compile(example, str(DOCUMENT), "exec"), {})
    assert capsys.readouterr().out == printed


def test_sizes_are_those_of_the_code():
    assert f"({FEWEST_VERTICES:,} to {MOST_VERTICES:,})" in DOCUMENT.read_text(encoding="utf-8")
