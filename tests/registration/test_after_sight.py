"""Changes made after results could be seen are reported, and make predictions exploratory."""

import json

import pytest
from registration.studies import ANCHOR, INCOMPLETE, Registered, improved

from aacbench.prereg.amend import affected_predictions
from aacbench.prereg.key_diff import Change
from aacbench.prereg.ledger import append
from aacbench.prereg.lock import Lock, tree_digest
from aacbench.run.layout import cell_id
from aacbench.run.store import commit

ALL = {"ahead", "same", "admissible"}


def verified(registered, capsys):
    """The exit code and the results of verify."""
    capsys.readouterr()
    code = registered.call("verify", "--json")
    return code, json.loads(capsys.readouterr().out)


def exploratory(record):
    return {one["prediction"]["id"] for one in record["predictions"] if one["standing"] == "exploratory"}


def another(done, **changes):
    """Lock the same words under another name, in the same ledger."""
    text = done.toml.read_text().replace('id = "small"', 'id = "other"')
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    (done.toml.parent / "other.toml").write_text(text)
    made = Registered(done.root)
    made.toml = done.toml.parent / "other.toml"
    assert made.call("lock") == 0
    return made


def test_the_same_cells_registered_anew_under_another_name(done, capsys):
    again = another(done, wider=("high = 20", "high = 40"))
    locked = capsys.readouterr().out
    code, record = verified(again, capsys)
    assert code == INCOMPLETE  # it was not run itself
    assert exploratory(record) == ALL
    named, note = record["notes"]
    assert named == (
        "Another registration of the ledger is about the same cells: small (locked in line 1, run in line 2)."
    )
    assert note == (
        "Results of the same methods on the same queries could have been seen before, under small (line 2), so these "
        "are exploratory: ahead, same, admissible."
    )
    assert f"\nNote: {note}\n" in locked


def test_a_default_that_is_spelt_out_makes_no_other_method(done, capsys):
    spelt = another(
        done,
        contrasts=('b = "random-subset"', 'b = "random-subset[K0=64]"'),
        method=('name = "random-subset"', 'name = "random-subset"\nsettings = { K0 = 64 }'),
    )
    assert exploratory(verified(spelt, capsys)[1]) == ALL


def test_other_queries_are_another_matter(done, capsys):
    _, record = verified(another(done, queries=("seed = 7", "seed = 8")), capsys)
    assert exploratory(record) == set()
    (note,) = record["notes"]  # it is named all the same
    assert note.startswith("Another registration of the ledger is about the same cells: small")


def test_a_method_that_had_not_been_run_is_another_matter(done, capsys):
    other = another(done, method=('"random-subset"', '"fps-rr10"'))
    assert exploratory(verified(other, capsys)[1]) == set()


def test_a_registration_that_was_locked_before_the_others_run(locked, run_study, capsys):
    other = another(locked)
    locked.simulate_run(run_study)
    assert exploratory(verified(other, capsys)[1]) == set()


def test_a_prediction_taken_out_is_still_judged(done, capsys):
    verdict = next(one for one in verified(done, capsys)[1]["predictions"] if one["prediction"]["id"] == "same")[
        "verdict"
    ]
    text = done.toml.read_text()
    first, last = text.index('[[prediction]]\nid = "same"'), text.index('[[prediction]]\nid = "admissible"')
    done.toml.write_text(text[:first] + text[last:])
    assert done.call("amend", "--reason", "it was not needed") == 0
    code, record = verified(done, capsys)
    assert code == 0
    assert f"same was removed after a run had begun; its original verdict: {verdict}." in record["notes"]


def test_a_prediction_amended_is_judged_as_it_was_too(done, capsys):
    done.edit("low = 0\nhigh = 20", "low = -60\nhigh = 20")
    assert done.call("amend", "--reason", "wider") == 0
    _, record = verified(done, capsys)
    assert exploratory(record) == {"ahead"}
    assert record["notes"] == ["ahead was amended after a run had begun; its original verdict: survived."]


def test_what_was_amended_before_the_run_needs_no_note(locked, run_study, capsys):
    locked.edit("high = 20", "high = 40")
    assert locked.call("amend", "--reason", "wider") == 0
    locked.simulate_run(run_study)
    code, record = verified(locked, capsys)
    assert (code, exploratory(record), record["notes"]) == (0, set(), [])


def rerun_with_another_plugin(done):
    """As the tool would: new cells beside the old ones, and two lines for the run."""
    for cell in done.cells("random-subset"):
        key = {**cell.key, "plugin_digest": "0" * 64}
        rows = {"queries.csv": improved(cell.files["queries.csv"])}
        commit(done.study, cell_id(key), {**cell.record, "key": key}, {**cell.files, **rows})
    done.rerun()


