"""Attacks that only append to the ledger, or change words: the chain and the notes stay intact."""

import shutil

import pytest
from registration.studies import DEVIATION, INCOMPLETE, ORDER, SCHEMA, TAMPERED, Registered, improved, project

from aacbench.prereg.binding import cell_facts, merkle_root, stored_evidence
from aacbench.prereg.ledger import append
from aacbench.prereg.lock import Lock, read_lock, write_lock
from aacbench.prereg.schema import TAG, read_registration
from aacbench.run.layout import REGISTRATION as NOTE
from aacbench.run.layout import cell_id
from aacbench.run.store import commit
from aacbench.util.canonical import digest, plain


def doctored(done):
    """Better rows in one cell, with every digest of the cell recomputed; the digests of all cells now."""
    cell = done.cells("random-subset")[0]
    done.replace_rows(cell, improved(cell.files["queries.csv"]))
    return {one.cell_id: stored_evidence(one) for one in done.cells()}


def test_a_second_end_of_one_run(done, finds):
    digests = doctored(done)
    end = done.line("run_end")
    append(done.files.ledger, "run_end", "small", {**end.facts, "cells": digests, "root": merkle_root(digests)})
    finds(done, TAMPERED, "line 9 (run_end) belongs to no run that was under way", "line 9 gives cell")


def test_cells_that_are_called_failed_afterwards(done, finds):
    """Lines of the old run that call its results errors, then a run that keeps the doctored cells."""
    digests = doctored(done)
    start, end = done.line("run_start"), done.line("run_end")
    cells = [line for line in done.entries() if line.event == "cell"]
    for line in cells:
        append(done.files.ledger, "cell", "small", {**line.facts, "outcome": "error", "place": "-"})
    begun = append(done.files.ledger, "run_start", "small", start.facts)
    facts = {**end.facts, "start": begun.digest, "cells": digests, "root": merkle_root(digests)}
    append(done.files.ledger, "run_end", "small", facts)
    finds(done, TAMPERED, "line 9 contradicts an earlier line", "line 9 (cell) belongs to no run that was under way")


@pytest.mark.parametrize("fact", ["outcome", "result", "label", "place"])
def test_a_line_that_tells_another_thing_than_its_cell(done, finds, fact):
    told = done.told()
    at = next(number for number, line in enumerate(told) if line[0] == "cell")
    told[at][1][fact] = "something else"
    done.rechain(told)
    finds(done, TAMPERED, "tells another thing than the cell")


def test_a_doctored_cell_that_a_later_run_kept(done, finds):
    digests = doctored(done)
    start, end = done.line("run_start"), done.line("run_end")
    begun = append(done.files.ledger, "run_start", "small", start.facts)
    facts = {**end.facts, "start": begun.digest, "cells": digests, "root": merkle_root(digests)}
    append(done.files.ledger, "run_end", "small", facts)
    finds(done, TAMPERED, "line 10 gives cell", "another digest than the line that recorded it")


def test_a_locked_registration_turned_into_a_replication(done, finds):
    observed = '[[published.observation]]\ngraph = "grid-8"\nbudget = 16\nmethod = {method}\nvalues = {values}\n'
    done.edit('status = "confirmatory"', 'status = "replication"')
    invented = observed.format(method='"alt"', values="[90.0]")
    invented += observed.format(method='"random-subset"', values="[80.0, 80.5, 81.0]")
    published = f'[published]\nsource = "us"\nseeds = [1, 2, 3]\nviolations = 0\n{invented}'
    done.toml.write_text(done.toml.read_text() + published)
    finds(done, TAMPERED, "published is {", "in the file, but None was locked")


def test_a_ledger_begun_anew_beside_an_old_study(done, capsys, finds):
    done.files.ledger.unlink()
    for path in done.files.locks():
        path.unlink()
    text = done.toml.read_text()
    done.toml.unlink()
    other = Registered(done.root)
    other.toml = done.toml.with_name("other.toml")
    other.toml.write_text(text.replace('id = "small"', 'id = "other"'))
    other.files = type(done.files)(other.toml)
    assert other.call("lock") == 4
    assert "notes line 2 (run_start), which is not in the ledger" in capsys.readouterr().err
    (done.study / NOTE).rename(done.root / "aside")
    assert other.call("lock") == 0
    (done.root / "aside").rename(done.study / NOTE)
    finds(other, TAMPERED, "notes line 2 (run_start), which is not in the ledger: the ledger was cut short")


