"""What an author may try who knows the results: blanket deviations, planted files, many predictions, forged text."""

import json
import shutil

import numpy as np
import pytest
from cli.command import JUDGED, command
from registration.studies import DEVIATION, INCOMPLETE, SCHEMA, TAMPERED, Registered, project

from aacbench.prereg.ledger import append
from aacbench.run.layout import ARTIFACTS
from aacbench.util import array_store

ALL = {"ahead", "same", "admissible"}


@pytest.fixture
def verified(capsys):
    """Verify, check the exit code, and return the results and what was printed."""

    def verify(registered, code=0):
        capsys.readouterr()
        assert registered.call("verify") == code
        return registered.results(), capsys.readouterr().out

    return verify


def standings(record):
    return {one["prediction"]["id"]: one["standing"] for one in record["predictions"]}


# Deviations declared in advance.


def test_a_blanket_deviation_is_not_taken(locked, capsys):
    assert locked.call("deviate", "--what", "plugin", "--reason", "just in case") == SCHEMA
    assert (
        "Nothing in plugin differs from the lock that was not declared; make the change first"
        in capsys.readouterr().err
    )
    assert [line.event for line in locked.entries()] == ["lock"]


def test_a_blanket_deviation_in_the_ledger_covers_nothing(locked, run_study, verified):
    append(locked.files.ledger, "deviate", "small", {"what": ["plugin"], "reason": "just in case"})
    locked.simulate_run(run_study)
    locked.rekey(locked.cells("random-subset")[0], plugin_digest="0" * 64)
    locked.record_again()
    record, _ = verified(locked, DEVIATION)
    assert record["declared_deviations"] == ["plugin (it names no change, so it covers nothing): just in case"]


@pytest.fixture
def with_plugin(tmp_path):
    plugin = tmp_path / "judged.py"
    shutil.copyfile(JUDGED, plugin)
    made = project(tmp_path, method=('"random-subset"', '"plain"'))
    assert made.call("lock", "--plugin", plugin) == 0
    return made, plugin


def test_a_run_looked_at_and_repeated_with_a_plugin_declared_in_advance(with_plugin, verified, capsys):
    made, plugin = with_plugin
    original = plugin.read_text()
    better = original + "\n# another version\n"
    plugin.write_text(better)
    assert made.call("deviate", "--plugin", plugin, "--reason", "may be mended") == 0
    (change,) = made.line("deviate").facts["changes"]
    assert (change["what"], change["field"]) == ("plugin", "plugin_digest")
    assert change["from"] != change["to"]
    assert f"-> {change['to'][:8]})" in capsys.readouterr().out
    plugin.write_text(original)
    assert made.run("--plugin", plugin) == 0
    plugin.write_text(better)
    assert made.run("--plugin", plugin) == 0
    record, _ = verified(made, INCOMPLETE)  # the plugin reports its memory itself, so some cannot be judged
    assert set(standings(record).values()) == {"confirmatory"}  # the results are the same
    plugin.write_text(better.replace("# another version", "# a third version"))
    assert made.run("--plugin", plugin) == 4
    assert "differs from the lock in plugin" in capsys.readouterr().err


def test_a_second_run_with_other_results_is_exploratory_and_both_verdicts_are_told(done, verified):
    """The deviation was declared exactly, before the first run; yet only the second run uses it."""
    cells = done.cells("random-subset")
    change = {"what": "plugin", "field": "plugin_digest", "from": cells[0].key["plugin_digest"], "to": "0" * 64}
    lock, *rest = done.told()
    declared = ("deviate", {"what": ["plugin"], "changes": [change], "reason": "both are planned"}, lock[2], "new")
    done.rechain([lock, declared, *rest])
    for cell in cells:
        key = {**cell.key, "plugin_digest": "0" * 64}
        rows = worse(cell.files["queries.csv"])
        done.add(cell, key, rows)
    done.rerun()
    record, out = verified(done)
    assert set(standings(record).values()) == {"exploratory"}
    (first,) = [note for note in record["notes"] if note.startswith("By the run in line 3 alone")]
    (second,) = [note for note in record["notes"] if note.startswith("By the run in line 10 alone")]
    assert "ahead survived" in first
    assert "ahead falsified, magnitude" in second
    assert f"Note: {first}" in out


def worse(rows):
    """A hundred expansions more in every query."""
    first, *lines = rows.decode().splitlines()
    at = first.split(",").index("expanded")
    split = [line.split(",") for line in lines]
    more = [[*line[:at], str(int(line[at]) + 100), *line[at + 1 :]] for line in split]
    return "\n".join([first, *(",".join(line) for line in more), ""]).encode()


# Planted files.


