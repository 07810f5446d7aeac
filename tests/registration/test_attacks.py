"""The attacker's list: each is found, with its own exit code and a sentence that says what was found."""

import json
import shutil

import pytest
from registration.studies import (
    ANCHOR,
    DEVIATION,
    INCOMPLETE,
    SCHEMA,
    SMALL,
    TAMPERED,
    Registered,
    improved,
    swapped,
)

from aacbench.prereg.evidence import leaf, merkle_root
from aacbench.prereg.ledger import append
from aacbench.run.store import commit


def test_nothing_is_found_where_nothing_was_done(done, found):
    assert found(done) == (0, "")


def test_a_band_edited_after_the_lock(done, found):
    done.edit("high = 20", "high = 40")
    code, said = found(done)
    assert code == TAMPERED
    assert "the file says prediction.ahead.high = 40, and 20 was locked" in said


def test_a_lock_file_edited(done, found):
    path = done.files.lock(done.entries()[0].facts["lock"])
    path.write_text(path.read_text().replace('"high": 20', '"high": 40'))
    code, said = found(done)
    assert code == TAMPERED
    assert "was changed: its digest is not that of what it says" in said


def test_a_lock_file_edited_with_its_digest_recomputed(done, found):
    from aacbench.prereg.canonical import digest

    path = done.files.lock(done.entries()[0].facts["lock"])
    body = json.loads(path.read_text().replace('"high": 20', '"high": 40'))["body"]
    path.write_text(json.dumps({"digest": digest(body), "body": body}))
    done.edit("high = 20", "high = 40")
    code, said = found(done)
    assert code == TAMPERED
    assert "is not the one that line 1 names" in said


def test_a_lock_file_removed(done, found):
    done.files.lock(done.entries()[0].facts["lock"]).unlink()
    code, said = found(done)
    assert code == TAMPERED
    assert "is missing" in said


@pytest.mark.parametrize("change", [improved, swapped])
def test_rows_edited_in_place(done, found, change):
    cell = done.cells("random-subset")[0]
    path = next(done.study.glob(f"cells/*/{cell.cell_id}/queries.csv"))
    path.write_bytes(change(path.read_bytes()))
    code, said = found(done)
    assert code == TAMPERED
    assert f"Cell {cell.cell_id}" in said
    assert "queries.csv changed since it was written" in said


@pytest.mark.parametrize("change", [improved, swapped])
def test_rows_edited_with_every_digest_of_the_cell_recomputed(done, found, change):
    cell = done.cells("random-subset")[0]
    done.replace_rows(cell, change(cell.files["queries.csv"]))
    code, said = found(done)
    assert code == TAMPERED
    assert f"cell {cell.cell_id} (random-subset on grid-8 at 16 B/v" in said
    assert "is not what the run recorded" in said


def test_rows_edited_and_the_line_of_the_run_with_them(done, found):
    cell = done.cells("random-subset")[0]
    done.replace_rows(cell, improved(cell.files["queries.csv"]))
    changed = next(one for one in done.cells() if one.cell_id == cell.cell_id)
    old, new = done.entries()[-1].facts["cells"][cell.cell_id], leaf(changed)
    done.write_lines([line.replace(old.encode(), new.encode()) for line in done.lines()])
    code, said = found(done)
    assert code == TAMPERED
    assert "line 3 of the ledger was changed" in said
    assert "the Merkle root in line 3 is not that of the cells it lists" in said


def test_an_outcome_edited(done, found):
    cell = done.cells("random-subset")[0]
    commit(done.study, cell.cell_id, {**cell.record, "outcome": "error"}, cell.files, replace=True)
    assert found(done)[0] == TAMPERED


def test_a_cell_deleted(done, found):
    cell = done.cells("random-subset")[0]
    done.delete(cell)
    code, said = found(done)
    assert code == TAMPERED
    assert f"cell {cell.cell_id} was recorded by a run and is gone" in said


def test_a_cell_added_from_another_run(done, found):
    from aacbench.run.layout import cell_id

    cell = done.cells("random-subset")[0]
    key = {**cell.key, "lock": "0" * 64}
    commit(done.study, cell_id(key), {**cell.record, "key": key, "lock": "0" * 64}, cell.files)
    code, said = found(done)
    assert code == TAMPERED
    assert f"cell {cell_id(key)} (random-subset on grid-8 at 16 B/v, seed {key['seed']}) is from another run" in said


