"""Attacks on registrations, locks and rows: verify finds each, with an exit code and a sentence."""

import json
import shutil

import pytest
from registration.studies import ANCHOR, DEVIATION, INCOMPLETE, SCHEMA, TAMPERED, improved, project, swapped

from aacbench.prereg.binding import stored_evidence
from aacbench.prereg.ledger import append
from aacbench.prereg.schema import TAG
from aacbench.run.layout import cell_id
from aacbench.run.store import commit
from aacbench.util.canonical import digest


def test_nothing_is_found_where_nothing_was_done(done, finds):
    finds(done, 0)


def test_a_band_edited_after_the_lock(done, finds):
    done.edit("high = 20", "high = 40")
    finds(done, TAMPERED, "prediction.ahead.high is 40 in the file, but 20 was locked")


def test_a_lock_file_edited(done, finds):
    path = done.files.lock(done.entries()[0].facts["lock"])
    path.write_text(path.read_text().replace('"high": 20', '"high": 40'))
    finds(done, TAMPERED, "was changed: its digest does not match its content")


def test_a_lock_file_edited_with_its_digest_recomputed(done, finds):
    path = done.files.lock(done.entries()[0].facts["lock"])
    body = json.loads(path.read_text().replace('"high": 20', '"high": 40'))["body"]
    path.write_text(json.dumps({"digest": digest(body, TAG), "body": body}))
    done.edit("high = 20", "high = 40")
    finds(done, TAMPERED, "is not the one that line 1 names")


def test_a_lock_file_removed(done, finds):
    done.files.lock(done.entries()[0].facts["lock"]).unlink()
    finds(done, TAMPERED, "is missing")


@pytest.mark.parametrize("change", [improved, swapped])
def test_rows_edited_in_place(done, finds, change):
    cell = done.cells("random-subset")[0]
    path = next(done.study.glob(f"cells/*/{cell.cell_id}/queries.csv"))
    path.write_bytes(change(path.read_bytes()))
    finds(done, TAMPERED, f"Cell {cell.cell_id}", "queries.csv changed since it was written")


@pytest.mark.parametrize("change", [improved, swapped])
def test_rows_edited_with_every_digest_of_the_cell_recomputed(done, finds, change):
    cell = done.cells("random-subset")[0]
    done.replace_rows(cell, change(cell.files["queries.csv"]))
    finds(
        done, TAMPERED, f"cell {cell.cell_id} (random-subset on grid-8 at 16 B/v", "differs from what the run recorded"
    )


def test_rows_edited_and_the_line_of_the_run_with_them(done, finds):
    cell = done.cells("random-subset")[0]
    done.replace_rows(cell, improved(cell.files["queries.csv"]))
    changed = next(one for one in done.cells() if one.cell_id == cell.cell_id)
    old, new = done.entries()[-1].facts["cells"][cell.cell_id], stored_evidence(changed)
    done.write_lines([line.replace(old.encode(), new.encode()) for line in done.lines()])
    finds(
        done,
        TAMPERED,
        "of the ledger was changed",
        "the Merkle root in line 8 does not match the cells listed there",
    )


def test_an_outcome_edited(done, finds):
    cell = done.cells("random-subset")[0]
    commit(done.study, cell.cell_id, {**cell.record, "outcome": "error"}, cell.files, replace=True)
    finds(done, TAMPERED)


def test_a_cell_deleted(done, finds):
    cell = done.cells("random-subset")[0]
    done.delete(cell)
    finds(done, TAMPERED, f"cell {cell.cell_id} was recorded by a run and is missing")


def test_a_cell_added_from_another_run(done, finds):
    cell = done.cells("random-subset")[0]
    key = {**cell.key, "lock": "0" * 64}
    commit(done.study, cell_id(key), {**cell.record, "key": key, "lock": "0" * 64}, cell.files)
    finds(
        done,
        TAMPERED,
        f"cell {cell_id(key)} (random-subset on grid-8 at 16 B/v, seed {key['seed']}) is from another run",
    )


def test_a_cell_added_that_carries_the_lock(done, finds):
    cell = done.cells("random-subset")[0]
    key = {**cell.key, "seed": 9}
    commit(done.study, cell_id(key), {**cell.record, "key": key}, cell.files)
    finds(done, TAMPERED, "seed 9) has the lock, but no run recorded it when it was made")


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
def test_a_run_with_something_else(done, finds, change, word):
    """As if the run itself had done so: its ledger is intact."""
    done.rekey(done.cells("random-subset")[0], **change)
    done.record_again()
    finds(done, DEVIATION, f"differs from the lock in {word}.")