def estimate(record, name="ahead"):
    found = next(one for one in record["predictions"] if one["prediction"]["id"] == name)
    return found["effects"]["alt against random-subset"]["estimate"]


def test_a_deviation_declared_once_results_could_be_seen(done, capsys):
    before = estimate(verified(done, capsys)[1])
    rerun_with_another_plugin(done)
    assert done.call("deviate", "--what", "plugin", "--reason", "mended") == 0
    code, record = verified(done, capsys)
    assert code == 0
    assert exploratory(record) == ALL
    (declared,) = record["declared_deviations"]
    assert declared.startswith("plugin (plugin_digest: ")
    assert declared.endswith(" -> 00000000): mended (after results could have been seen)")
    assert record["notes"][0] == ("Cells of random-subset have deviations declared after results could have been seen.")
    # All of the newer rows are judged, and none of the older: one expansion fewer in one query of each seed.
    dijkstra, queries = done.cells("dijkstra")[0].record["means"]["test"], 12
    assert estimate(record) == pytest.approx(before - 100 / queries / dijkstra)


def test_a_deviation_declared_before_the_run(done, capsys):
    cell = done.cells("random-subset")[0]
    change = Change("plugin", "plugin_digest", cell.key["plugin_digest"], "0" * 64).record()
    done.rekey(cell, plugin_digest="0" * 64)
    done.record_again()
    lock, start, *rest = done.told()
    deviate = ("deviate", {"what": ["plugin"], "changes": [change], "reason": "mended"}, start[2], "deviation")
    done.rechain([lock, deviate, start, *rest])
    code, record = verified(done, capsys)
    assert (code, exploratory(record), record["notes"]) == (0, set(), [])


def test_runs_that_came_out_differently_confirm_nothing(done, capsys):
    cell = done.cells("random-subset")[0]
    done.replace_rows(cell, improved(cell.files["queries.csv"]))
    done.rerun()
    assert done.call("deviate", "--what", "again", "--reason", "the method is not deterministic") == 0
    code, record = verified(done, capsys)
    assert (code, exploratory(record)) == (0, ALL)


def test_other_code_locked_by_an_amendment_of_a_word(done, capsys, monkeypatch):
    """No prediction is reworded, but other code would be run."""
    done.edit("a small one", "a smaller one")
    monkeypatch.setattr("aacbench.prereg.lock.tree_digest", lambda: "0" * 64)
    assert done.call("amend", "--reason", "a better title") == 0
    assert done.entries()[-1].facts["predictions"] == sorted(ALL)
    assert exploratory(verified(done, capsys)[1]) == ALL


@pytest.mark.parametrize("part", ["methods", "data", "cells", "code"], ids="the {}".format)  # "data" is a mark
def test_a_lock_of_something_else_touches_every_prediction(part):
    registration = {"prediction": [{"id": "one"}, {"id": "two"}]}
    body = {"registration": registration, "methods": {}, "data": {}, "cells": [], "code": {}}
    assert affected_predictions(Lock("a", body), Lock("b", body)) == set()
    assert affected_predictions(Lock("a", body), Lock("b", {**body, part: "another"})) == {"one", "two"}


def test_a_required_anchor_amended_away_after_the_run(locked, capsys):
    locked.edit("[analysis]", '[anchors]\nrequired = ["ssh"]\n\n[analysis]')
    assert locked.call("amend", "--reason", "an anchor is wanted") == 0
    lock = locked.entries()[-1].facts["lock"]
    facts = {"lock": lock, "study": "../studies/small", "code": tree_digest()}
    start = append(locked.files.ledger, "run_start", "small", facts)
    cell = {"cell": "0" * 24, "digest": "0" * 64, "outcome": "ok", "result": "0" * 64, "label": "alt", "place": "alt"}
    append(locked.files.ledger, "cell", "small", {"lock": lock, "start": start.digest, **cell})
    locked.edit('[anchors]\nrequired = ["ssh"]\n\n', "")
    assert locked.call("amend", "--reason", "none is wanted any more") == 0
    code, record = verified(locked, capsys)
    assert code == ANCHOR
    assert any("no ssh anchor from before the run" in check["evidence"] for check in record["checks"])


def test_the_log_of_a_run_under_an_older_lock_is_looked_at_too(done, capsys):
    path = next(done.study.glob("runs/*/run.json"))
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "started": "2020-01-01T00:00:00.000+00:00"}))
    done.edit("a small one", "a smaller one")
    assert done.call("amend", "--reason", "a better title") == 0
    code, record = verified(done, capsys)
    assert code == 0
    assert "before the lock" in next(check for check in record["checks"] if check["status"] == "warning")["evidence"]
