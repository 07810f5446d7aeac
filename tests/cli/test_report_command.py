"""`aacbench report`: tables on the screen, and beside the study a page, figures and tables for a paper."""

import shutil
import webbrowser

import numpy as np
import pytest
from cli.command import command
from made_studies import made_cell, made_study

from aacbench import open_study
from aacbench.reports import figures
from aacbench.reports.figures import maps
from aacbench.run.study import read_study


@pytest.fixture
def study(tmp_path):
    cells = [made_cell("dijkstra", [90, 80]), made_cell("alt", [9, 8]), made_cell("mine", [7, 9])]
    return made_study(tmp_path / "study", cells)


def test_tables_are_printed_and_the_page_is_named(study, capsys):
    assert command("report", study) == 0
    said = capsys.readouterr()
    assert said.out == (study / "derived" / "results.md").read_text()
    assert said.err == f"Also in {study / 'derived' / 'report.html'}, with figures and tables beside it.\n"
    assert r"\midrule" in (study / "derived" / "tables.tex").read_text()


@pytest.mark.parametrize("form", ["--csv", "--json"])
def test_output_for_scripts_writes_nothing(study, form, capsys):
    assert command("report", study, form) == 0
    assert not (study / "derived").exists()
    assert capsys.readouterr().err == ""


def test_a_study_that_may_only_be_read_is_reported_elsewhere(study, tmp_path, capsys):
    (study / "derived").write_text("in the way, as a folder without permission is")
    assert command("report", study) == 0
    said = capsys.readouterr()
    assert "| alt" in said.out
    assert "aacbench: no page was written:" in said.err
    assert "--out" in said.err
    assert command("report", study, "--out", tmp_path / "mine", "--csv") == 0
    assert (tmp_path / "mine" / "report.html").exists()
    assert (study / "derived").is_file()
    assert command("report", study, "--out", study / "plan.json") == 2


def test_open_shows_the_page(study, capsys, monkeypatch):
    shown = []
    monkeypatch.setattr(webbrowser, "open", lambda address: shown.append(address) or len(shown) == 1)
    assert command("report", study, "--open") == 0
    assert shown == [(study / "derived" / "report.html").as_uri()]
    assert "no browser" not in capsys.readouterr().err
    assert command("report", study, "--open") == 0
    assert "no browser was found; open" in capsys.readouterr().err


def test_maps_show_what_the_bundles_hold(tmp_path, capsys):
    root = tmp_path / "study"
    words = (
        "--graphs",
        "grid-8",
        "--budgets",
        "8",
        "--seeds",
        "1",
        "--queries",
        "3/5",
        "--workers",
        "1",
        "--out",
        root,
    )
    assert command("run", "--methods", "alt,random-subset[K0=6]", *words) == 0
    page = root / "derived" / "report.html"
    assert f"\n  aacbench report {root} --open  # the page {page}, with figures\n" in capsys.readouterr().out
    contents = read_study(root)
    alt, chosen = (
        next(cell for cell in contents.cells.values() if cell.key["method"] == name)
        for name in ("alt", "random-subset")
    )
    where = maps.map_of(alt)
    first, second = maps.landmarks(root, alt, where), maps.landmarks(root, chosen, where)
    assert (len(first.chosen), len(first.pool)) == (alt.key["params"]["K"], 0)
    assert (len(second.chosen), len(second.pool)) == (chosen.key["params"]["K"], 6)
    assert set(second.chosen) <= set(second.pool)
    drawn = figures.figure("landmarks", contents, a="random-subset[K0=6]", root=root).axes[0]
    stars = next(line for line in drawn.lines if line.get_marker() == "*")
    assert stars.get_xydata().tolist() == where.coords[second.chosen].tolist()
    left, right = figures.figure("search", contents, root=root, query=2).axes
    for axes, cell in ((left, chosen), (right, alt)):
        columns = cell.queries
        (row,) = np.flatnonzero((columns["split"] == "test") & (columns["query"] == 2))
        count = columns["expanded"][row] - columns["reexpanded"][row]
        assert axes.get_title(loc="left") == f"{cell.key['label']}: {count:,} vertices"
        assert len(axes.lines[1].get_xdata()) == count
    elsewhere = {
        "amortised",
        "controls",
        "drift",
        "traffic",
        "prediction",
    }  # need times, variants, epochs, traffic or maps
    for name in set(figures.NAMES) - elsewhere:
        assert open_study(root).figure(name).axes
    capsys.readouterr()
    assert command("report", root, "--maps") == 0
    drawn = {path.stem for path in (root / "derived" / "figures").glob("*.svg")}
    assert {"landmarks-alt-grid-8", "search-grid-8"} <= drawn
    shutil.rmtree(root / "artifacts")
    assert command("report", root, "--maps") == 0
    assert "landmarks-alt-grid-8" not in {path.stem for path in (root / "derived" / "figures").glob("*.svg")}
