"""Facts of builds as columns: means over seeds, from the records of the cells."""

import csv
import json

import pytest
from cli.command import command
from made_studies import made_cell, made_study

from aacbench.errors import UsageError
from aacbench.reports import facts
from aacbench.reports.tables import rows_of
from aacbench.run.study import read_study


def cell(label, seed, **told):
    build = {"seconds": 1.0, "pool_seconds": 0.0, "facts": told}
    return made_cell(label, [10], seed=seed, build=build, claims={"deterministic": False})


@pytest.fixture
def root(tmp_path):
    cells = [made_cell("dijkstra", [100]), cell("alt", 1, covering_radius=7), made_cell("plain", [3])]
    cells += [cell("aac", seed, covering_radius=radius, rows_moved=2) for seed, radius in ((1, 4.5), (2, 5.5))]
    return made_study(tmp_path / "study", cells)


def test_each_fact_is_a_column_with_its_mean_and_spread(root):
    cells = read_study(root).planned_cells()
    lines = facts.markdown(facts.rows_of(rows_of(cells), cells)).splitlines()
    table = [[word.strip() for word in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    head, _, *rows = table
    shown = {row[head.index("method")]: dict(zip(head, row, strict=True)) for row in rows}
    assert shown.keys() == {"alt", "aac"}  # a build without facts has no row
    assert shown["alt"]["covering_radius"] == "7"
    assert shown["alt"]["rows_moved"] == ""
    assert shown["aac"]["covering_radius"] == "5 ± 0.7071"
    assert shown["aac"]["rows_moved"] == "2"


def test_the_command_prints_them_for_a_person_and_for_a_script(root, capsys):
    assert command("report", root, "--by", "facts") == 0
    assert "covering_radius" in capsys.readouterr().out
    assert command("report", root, "--by", "facts", "--csv") == 0
    rows = {row["method"]: row for row in csv.DictReader(capsys.readouterr().out.splitlines())}
    assert float(rows["aac"]["covering_radius"]) == 5
    assert command("report", root, "--by", "facts", "--json") == 0
    assert [row["rows_moved"] for row in json.loads(capsys.readouterr().out)["facts"]] == [None, 2]
    assert command("report", root, "--by", "variant") == 2
    assert "aacbench run --protocol controls" in capsys.readouterr().err
    assert not (root / "derived").exists()


def test_a_study_without_facts_says_so(tmp_path):
    cells = read_study(made_study(tmp_path, [made_cell("alt", [1])])).planned_cells()
    with pytest.raises(UsageError, match="No build of this study reports facts"):
        facts.rows_of(rows_of(cells), cells)
