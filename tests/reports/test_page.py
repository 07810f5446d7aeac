"""The page of a study: complete, readable without scripts, escaped, and without a request to any host."""

import base64
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest
from made_studies import made_cell, made_study

from aacbench.cli.report_files import write_files
from aacbench.reports.statistics import analyse
from aacbench.reports.summary import two_sentences
from aacbench.reports.tables import rows_of
from aacbench.run.study import read_study

ALERT = "<script>alert(1)</script>"
QUOTE = "\"'><img src=http://host/x onerror=alert(2)>"


class Page(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text.append(data)

    def every(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A study whose method, graph, settings, reason and protocol all try to break out."""
    graph = f"own:{QUOTE}"
    cells = [
        made_cell("dijkstra", [90, 80, 70], graph=graph),
        made_cell("alt", [9, 8, 7], graph=graph),
        made_cell(ALERT, [7, 6, 8], graph=graph, params={"K": QUOTE}),
        made_cell("bad", [1, 1, 1], graph=graph, outcome="wrong", reason=f"not admissible {ALERT}"),
        made_cell("odd", [1, 1, 1], graph=graph, outcome="error", reason="ValueError"),
    ]
    root = made_study(tmp_path_factory.mktemp("page") / "one'<b>", cells, protocol=ALERT, summary=QUOTE, seeds=[1])
    contents = read_study(root)
    page = write_files(root, contents, rows_of(contents.planned_cells()), [], "text")
    return page, page.read_text(encoding="utf-8")


def test_words_of_plugins_and_names_of_files_are_text(written):
    page = Page(written[1])
    assert len(page.every("script")) == 1
    assert {attributes["src"][:26] for attributes in page.every("img")} == {"data:image/svg+xml;base64,"}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    text = " ".join(page.text)
    assert text.count(ALERT) >= 5
    assert f"K={QUOTE}" in text
    assert not page.every("b")


def test_the_page_asks_no_host_for_anything(written):
    text = written[1]
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    for attributes in Page(text).tags:
        for name in ("src", "href", "srcset", "action", "data"):
            value = attributes[1].get(name, "#")
            assert value.startswith(("#", "data:image/svg+xml;base64,")), value
    assert "url(" not in text
    assert "@import" not in text
    for data in re.findall(r"base64,([A-Za-z0-9+/=]+)", text):
        drawing = base64.b64decode(data).decode()
        linked = [value for value in re.findall(r'href="([^"]*)"', drawing) if not value.startswith(("#", "data:"))]
        assert linked == []
        assert not re.search(r"url\((?!#)", drawing)


def test_figures_follow_the_scheme_of_the_reader(written):
    data = re.search(r"base64,([A-Za-z0-9+/=]+)", written[1])[1]
    drawing = base64.b64decode(data).decode()
    assert "prefers-color-scheme:dark" in drawing
    assert "#000000" not in drawing.replace("--c0:#000000", "")
    plain = (written[0].parent / "figures" / "profile.svg").read_text(encoding="utf-8")
    assert "prefers-color-scheme" not in plain


def test_wrong_and_failed_cells_come_first_with_their_reasons(written):
    text = written[1]
    assert "Not all cells are ok: 1 wrong, 1 error; see the outcomes." in text
    body = text[text.index('id="outcomes"') : text.index('id="results"')]
    assert body.index("1 wrong") < body.index("1 error") < body.index("3 ok")
    assert body.index("not admissible") < body.index("ValueError")
    assert body.count("aacbench replay") == 2


def test_the_page_has_headings_alternative_texts_and_tables_without_a_script(written):
    page = Page(written[1])
    assert len(page.every("h1")) == 1
    assert {"outcomes", "results", "figures", "comparisons", "cells", "provenance", "commands"} <= {
        attributes.get("id") for attributes in page.every("section")
    }
    assert all(len(attributes["alt"]) > 40 for attributes in page.every("img"))
    assert page.every("html") == [{"lang": "en"}]
    assert all(attributes.get("scope") == "col" for attributes in page.every("th"))
    assert len(page.every("caption")) == len(page.every("table")) >= 4
    assert not page.every("input")  # a filter is of no use without the script, which adds it


def test_commands_quote_the_folder(written):
    assert "one&#39;&#34;&#39;&#34;&#39;&lt;b&gt;" in written[1]


def test_what_is_written_beside_the_page(written):
    folder = written[0].parent
    names = {path.name for path in folder.iterdir()}
    assert names == {"report.html", "results.md", "results.csv", "tables.tex", "figures"}
    drawn = {path.name for path in (folder / "figures").iterdir()}
    assert {"profile.svg", "profile.pdf"} <= drawn
    assert {name.removesuffix(".svg") for name in drawn if name.endswith(".svg")} == {
        name.removesuffix(".pdf") for name in drawn if name.endswith(".pdf")
    }


def test_figures_of_an_earlier_report_go(written, tmp_path):
    page = written[0]
    contents = read_study(page.parents[1])
    for old in (
        page.parent / "figures" / "old.svg",
        tmp_path / "figures" / "old.svg",
        page.parent / "figures" / "mine.txt",
    ):
        old.parent.mkdir(exist_ok=True)
        old.write_text("old")
    rows = rows_of(contents.planned_cells())
    write_files(page.parents[1], contents, rows, [], "text")
    write_files(page.parents[1], contents, rows, [], "text", out=tmp_path)
    assert not (page.parent / "figures" / "old.svg").exists()
    assert (page.parent / "figures" / "mine.txt").exists()
    assert (tmp_path / "figures" / "old.svg").exists()  # another's folder: nothing is removed
    assert (tmp_path / "report.html").read_text() == page.read_text()


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([], "No cell of a method has answers to test queries. No two methods were tested against each other."),
        (
            [made_cell("dijkstra", [100, 100]), made_cell("alt", [10, 20])],
            "alt expands 85.00 % fewer vertices than dijkstra, on 1 graph at 32 B/v. No two methods",
        ),
        (
            [made_cell("alt", [10, 20]), made_cell("b", [5, 6]), made_cell("seer", [1, 1], claims={"oracle": True})],
            "On p7 at 32 B/v, b expands 5.5 vertices per query, alt 15.0.",
        ),
        (
            [made_cell(name, [10, 20], budget=budget) for budget in (8, 16) for name in ("alt", "b")],
            "at a budget is alt in 2 and b in 2 of 2 cases (a tie counts for each).",
        ),
    ],
)
def test_the_result_in_two_sentences(tmp_path, cells, said):
    rows = rows_of(read_study(made_study(tmp_path, cells)).planned_cells())
    assert said in two_sentences(rows, [])


def test_many_methods_do_not_make_the_sentences_long(tmp_path):
    rng = np.random.default_rng(3)
    cells = [
        made_cell(f"m{number}", rng.integers(5, 50, 9).tolist(), graph=graph, budget=budget)
        for number in range(9)
        for graph in ("g1", "g2", "g3")
        for budget in (8, 16)
    ]
    contents = read_study(made_study(tmp_path, cells))
    tested = [analyse(contents, f"m{number}", "m0", None, None, light=True) for number in range(1, 9)]
    said = two_sentences(rows_of(contents.planned_cells()), tested)
    assert len(said) < 500
    assert "8 methods are " in said
    assert "of 48 cases (analysis " in said


def test_damaged_and_missing_cells_are_listed(tmp_path):
    cells = [made_cell("dijkstra", [90, 80]), made_cell("alt", [9, 8]), made_cell("b", [7, 6])]
    root = made_study(tmp_path / "study", cells)
    damaged, missing = (next((root / "cells").glob(f"*/{name}")) for name, _, _ in cells[1:])
    (damaged / "queries.csv").write_text("")
    shutil.rmtree(missing)
    contents = read_study(root)
    text = write_files(root, contents, rows_of(contents.planned_cells()), [], "text").read_text(encoding="utf-8")
    page = " ".join(Page(text).text)
    assert "queries.csv changed since it was written" in page
    assert f"Cell {missing.name[:12]} is planned and not there." in page


def test_cells_that_failed_alike_are_one_row(tmp_path):
    cells = [
        made_cell("b", [1], graph=graph, seed=seed, outcome="error", reason="It needs validation queries.")
        for graph in ("g1", "g2")
        for seed in (1, 2)
    ]
    cells += [made_cell("b", [1], graph="g3", outcome="error", reason="Another reason."), made_cell("alt", [2])]
    contents = read_study(made_study(tmp_path / "study", cells))
    page = write_files(tmp_path / "study", contents, rows_of(contents.planned_cells()), [], "text").read_text()
    body = page[page.index('id="outcomes"') : page.index('id="results"')]
    assert body.count("aacbench replay") == 2
    assert re.search(r"<td[^>]*>4</td><td>g1, g2</td><td>32</td><td>b</td>", body)


def test_the_outcome_of_a_failed_method_stands_beside_its_name(written):
    heads = [
        head.group(1) for head in re.finditer(r"<caption>Results</caption>.*?<tr>(.*?)</tr>", written[1], re.DOTALL)
    ]
    names = re.findall(r"<th[^>]*>([^<]*)</th>", heads[0])
    assert names.index("outcome") == names.index("method") - 1


def test_a_page_lists_so_many_cells_as_a_browser_can_show(tmp_path, monkeypatch):
    monkeypatch.setattr("aacbench.reports.page.MOST_CELLS", 3)
    cells = [made_cell("dijkstra", [90, 80, 70]), *(made_cell("alt", [9, 8, 7], seed=seed) for seed in range(4))]
    cells += [made_cell("bad", [1, 1, 1], seed=seed, outcome="error", reason="late") for seed in range(4)]
    root = made_study(tmp_path / "study", cells, seeds=list(range(4)))
    contents = read_study(root)
    text = write_files(root, contents, rows_of(contents.planned_cells()), [], "text").read_text(encoding="utf-8")
    assert text.count("aacbench replay") - text.count("aacbench replay CELL") == 4
    said = "".join(Page(text).text)
    assert f"The first 3 of 9 cells; all are in aacbench status {root} --cells." in said


def test_methods_are_tested_against_the_first_that_stores_labels(tmp_path):
    cells = [made_cell("hops", [50, 60, 70], measured=0.03)]
    cells += [made_cell(name, counts) for name, counts in (("alt", [9, 8, 7]), ("b", [6, 7, 5]))]
    contents = read_study(made_study(tmp_path / "study", cells, seeds=[1]))
    page = write_files(tmp_path / "study", contents, rows_of(contents.planned_cells()), [], "text").read_text()
    assert "b against alt" in page
    assert "alt against hops" not in page