def test_a_run_is_not_begun_on_a_ledger_that_was_cut(done, capsys):
    whole = done.files.ledger.read_bytes()
    done.files.ledger.write_bytes(whole[:-20])
    assert done.run() == 4
    assert "Restore it from a copy, or move the study away" in capsys.readouterr().err
    assert done.files.ledger.read_bytes() == whole[:-20]


def test_words_amended_after_a_run_are_told(done, verified):
    done.edit("a small one", "a closing price of my choice")
    assert done.call("amend", "--reason", "typo") == 0
    record = verified(done)
    assert "title was amended in line 9, after a run had begun; before: 'a small one'." in record["notes"]
    assert {one["standing"] for one in record["predictions"]} == {"confirmatory"}


def amended(done, registration, **facts):
    """Write a lock of this registration and its line, by an author who fills the line himself."""
    before = read_lock(done.files.locks()[0])
    body = {**before.body, "registration": registration, "nonce": "0" * 32}
    lock = Lock(digest(body, TAG), body)
    write_lock(done.files.lock(lock.digest), lock)
    append(done.files.ledger, "amend", "small", {"lock": lock.digest, "reason": "typo", "seen": True, **facts})
    return lock


def test_an_amendment_that_hides_its_words(done, verified):
    done.edit("a small one", "a closing price of my choice")
    amended(done, plain(read_registration(done.toml).record()), difference=[])
    assert "title was amended in line 9, after a run had begun; before: 'a small one'." in verified(done)["notes"]


OTHER_EVIDENCE = (
    {"claims": {"deterministic": True}},
    {"audit": {"violations": {"admissible": 7, "consistent": 0, "optimal": 0}}},
    {"bytes": {"measured": 1}},
)


@pytest.mark.parametrize("change", OTHER_EVIDENCE, ids="-".join)
def test_other_evidence_under_a_lock_of_another_name(done, verified, change):
    """The same rows, but what else verdicts use is another: the cells have other names under the new lock."""
    done.edit("a small one", "a smaller one")
    lock = amended(done, plain(read_registration(done.toml).record()), difference=[])
    start, end = done.line("run_start"), done.line("run_end")
    begun = append(done.files.ledger, "run_start", "small", {**start.facts, "lock": lock.digest})
    old = done.cells()
    for cell in old:
        key = {**cell.key, "lock": lock.digest}
        mine = cell.key["label"] == "random-subset"
        (name, values), *_ = change.items()
        told = {**cell.record[name], **values} if mine else cell.record[name]
        commit(done.study, cell_id(key), {**cell.record, "key": key, "lock": lock.digest, name: told}, cell.files)
    digests = {}
    for cell in done.cells():
        if cell.record["lock"] == lock.digest:
            append(done.files.ledger, "cell", "small", done._line_facts(cell, begun.digest))
            digests[cell.cell_id] = stored_evidence(cell)
    facts = {**end.facts, "lock": lock.digest, "start": begun.digest, "cells": digests, "root": merkle_root(digests)}
    append(done.files.ledger, "run_end", "small", facts)
    record = verified(done)
    assert {one["standing"] for one in record["predictions"]} == {"exploratory"}
    assert any("Run again after it failed or with other results" in note for note in record["notes"])


def test_an_amendment_of_nothing(done, finds):
    amended(done, plain(read_registration(done.toml).record()), difference=[])
    finds(done, ORDER, "line 9 (amend) changes nothing in the registration")


def test_a_plugin_added_by_an_amendment_of_words(done, capsys):
    helper = done.root / "helper.py"
    helper.write_text("import aacbench  # and could change what it does\n")
    done.edit("a small one", "a smaller one")
    assert done.call("amend", "--reason", "typo", "--plugin", helper) == 0
    assert "Exploratory from now on: admissible, ahead, same." in capsys.readouterr().out


def test_a_cell_lost_before_an_amendment_does_not_stay_missing(locked, run_study, verified):
    run = locked.begin_run(run_study)
    first = run_study.cells()[0]
    run.enter(first.cell_id, first.record, first.files)  # killed before it was stored
    locked.edit("a small one", "a smaller one")
    assert locked.call("amend", "--reason", "typo") == 0
    locked.simulate_run(run_study)
    verified(locked)


