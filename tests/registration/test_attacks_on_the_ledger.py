"""Attacks on the ledger: lines removed, moved, cut off or inserted, and a wrong order."""

import json

import pytest
from cli.command import command
from registration.studies import ORDER, TAMPERED

from aacbench.prereg.ledger import make_entry
from aacbench.prereg.verify import TORN
from aacbench.run.layout import REGISTRATION as NOTE


def test_a_run_that_began_before_the_lock(done, finds):
    lock, start, *rest = done.told()
    done.rechain([(*start[:2], lock[2], start[3]), lock, *rest])
    finds(done, ORDER, "line 1 (run_start) comes before the lock in line 2")


def test_a_run_under_a_lock_that_was_never_made(done, finds):
    told = done.told()
    told[1][1]["lock"] = "0" * 64
    done.rechain(told)
    finds(done, ORDER, "line 2 (run_start) names a lock that did not exist yet")


def test_a_run_whose_own_log_is_older_than_the_lock(done, finds):
    path = next(done.study.glob("runs/*/run.json"))
    record = json.loads(path.read_bytes())
    path.write_text(json.dumps({**record, "started": "2020-01-01T00:00:00.000+00:00"}))
    record = finds(done, 0)  # the ledger has the order, so the clock may have been wrong
    checks = {check["name"]: check for check in record["checks"]}
    assert checks["clocks"]["status"] == "warning"
    assert "began at 2020-01-01T00:00:00.000+00:00, before the lock" in checks["clocks"]["evidence"]


@pytest.mark.parametrize("at", [0, 1])
def test_a_line_of_the_ledger_dropped(done, finds, at):
    lines = done.lines()
    del lines[at]
    done.write_lines(lines)
    finds(done, TAMPERED, f"line {at + 1} of the ledger was written as line {at + 2}")


def test_two_lines_of_the_ledger_reordered(done, finds):
    first, second, third, *rest = done.lines()
    done.write_lines([first, third, second, *rest])
    finds(done, TAMPERED, "line 2 of the ledger was written as line 3: lines were removed or moved")


def test_the_last_line_of_the_ledger_dropped(done, finds):
    done.write_lines(done.lines()[:-1])
    finds(done, TAMPERED, "notes line 8 (run_end), which is not in the ledger: the ledger was cut short")


def test_the_last_line_of_the_ledger_cut_in_the_middle(done, finds):
    done.files.ledger.write_bytes(done.files.ledger.read_bytes()[:-20])
    record = finds(done, TAMPERED, "notes line 8 (run_end), which is not in the ledger: the ledger was cut short")
    assert TORN in record["events"]


def test_a_line_inserted_with_its_own_hash_right(done, finds):
    first, *rest = done.lines()
    forged = make_entry(2, "deviate", "small", {"what": ["seed"], "reason": "none"}, "0" * 64, done.entries()[0].time)
    done.write_lines([first, forged.line(), *rest])
    finds(done, TAMPERED, "line 2 of the ledger does not follow the line before it")


def test_a_line_inserted_into_the_chain(done, finds):
    lines = done.entries()
    forged = make_entry(2, "deviate", "small", {"what": ["seed"], "reason": "none"}, lines[0].digest, lines[0].time)
    done.write_lines([lines[0].line(), forged.line(), lines[1].line(), lines[2].line()])
    finds(done, TAMPERED, "line 3 of the ledger was written as line 2")


def test_a_ledger_removed(done, finds):
    done.files.ledger.unlink()
    finds(done, TAMPERED, "the registration is not locked")


def test_amended_after_results_were_seen_and_claimed_confirmatory(done, finds):
    done.edit("high = 20", "high = 40")
    assert done.call("amend", "--reason", "it looks better") == 0
    told = done.told()
    events = [event for event, *_ in told if event != "cell"]
    assert events == ["lock", "run_start", "run_end", "amend", "exploratory"]
    assert told[-2][1]["seen"] is True
    told[-2][1]["seen"] = False
    done.rechain(told[:-1])
    finds(done, ORDER, "line 9 says that no results had been seen before the amendment, but a run had begun")


def test_an_amendment_cut_off_the_ledger_again(done, finds):
    text = done.toml.read_text()
    done.edit("high = 20", "high = 40")
    assert done.call("amend", "--reason", "it looks better") == 0
    done.write_lines(done.lines()[:8])
    done.toml.write_text(text)
    checks = finds(done, TAMPERED, "notes line 9 (amend), which is not in the ledger")["checks"]
    assert any(check["status"] == "warning" and "is in no line of the ledger" in check["evidence"] for check in checks)


@pytest.mark.parametrize("fact", ["cells", "root", "start", "study"])
def test_a_line_that_does_not_tell_what_it_must(done, finds, fact):
    told = done.told()
    told[-1][1][fact] = {"a": 1} if fact == "cells" else None
    done.rechain(told)
    finds(done, TAMPERED, "line 8 of the ledger is not a valid entry")


@pytest.mark.parametrize("junk", ["{", "[]", '{"lines": 1}', '{"lines": [1]}'])
def test_the_note_of_the_study_edited(done, finds, junk):
    (done.study / "registration.json").write_text(junk)
    finds(done, TAMPERED, "registration.json was changed")


@pytest.mark.parametrize(
    ("verb", "words"), [("withdraw", ()), ("close", ()), ("deviate", ("--what", "plugin")), ("amend", ())]
)
def test_what_was_written_after_the_run_is_cut_off_again(done, finds, verb, words):
    if verb == "amend":
        done.edit("a small one", "a smaller one")
    if verb == "deviate":
        done.rekey(done.cells("random-subset")[0], plugin_digest="0" * 64)
        done.record_again()
    assert done.call(verb, "--reason", "it did not come out well", *words) == 0
    done.write_lines(done.lines()[:-1])
    finds(done, TAMPERED, f"notes line 9 ({verb}), which is not in the ledger")


def test_every_line_of_a_run_cut_off(done, finds):
    done.write_lines(done.lines()[:1])
    finds(done, TAMPERED, "notes line 2 (run_start), which is not in the ledger")


def test_the_note_of_the_study_removed(done, finds):
    (done.study / NOTE).unlink()
    finds(done, TAMPERED, "has no registration.json")


DEEP = "[" * 100_000


@pytest.mark.parametrize("which", ["ledger", "lock", "note"])
def test_json_too_deep_to_be_read(done, finds, which):
    paths = {"ledger": done.files.ledger, "lock": done.files.locks()[0], "note": done.study / NOTE}
    paths[which].write_text(DEEP + "\n")
    finds(done, TAMPERED)


def test_a_registration_whose_file_was_removed(done, monkeypatch, capsys):
    monkeypatch.chdir(done.root)
    assert command("prereg", "verify") == 0
    done.toml.unlink()
    assert command("prereg", "verify") == TAMPERED
    assert "but its file prereg/small.toml is missing" in capsys.readouterr().err


def test_a_registration_that_was_renamed(done, monkeypatch, capsys):
    monkeypatch.chdir(done.root)
    text = done.toml.read_text().replace('id = "small"', 'id = "new"')
    done.toml.rename(done.toml.with_name("new.toml")).write_text(text)
    assert command("prereg", "verify") == TAMPERED
    assert "prereg/small.toml is missing" in capsys.readouterr().err
