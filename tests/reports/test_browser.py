"""Pages in a real browser: from disk, without a request or an error, by mouse, by keyboard, and without scripts."""

import os
from pathlib import Path

import pytest
from browser import BROWSER, Browser
from made_studies import made_cell, made_study

from aacbench.cli.main import main
from aacbench.library.plugin_reports import plugin_sections
from aacbench.run.study import read_study

pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium: install the package chromium")
ALERT = "<script>alert(1)</script>"
FOLDER = "<img src=x onerror=alert(1)><script>alert(1)<script>"  # a folder's name has no slash
PLUGIN = f"""
from aacbench.plugins import Report, Section, SectionFigure, SectionTable, hookimpl


def make(study):
    import pandas as pd
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    figure.subplots().plot([1, 2], label="{ALERT}", url="javascript:alert(1)")
    figure.legend()
    table = pd.DataFrame({{"{ALERT}": ["{ALERT}"]}})
    return Section("{ALERT}", [SectionTable("{ALERT}", table)], [SectionFigure("{ALERT}", figure, '{ALERT}">')])


@hookimpl
def aacbench_reports():
    yield Report("mine", "{ALERT}", "{ALERT}", make)
"""
RESULTS = "document.querySelector('#results table')"
SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The pages of a study and of a comparison, where everything that has a name tries to run a script."""
    folder = tmp_path_factory.mktemp("pages")
    cells = [made_cell("dijkstra", [900, 800]), made_cell("alt", [99, 98]), made_cell(ALERT, [9, 7])]
    cells += [made_cell("alt", [30, 20], budget=64), made_cell(ALERT, [1000, 1200], budget=64)]
    cells += [made_cell("bad", [1, 1], outcome="wrong", reason=f"not admissible {ALERT}")]
    root = made_study(folder / FOLDER, cells, protocol=ALERT, summary=ALERT)
    plugin = folder / "mine.py"
    plugin.write_text(PLUGIN)
    for words in (["report", str(root), "--plugin", str(plugin)], ["compare", "alt", ALERT, "--study", str(root)]):
        with pytest.raises(SystemExit):
            main(words)
    (comparison,) = (root / "derived").glob("compare-*.html")
    assert [each.problem for each in plugin_sections([plugin], root, read_study(root))] == [""]
    return {"report": root / "derived" / "report.html", "compare": comparison}


def column(name):
    """Which column of the results has this name."""
    return f"[...{RESULTS}.tHead.rows[0].cells].findIndex((cell) => cell.textContent === '{name}')"


def values(tab, name):
    """What stands in a column of the results, in the rows that can be seen."""
    rows = f"[...{RESULTS}.tBodies[0].rows].filter((row) => row.getBoundingClientRect().height > 0)"
    return tab.value(f"{rows}.map((row) => row.cells[{column(name)}].textContent)")


def button(name):
    return f"{RESULTS}.tHead.rows[0].cells[{column(name)}].querySelector('button')"


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", ["report", "compare"])
def test_a_page_opens_from_disk_and_asks_nobody(browser, pages, name, width, tmp_path):
    with browser.tab(pages[name], width) as tab:
        assert [url for url in tab.requests() if not url.startswith("data:")] == [pages[name].as_uri()]
        assert tab.complaints() == []
        loaded = tab.value("[...document.images].map((image) => image.complete && image.naturalWidth > 0)")
        assert len(loaded) >= {"report": 5, "compare": 2}[name]
        assert all(loaded)
        assert tab.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        inside = "(each) => each.offsetWidth <= each.parentElement.clientWidth"
        assert tab.value(f"[...document.querySelectorAll('figure:not(.wide) img')].every({inside})")
        legible = "(each) => each.offsetWidth >= 600 && getComputedStyle(each.parentElement).overflowX === 'auto'"
        assert tab.value(f"[...document.querySelectorAll('figure.wide img')].every({legible})")
        assert tab.value("document.querySelectorAll('script').length") == 1
        tab.screenshot(Path(os.environ.get("AACBENCH_SCREENSHOTS", tmp_path)) / f"{name}-{width}.png")


def test_a_click_on_a_column_sorts_and_words_filter(browser, pages):
    with browser.tab(pages["report"]) as tab:
        tab.click(button("test"))
        ascending = ["8.00", "25.00", "98.50", "850.00", "1100.00", ""]
        assert values(tab, "test") == ascending
        assert tab.value(f"{RESULTS}.tHead.rows[0].cells[{column('test')}].ariaSort") == "ascending"
        tab.click(button("test"))
        assert values(tab, "test") == ["1100.00", "850.00", "98.50", "25.00", "8.00", ""]  # what is empty stays last
        tab.click("document.querySelector('#results .filter input')")
        tab.type("ALT 64")
        assert values(tab, "method") == ["alt"]
        assert tab.value("document.querySelector('#results .filter span').textContent") == "1 of 6 rows"
        assert tab.complaints() == []


def test_the_keyboard_reaches_and_sorts_a_column(browser, pages):
    with browser.tab(pages["report"]) as tab:
        tab.press("Tab")
        assert tab.value("document.activeElement.className") == "skip"
        tab.press("Enter")
        for _ in range(40):
            tab.press("Tab")
            if tab.value(f"document.activeElement === {button('test')}"):
                break
        assert tab.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"  # the reader sees where
        tab.press(" ")
        assert values(tab, "test")[0] == "8.00"
        tab.press("Enter")
        assert values(tab, "test")[0] == "1100.00"


def test_a_page_can_be_read_without_scripts(browser, pages):
    with browser.tab(pages["report"], scripts=False) as tab:
        assert values(tab, "test") == ["850.00", "98.50", "8.00", "", "25.00", "1100.00"]
        assert tab.value("document.querySelectorAll('input, button').length") == 0
        tab.click("document.querySelector('#comparisons details summary')")
        assert tab.value("document.querySelector('#comparisons details').open")


def luminance(colour):
    parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_words_stand_out_from_the_paper_in_light_and_dark(browser, pages, scheme):
    with browser.tab(pages["report"], scheme=scheme) as tab:
        paper = luminance(tab.value("getComputedStyle(document.body).backgroundColor"))
        assert (paper < 0.1) == (scheme == "dark")
        for words in ("body", ".quiet", "a", ".bad", ".fine", ".notes", "td.bad", "th button"):
            ink = luminance(tab.value(f"getComputedStyle(document.querySelector('{words}')).color"))
            contrast = (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05)
            assert contrast >= 4.5, (words, contrast)
