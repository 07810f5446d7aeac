"""Reports of plugins on the page of a study: shown as text, tables and pictures, or as the reason why not."""

import re
from pathlib import Path

import pytest
from made_studies import made_cell, made_study

from aacbench.cli.report_files import write_files
from aacbench.library.plugin_reports import plugin_sections
from aacbench.reports.tables import rows_of
from aacbench.run.study import read_study

ROOT = Path(__file__).parents[2]
ALERT = "<script>alert(1)</script>"
START = "from aacbench.plugins import Report, Section, SectionFigure, SectionTable, hookimpl\n"
HOOK = """
@hookimpl
def aacbench_reports():
    yield Report("mine", "<script>alert(1)</script>", "what I want to see", make)
"""


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch):
    monkeypatch.setenv("AACBENCH_PLUGINS", "")


@pytest.fixture
def study(tmp_path):
    cells = [made_cell("dijkstra", [90, 80, 70]), made_cell("alt", [9, 8, 7]), made_cell("b", [3, 8, 1])]
    return made_study(tmp_path / "study", cells)


def sections(study, tmp_path, make):
    """The sections of a plugin with this function `make`, or with this whole source."""
    file = tmp_path / "mine.py"
    file.write_text(make if "hookimpl" in make else f"{START}{make}{HOOK}")
    return plugin_sections([file], study, read_study(study))


def page_of(study, made, out):
    contents = read_study(study)
    page = write_files(study, contents, rows_of(contents.planned_cells()), [], "", out, plugins=made)
    return page.read_text(encoding="utf-8")


def test_a_report_stands_on_the_page_with_its_table_and_figure(study, tmp_path):
    document = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    (example,) = [
        code for code in re.findall(r"```python\n(.*?)```", document, re.DOTALL) if "aacbench_reports" in code
    ]
    (made,) = sections(study, tmp_path, example)
    assert made.problem == ""
    (sheet,) = made.sheets
    assert sheet.columns == (("graph", False), ("method", False), ("median", True), ("90 %", True))
    assert ("p7", "alt", "8", "8.8") in sheet.rows
    page = page_of(study, [made], tmp_path / "out")
    assert "A mean hides the queries that hurt." in page
    assert 'alt="Bars: the 90 % quantile of expansions of each method."' in page
    assert "Report hardest of plugin mine" in page
    assert {path.name for path in (tmp_path / "out" / "figures").glob("report-*")} == {
        "report-hardest-1.svg",
        "report-hardest-1.pdf",
    }


def test_words_of_a_report_are_text(study, tmp_path):
    make = f"""
def make(study):
    import pandas as pd
    data = pd.DataFrame({{"{ALERT}": ["{ALERT}"]}})
    return Section("{ALERT}\\n\\nsecond", [SectionTable("{ALERT}", data, "{ALERT}")])
"""
    (made,) = sections(study, tmp_path, make)
    assert made.paragraphs == (ALERT, "second")
    page = page_of(study, [made], tmp_path / "out")
    assert ALERT not in page
    assert page.count("&lt;script&gt;alert(1)") >= 6  # also the title


FAILING = {
    "raises": ("raise ValueError('no rows')", r"The report 'mine' failed: ValueError: no rows \(mine.py, line 3\)\."),
    "exits": ("raise SystemExit(3)", "The report 'mine' failed: SystemExit"),
    "other": ("return 'text'", "The report 'mine' must return a Section, not str."),
    "text": ("return Section(3)", "The text of report 'mine' must be text, not int."),
    "table": ("return Section('', [SectionTable('t', [[1]])])", "must be SectionTable records of pandas tables"),
    "figure": ("return Section('', [], ['<svg/>'])", "must be SectionFigure records of matplotlib figures"),
    "alt": (
        "from matplotlib.figure import Figure; return Section('', [], [SectionFigure('t', Figure(), ' ')])",
        "has no text for those who cannot see it",
    ),
    "drawing": (
        "from matplotlib.figure import Figure; f = Figure(); f.text(0, 0, '$\\\\nosuch$', parse_math=True); "
        "return Section('', [], [SectionFigure('t', f, 'words')])",
        "The report 'mine' failed: ValueError",
    ),
}


@pytest.mark.parametrize("kind", FAILING)
def test_a_report_that_fails_is_a_sentence(study, tmp_path, capsys, kind):
    body, reason = FAILING[kind]
    (made,) = sections(study, tmp_path, f"def make(study):\n    {body}\n")
    assert re.search(reason, made.problem)
    assert "mine.py" in capsys.readouterr().err
    if kind == "raises":
        page = page_of(study, [made], tmp_path / "out")
        assert "ValueError: no rows" in page
        assert 'id="provenance"' in page


def test_a_report_gets_copies(study, tmp_path):
    contents = read_study(study)
    good = ROOT / "tests" / "plugins" / "good.py"
    make = "def make(study):\n    return Section(f'{list(study.cells.outcome)}, {len(study.results)} results')\n"
    (tmp_path / "last.py").write_text(f"{START}{make}{HOOK}")
    first, last = plugin_sections([good, tmp_path / "last.py"], study, contents)
    assert first.sheets[0].rows == (("cells", "3"), ("queries", "9"))
    assert last.paragraphs == ("['ok', 'ok', 'ok'], 3 results",)


def test_a_long_table_is_cut_and_says_so(study, tmp_path):
    make = """
def make(study):
    import pandas as pd
    return Section("", [SectionTable("t", pd.DataFrame({"n": [0.5, None] * 501}))])
"""
    (made,) = sections(study, tmp_path, make)
    (sheet,) = made.sheets
    assert len(sheet.rows) == 1000
    assert sheet.rows[:2] == (("0.5",), ("",))
    assert sheet.notes == ("2 more rows are not shown.",)
