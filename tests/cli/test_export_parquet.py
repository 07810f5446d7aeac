"""All rows of a study in one Parquet file are those of its CSV files, with the keys of their cells."""

import builtins
import json

import numpy as np
import pytest
from click.testing import CliRunner
from made_studies import made_cell, made_study

from aacbench.cli.export import export
from aacbench.run import parquet
from aacbench.run.layout import cell_folder
from aacbench.run.rows import QUERIES, read_queries
from aacbench.run.store import read_cell

arrow = pytest.importorskip("pyarrow.parquet")


def exported(root, file, code=0):
    done = CliRunner().invoke(export, ["--parquet", str(file), "--study", str(root)])
    assert done.exit_code == code, done.output
    return done


def rows_of(file):
    return arrow.read_table(file).to_pylist()


@pytest.fixture
def study(tmp_path):
    cells = [
        made_cell("alt[tie=fifo]", [5, 2**40], budget=32, seed=seed, params={"K": 4, "tie": "fifo"}, policy="modern")
        for seed in (1, 2)
    ]
    cells.append(made_cell("cdh", [], budget=64, outcome="error", reason="it broke"))
    cells[-1] = (cells[-1][0], cells[-1][1], {})
    return made_study(tmp_path / "study", cells)


def plan_of(root):
    return json.loads((root / "plan.json").read_text())["cells"]


@pytest.mark.parametrize("at_once", [1, 2, 1000])
def test_rows_are_those_of_the_csv_files_in_the_order_of_the_plan(study, tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(parquet, "CELLS_AT_ONCE", at_once)
    done = exported(study, tmp_path / "rows.parquet")
    assert "5 rows of 3 cells" in done.output
    found = rows_of(tmp_path / "rows.parquet")
    expected = []
    for name in plan_of(study):
        cell = read_cell(study, name)
        if "queries.csv" not in cell.files:
            expected.append((name, dict.fromkeys(QUERIES)))
            continue
        columns = read_queries(cell.files["queries.csv"])
        expected += [(name, {key: columns[key][k] for key in QUERIES}) for k in range(len(columns["query"]))]
    assert [row["cell"] for row in found] == [name for name, _ in expected]
    for row, (name, values) in zip(found, expected, strict=True):
        assert {key: row[key] for key in QUERIES} == values
        key = read_cell(study, name).key
        assert (row["graph"], row["label"], row["seed"], row["budget"]) == (
            "p7",
            key["label"],
            key["seed"],
            key["budget"],
        )
        assert json.loads(row["params"]) == key["params"]
        assert row["convention"] == "measured/1"
        assert row["cell_outcome"] == read_cell(study, name).outcome


def test_costs_are_floats_where_a_cell_has_one(tmp_path):
    whole = made_cell("alt", [5], costs=[(3, 3)])
    parts = made_cell("cdh", [7], costs=[(2.5, 2.5)])
    root = made_study(tmp_path / "study", [whole, parts])
    exported(root, tmp_path / "rows.parquet")
    assert [row["path_cost"] for row in rows_of(tmp_path / "rows.parquet")] == [3.0, 2.5]


def test_large_whole_costs_keep_every_digit(tmp_path):
    root = made_study(tmp_path / "study", [made_cell("alt", [5], costs=[(2**53 + 1, 2**53 + 1)])])
    exported(root, tmp_path / "rows.parquet")
    assert rows_of(tmp_path / "rows.parquet")[0]["path_cost"] == 2**53 + 1


def test_rows_of_older_versions_have_no_work(study, tmp_path):
    name, record, files = made_cell("alt", [5, 6])
    lines = files["queries.csv"].decode().splitlines()
    files["queries.csv"] = "".join(line.rpartition(",")[0] + "\n" for line in lines).encode()
    root = made_study(tmp_path / "old", [(name, record, files)])
    exported(root, tmp_path / "rows.parquet")
    assert [row["h_work"] for row in rows_of(tmp_path / "rows.parquet")] == [0, 0]


def test_a_damaged_cell_is_left_out_and_told(study, tmp_path):
    damaged = plan_of(study)[0]
    (cell_folder(study, damaged) / "queries.csv").write_bytes(b"")
    done = exported(study, tmp_path / "rows.parquet", code=4)
    assert damaged in done.output
    assert damaged not in {row["cell"] for row in rows_of(tmp_path / "rows.parquet")}


def test_other_arguments_are_refused(study, tmp_path):
    done = CliRunner().invoke(export, ["3f9a", "--parquet", str(tmp_path / "rows.parquet"), "--study", str(study)])
    assert done.exit_code == 2
    assert "give only the file" in done.output


def test_without_pyarrow_one_sentence_says_what_to_install(study, tmp_path, monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    done = CliRunner().invoke(export, ["--parquet", str(tmp_path / "rows.parquet"), "--study", str(study)])
    assert "pip install aacbench[parquet]" in str(done.exception)
    assert not (tmp_path / "rows.parquet").exists()


def test_types_are_those_that_are_documented(study, tmp_path):
    exported(study, tmp_path / "rows.parquet")
    schema = arrow.read_schema(tmp_path / "rows.parquet")
    assert schema.names == [*parquet.KEY_COLUMNS, *QUERIES]
    assert schema.field("expanded").type == "int64"
    assert np.dtype(schema.field("budget").type.to_pandas_dtype()) == np.float64