def test_a_cell_added_that_carries_the_lock(done, found):
    from aacbench.run.layout import cell_id

    cell = done.cells("random-subset")[0]
    key = {**cell.key, "seed": 9}
    commit(done.study, cell_id(key), {**cell.record, "key": key}, cell.files)
    code, said = found(done)
    assert code == TAMPERED
    assert "seed 9) carries the lock, but no run recorded it" in said


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"seed": 9}, "seed"),
        ({"budget": 32}, "budget"),
        ({"policy": "paper"}, "policy"),
        ({"convention": {"name": "directionality-aware", "version": 1}}, "convention"),
        ({"plugin_digest": "0" * 64}, "plugin"),
        ({"graph_digest": "0" * 64}, "data"),
        ({"query_digests": {"test": "0" * 64}}, "queries"),
        ({"params": {"K": 5}}, "parameters"),
        ({"engine": "0" * 16}, "engine"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_run_with_something_else(done, found, change, word):
    """As if the run itself had been made to do so: its ledger is sound."""
    done.rekey(done.cells("random-subset")[0], **change)
    done.record_again()
    code, said = found(done)
    assert code == DEVIATION
    assert f"not as locked in {word}." in said


def test_a_declared_deviation_is_none(done, found):
    done.rekey(done.cells("random-subset")[0], plugin_digest="0" * 64)
    done.record_again()
    assert done.call("deviate", "--what", "plugin", "--reason", "a mistake in the plugin was mended") == 0
    assert found(done) == (0, "")
    record = json.loads(done.files.verdicts.read_bytes())
    assert record["declared_deviations"] == [
        "plugin: a mistake in the plugin was mended (after results could have been seen)"
    ]


def test_a_deviation_declared_for_something_else(done, found):
    done.rekey(done.cells("random-subset")[0], plugin_digest="0" * 64)
    done.record_again()
    assert done.call("deviate", "--what", "seed", "--reason", "another seed") == 0
    assert found(done)[0] == DEVIATION


def test_a_run_with_other_code(done, found):
    told = done.told()
    told[1][1]["code"] = "0" * 64
    done.rechain(told)
    code, said = found(done)
    assert code == DEVIATION
    assert "the run in line 2 used other code of aacbench than was locked" in said


def test_a_study_that_was_moved_is_verified_where_it_is(done, capsys):
    done.study.rename(done.root / "elsewhere")
    assert done.call("verify") == TAMPERED
    assert "if they were moved, give --study" in capsys.readouterr().out
    assert done.call("verify", "--study", done.root / "elsewhere") == 0


def test_a_setting_reported_that_was_not_chosen(tmp_path, found):
    (tmp_path / "prereg").mkdir()
    text = SMALL.read_text(encoding="utf-8")
    text = text.replace('name = "random-subset"\n', 'name = "random-subset"\ngrid = { K0 = [8, 16] }\n')
    (tmp_path / "prereg" / "small.toml").write_text(text, encoding="utf-8")
    made = Registered(tmp_path)
    assert made.call("lock") == 0
    assert made.run() == 0
    assert found(made) == (0, "")
    chosen = next(cell for cell in made.cells("random-subset") if cell.key["role"] == "chosen")
    other = {8: 16, 16: 8}[chosen.key["params"]["K0"]]
    made.rekey(chosen, params={**chosen.key["params"], "K0": other})
    made.record_again()
    code, said = found(made)
    assert code == DEVIATION
    assert "the setting that was reported is not the one that its candidates choose" in said


def test_a_prediction_left_without_a_cell(done, found):
    for cell in done.cells("random-subset"):
        done.delete(cell)
    done.record_again()
    code, said = found(done)
    assert code == INCOMPLETE
    assert "random-subset on grid-8 at 16 B/v, seed 1 was planned and is not there" in said
    assert "ahead: the other method was not run on this graph" in said


def second_run(done, change):
    """Run the same lock again into another folder, as the tool would, with other rows."""
    again = done.root / "studies" / "again"
    shutil.copytree(done.study, again)
    original, done.study = done.study, again
    cell = done.cells("random-subset")[0]
    done.replace_rows(cell, change(cell.files["queries.csv"]))
    leaves = {one.cell_id: leaf(one) for one in done.cells()}
    first = done.entries()
    done.study = original
    facts = {**first[1].facts, "study": "../studies/again"}
    start = append(done.files.ledger, "run_start", "small", facts)
    facts = {**first[2].facts, "study": "../studies/again", "cells": leaves, "root": merkle_root(leaves)}
    append(done.files.ledger, "run_end", "small", {**facts, "start": start.digest})
    return again


def test_two_runs_of_one_lock_and_the_worse_deleted(done, found):
    shutil.rmtree(second_run(done, improved))
    code, said = found(done)
    assert code == TAMPERED
    assert "line 5 recorded 5 cells in" in said
    assert "studies/again, where there are none" in said


def test_two_runs_of_one_lock_that_disagree(done, found):
    second_run(done, improved)
    code, said = found(done)
    assert code == DEVIATION
    assert "came out otherwise in line 5 than in line 3" in said


def test_two_runs_of_one_lock_that_agree(done, found):
    second_run(done, lambda rows: rows)
    assert found(done) == (0, "")


def test_a_required_anchor_that_is_missing(locked, found):
    locked.edit("[analysis]", '[anchors]\nrequired = ["ssh"]\n\n[analysis]')
    assert locked.call("amend", "--reason", "an anchor is wanted") == 0
    code, said = found(locked)
    assert code == ANCHOR
    assert "no ssh anchor that can be checked is from before the run" in said
    assert locked.run() == SCHEMA  # and it is not run without


def test_a_registration_that_was_never_run(locked, found):
    assert found(locked)[0] == INCOMPLETE


def test_a_registration_that_cannot_be_read(done, capsys):
    done.edit("high = 20", "high = nan")
    assert done.call("verify") == SCHEMA
    assert "prediction #1.high is nan" in capsys.readouterr().err