def test_a_declared_deviation_is_none(done, finds):
    done.rekey(done.cells("random-subset")[0], plugin_digest="0" * 64)
    done.record_again()
    assert done.call("deviate", "--what", "plugin", "--reason", "a mistake in the plugin was mended") == 0
    record = finds(done, 0)
    (declared,) = record["declared_deviations"]
    assert declared.endswith("-> 00000000): a mistake in the plugin was mended (after results could have been seen)")
    (evidence,) = [check["evidence"] for check in record["checks"] if check["name"] == "as locked"]
    assert evidence == "4 cells, and 1 with declared deviations"


def test_a_deviation_declared_for_something_else(done, finds):
    done.rekey(done.cells("random-subset")[0], plugin_digest="0" * 64)
    done.record_again()
    assert done.call("deviate", "--what", "seed", "--reason", "another seed") == SCHEMA
    assert done.call("deviate", "--what", "plugin", "--reason", "mended") == 0
    finds(done, 0)
    done.rekey(done.cells("random-subset")[0], plugin_digest="1" * 64)
    done.rechain([line for line in done.told() if line[0] != "deviate"])
    declared = {"what": ["plugin"], "changes": [{"what": "plugin", "from": "0" * 64, "to": "1" * 64}], "reason": "no"}
    done.record_again()
    append(done.files.ledger, "deviate", "small", declared)
    finds(done, DEVIATION)


def test_a_run_with_other_code(done, finds):
    told = done.told()
    told[1][1]["code"] = "0" * 64
    done.rechain(told)
    finds(done, DEVIATION, "the run in line 2 used other code than was locked: code (tree: ")


def test_a_study_that_was_moved_is_verified_where_it_is(done, capsys):
    done.study.rename(done.root / "elsewhere")
    assert done.call("verify") == TAMPERED
    assert "if the study was moved, use --study" in capsys.readouterr().out
    assert done.call("verify", "--study", done.root / "elsewhere") == 0


def test_a_setting_reported_that_was_not_chosen(tmp_path, finds):
    name = 'name = "random-subset"\n'
    made = project(tmp_path, grid=(name, f"{name}grid = {{ K0 = [8, 16] }}\n"))
    assert made.call("lock") == 0
    assert made.run() == 0
    finds(made, 0)
    chosen = next(cell for cell in made.cells("random-subset") if cell.key["role"] == "chosen")
    other = {8: 16, 16: 8}[chosen.key["params"]["K0"]]
    made.rekey(chosen, params={**chosen.key["params"], "K0": other})
    made.record_again()
    finds(made, DEVIATION, "the reported setting is not the best one on the validation queries")


def test_a_prediction_left_without_a_cell(done, finds):
    for cell in done.cells("random-subset"):
        done.delete(cell)
    done.record_again()
    finds(
        done,
        INCOMPLETE,
        "random-subset on grid-8 at 16 B/v, seed 1 was planned but is missing",
        "ahead: the other method was not run on this graph",
    )


def second_run(done, change):
    """Run the same lock again into another folder, as the tool would, with other rows."""
    again = done.root / "studies" / "again"
    shutil.copytree(done.study, again)
    original, done.study = done.study, again
    cell = done.cells("random-subset")[0]
    done.replace_rows(cell, change(cell.files["queries.csv"]))
    done.rerun("../studies/again")
    done.study = original
    return again


def test_two_runs_of_one_lock_and_the_worse_deleted(done, finds):
    shutil.rmtree(second_run(done, improved))
    finds(done, TAMPERED, "the run in line 9 recorded 5 cells in", "studies/again, but there are none")


def test_two_runs_of_one_lock_that_disagree(done, finds):
    second_run(done, improved)
    finds(done, DEVIATION, "has other results in line 11 than in line 8")


def test_two_runs_of_one_lock_that_agree(done, finds):
    second_run(done, lambda rows: rows)
    finds(done, 0)


def test_a_required_anchor_that_is_missing(locked, finds):
    locked.edit("[analysis]", '[anchors]\nrequired = ["ssh"]\n\n[analysis]')
    assert locked.call("amend", "--reason", "an anchor is wanted") == 0
    finds(locked, ANCHOR, "there is no ssh anchor from before the run")
    assert locked.run() == SCHEMA  # and it is not run without


def test_a_registration_that_was_never_run(locked, finds):
    finds(locked, INCOMPLETE)


def test_a_registration_that_cannot_be_read(done, capsys):
    done.edit("high = 20", "high = nan")
    assert done.call("verify") == SCHEMA
    assert "prediction #1.high is nan" in capsys.readouterr().err