def test_a_planted_pool_is_not_believed(locked, run_study):
    """Distances that are too short, in the folder that a run takes pools from, with their digest made right."""
    free = locked.root / "free"
    words = ("--methods", "alt,random-subset", "--graphs", "grid-8", "--budgets", "16", "--seeds", "1,2,3")
    assert command("run", *words, "--workers", 1, "--out", free) == 0
    shutil.copytree(free / ARTIFACTS, locked.study / ARTIFACTS)
    assert plant(locked.study / ARTIFACTS)
    assert locked.run() == 0
    rows = {cell.cell_id: cell.files["queries.csv"] for cell in run_study.cells()}
    assert {cell.cell_id: cell.files["queries.csv"] for cell in locked.cells()} == rows


def plant(folder):
    """Spoil every stored pool, and make its digest right; return how many there were."""
    found = list(folder.glob("*/*/forward.npy"))
    for file in found:
        distances = np.load(file) // 2
        np.save(file, distances)
        meta = file.with_name("meta.json")
        record = json.loads(meta.read_text())
        record["sha256"]["forward"] = array_store.sha256_of(distances)
        meta.write_text(json.dumps(record))
    return len(found)


def test_a_bound_run_says_that_it_computes_its_own(locked, capsys):
    assert locked.run() == 0
    assert "landmark pools and references are computed anew" in capsys.readouterr().err
    assert not list((locked.study / ARTIFACTS).glob("*/*/forward.npy"))
    assert not list(locked.study.glob(".unfinished*"))


# Several predictions about the same cells.


def beside(registered, name, **changes):
    """Lock another registration in the same ledger."""
    text = registered.toml.read_text().replace('id = "small"', f'id = "{name}"')
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    made = Registered(registered.root)
    made.toml = registered.toml.with_name(f"{name}.toml")
    made.toml.write_text(text)
    assert made.call("lock") == 0
    return made


def test_contradictory_predictions_of_which_one_is_withdrawn(locked, run_study, verified):
    other = beside(locked, "opposite", band=("low = 0\nhigh = 20", "low = -20\nhigh = 0"))
    locked.simulate_run(run_study)
    assert other.call("withdraw", "--reason", "not needed") == 0
    record, out = verified(locked)
    (note,) = record["notes"]
    assert note == (
        "Another registration of the ledger is about the same cells: opposite (locked in line 2, not run, withdrawn in "
        "line 10: not needed)."
    )
    assert note in out


def test_an_earlier_lock_deleted_does_not_make_a_later_one_confirmatory(done, verified):
    other = beside(done, "later", band=("high = 20", "high = 40"))
    record = verified_without_run(other, verified)
    assert set(standings(record).values()) == {"exploratory"}
    for path in done.files.locks():
        path.unlink()
    done.toml.unlink()
    record = verified_without_run(other, verified)
    assert set(standings(record).values()) == {"exploratory"}
    assert "its lock file is missing or changed, so it counts as being so" in record["notes"][0]


def verified_without_run(registered, verified):
    registered.files = registered.files.__class__(registered.toml)
    return verified(registered, 7)[0]


# Forged text.


@pytest.mark.parametrize("forged", [b'"registration":"other","registration":"small"', b'"registration": "small"'])
def test_a_line_that_is_not_as_it_was_written_is_not_an_entry(done, verified, forged):
    """A key twice, of which readers take one or the other; white space, which could hide something."""
    lines = done.lines()
    lines[1] = lines[1].replace(b'"registration":"small"', forged)
    done.write_lines(lines)
    record, _ = verified(done, TAMPERED)
    assert "line 2 of the ledger is not a valid entry" in record["checks"][0]["evidence"]


def test_a_lock_with_a_key_twice_is_not_a_lock(done, verified):
    (path,) = done.files.locks()
    path.write_text(path.read_text().replace('"high": 20', '"high": 40, "high": 20'))
    record, _ = verified(done, TAMPERED)
    assert any("cannot be read" in check["evidence"] for check in record["checks"])


FORGED = "nice\\n\\nT3: anchored and seeded"


def test_a_title_cannot_look_like_a_tier(tmp_path, verified):
    made = project(tmp_path, title=("a small one", FORGED))
    assert made.call("lock") == 0
    _, out = verified(made, 7)
    assert "T3" not in [line[:2] for line in out.splitlines()]
    assert "small: nice T3: anchored and seeded (confirmatory" in out


@pytest.mark.parametrize("verb", ["withdraw", "close"])
def test_a_reason_cannot_look_like_a_tier(done, verified, capsys, verb):
    reason = "nice\n\nT3: anchored\x1b[2J"
    assert done.call(verb, "--reason", reason) == 0
    _, out = verified(done)
    assert done.call("status") == 0
    out += capsys.readouterr().out
    assert "T3" not in [line[:2] for line in out.splitlines()]
    assert "\x1b" not in out
