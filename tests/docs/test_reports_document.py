"""The document on reports names every figure, option and file."""

import ast
import re
from pathlib import Path

import pytest

from aacbench.cli import report_files
from aacbench.cli.results import report
from aacbench.reports.figures import NAMES, Choices

TEXT = (Path(__file__).parents[2] / "docs" / "reports.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("word", [*NAMES, *Choices.__dataclass_fields__])
def test_every_figure_and_choice_is_explained(word):
    assert f"`{word}`" in TEXT


def test_the_page_on_the_library_lists_every_figure():
    text = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")
    listed = text.partition("- `figure(name, ...)`")[2].partition("\n- ")[0]
    assert [name for name in NAMES if f"`{name}`" not in listed] == []


def test_every_option_is_shown():
    options = [option for parameter in report.params for option in parameter.opts if option.startswith("--")]
    assert [option for option in options if option not in TEXT] == []


@pytest.mark.parametrize("name", [report_files.PAGE, report_files.TEX, report_files.FIGURES, "results.csv"])
def test_every_file_is_named(name):
    assert f"`{name}" in TEXT


def test_the_python_example_asks_for_figures_and_choices_that_there_are():
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    drawn = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "figure"]
    assert len(drawn) == 3
    for call in drawn:
        assert call.args[0].value in NAMES
        assert {word.arg for word in call.keywords} <= set(Choices.__dataclass_fields__)