def test_a_prediction_amended_and_reverted_is_explained(done, verified):
    for old, new in (("high = 20", "high = 40"), ("high = 40", "high = 20")):
        done.edit(old, new)
        assert done.call("amend", "--reason", "a thought") == 0
    record = verified(done)
    assert "ahead is exploratory: it, or how it is run and judged, was amended in line 11." in record["notes"]


def test_a_title_of_spaces_cannot_imitate_a_check(tmp_path, capsys):
    made = project(tmp_path, title=("a small one", "small" + " " * 100 + "ok  anchor: stamped"))
    assert made.call("lock") == 0
    assert made.call("verify") == INCOMPLETE
    assert "small: small ok anchor: stamped (confirmatory" in capsys.readouterr().out


def test_a_plugin_that_was_not_there_when_it_was_locked(locked, capsys, verified):
    helper = locked.root / "helper.py"
    helper.write_text("import aacbench  # and could change what it does\n")
    assert locked.run("--plugin", helper) == 4
    assert "The run differs from the lock in plugin (loaded helper: None -> " in capsys.readouterr().err
    assert [line.event for line in locked.entries()] == ["lock"]
    assert locked.call("deviate", "--plugin", helper, "--reason", "it draws figures") == 0
    assert locked.run("--plugin", helper) == 0
    record = verified(locked)
    assert record["declared_deviations"][0].startswith("plugin (loaded helper: None -> ")
    assert "helper" in locked.line("run_start").facts["plugins"]


def test_a_run_with_a_plugin_that_was_not_locked(done, finds):
    told = done.told()
    told[1][1]["plugins"] = {"helper": "0" * 64}
    done.rechain(told)
    finds(done, DEVIATION, "used other code than was locked: plugin (loaded helper: None -> 00000000)")


def test_every_other_registration_of_the_ledger_is_named(done, verified):
    other = Registered(done.root)
    other.toml = done.toml.with_name("other.toml")
    text = done.toml.read_text().replace('id = "small"', 'id = "other"')
    other.toml.write_text(text.replace('"grid-8"', '"maze-8"'))
    assert other.call("lock") == 0
    assert verified(done)["notes"] == ["The ledger also has registrations of other methods or graphs: other."]


def test_each_try_of_a_failed_cell_counts(tmp_path, run_study, verified):
    made = project(tmp_path, reruns=("seeds = [1, 2, 3]", "seeds = [1, 2, 3]\nreruns = 1"))
    assert made.call("lock") == 0
    cell = run_study.cells("random-subset")[0]
    others = [one for one in run_study.cells() if one.cell_id != cell.cell_id]
    for number in range(4):
        run = made.begin_run(run_study)
        for one in others if number == 0 else ():
            made.store(run, one)
        made.store(run, cell, **({"outcome": "error", "reason": "unlucky"} if number < 3 else {}))
        run.end()
    record = verified(made)
    assert {one["standing"] for one in record["predictions"]} == {"exploratory"}
    (note,) = [note for note in record["notes"] if note.startswith("Run again after it failed")]
    assert note.count("error in line") == 3
    assert not any("Recorded, then missing" in note for note in record["notes"])


def test_a_lock_that_was_killed_before_its_line_is_a_warning(done, verified):
    (path,) = done.files.locks()
    shutil.copyfile(path, done.files.folder / f"small.{'0' * 12}.lock.json")
    (warning,) = [check for check in verified(done)["checks"] if check["status"] == "warning"]
    assert "is in no line of the ledger" in warning["evidence"]


def test_a_file_in_place_of_the_studys_folder(locked, capsys):
    locked.study.parent.mkdir(exist_ok=True)
    locked.study.write_text("not a folder")
    assert locked.run() == SCHEMA
    assert "is not a folder" in capsys.readouterr().err


def test_a_line_from_the_future_is_a_warning(done, verified):
    told = done.told()
    event, facts, _, before = told[-1]
    told[-1] = (event, facts, "2999-01-01T00:00:00.000+00:00", before)
    done.rechain(told)
    (warning,) = [check for check in verified(done)["checks"] if check["status"] == "warning"]
    assert "line 8 of the ledger is dated 2999-01-01" in warning["evidence"]


def test_the_facts_of_a_line_are_those_of_its_cell(run_study):
    for line in run_study.entries():
        if line.event == "cell":
            cell = next(one for one in run_study.cells() if one.cell_id == line.facts["cell"])
            assert line.facts.items() >= cell_facts(cell.cell_id, cell.record, cell.record["files"]).items()
