"""Writing, planning, locking, amending and ending a registration."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from cli.command import command
from made_studies import made_cell, made_study
from registration.studies import SMALL

from aacbench.cli.prereg_actions import lock_file
from aacbench.errors import UsageError
from aacbench.prereg.amend import differences, reworded_predictions
from aacbench.prereg.binding import merkle_root
from aacbench.prereg.cautions import cautions
from aacbench.prereg.files import uncommitted
from aacbench.prereg.key_diff import match
from aacbench.prereg.lock import read_lock, tree_digest
from aacbench.prereg.power import outlooks
from aacbench.prereg.schema import parse_registration, read_registration
from aacbench.run.study import planned_cells


@pytest.mark.parametrize("protocol", ["quick", "valsplit", "retrospective"])
def test_a_new_one_is_whole_but_for_what_has_to_be_decided(tmp_path, capsys, protocol):
    path = tmp_path / "prereg" / "mine.toml"
    assert command("prereg", "new", path, "--from", protocol, "--title", 'a "title"') == 0
    found = read_registration(path)
    assert (found.id, found.title, found.prior_exposure) == ("mine", 'a "title"', "TODO")
    assert found.predictions[0].b.partition("[")[0] in ("random-subset", "aac")  # not alt-pool, which is alt again
    assert "Fill in every TODO" in capsys.readouterr().out
    assert command("prereg", "new", path, "--from", protocol, "--title", "again") == 2


def test_a_new_one_asks(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from aacbench.cli.prereg import prereg

    path = tmp_path / "mine.toml"
    done = CliRunner().invoke(prereg, ["new", str(path)], input="quick\nabout it\n")
    assert done.exit_code == 0, done.output
    assert read_registration(path).title == "about it"


def test_a_new_one_from_a_protocol_asks_nothing(tmp_path, capsys):
    path = tmp_path / "mine.toml"
    assert command("prereg", "new", path, "--from", "quick") == 0
    assert read_registration(path).title == "TODO"


def test_what_says_todo_is_not_locked(tmp_path, capsys):
    path = tmp_path / "mine.toml"
    command("prereg", "new", path, "--from", "quick", "--title", "mine")
    text = path.read_text().replace('["road-5000", "ba-10k", "grid-64"]', '["grid-8"]').replace("road-5000", "grid-8")
    path.write_text(text)
    assert command("prereg", "lock", path) == 2
    assert "prior_exposure still contains TODO" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("budgets = [16]", "budgets = [1, 16]", ""),
        (
            'a = "alt", b = "random-subset" }\nlow',
            'a = "alt[pool=avoid]", b = "alt" }\nlow',
            "the plan has no such cell",
        ),
        ('id = "small"', 'id = "large"', "must be the name of the file"),
    ],
)
def test_a_plan_that_is_not_resolved_is_not_locked(draft, capsys, old, new, sentence):
    draft.edit(old, new)
    if not sentence:
        draft.toml.write_text(draft.toml.read_text().replace("budget = 16", "budget = 1"))
        sentence = "which is unsupported: "
    assert draft.call("lock") == 2
    assert sentence in capsys.readouterr().err
    assert not draft.files.ledger.exists()


def test_a_lock_says_everything_down_to_each_cell(locked_study):
    (line,) = locked_study.entries()
    lock = read_lock(locked_study.files.lock(line.facts["lock"]))
    keys = [cell["key"] for cell in lock.cells]
    assert sorted((key["label"], key["seed"]) for key in keys) == [
        ("alt", 1),
        ("dijkstra", 1),
        ("random-subset", 1),
        ("random-subset", 2),
        ("random-subset", 3),
    ]
    subset = next(cell for cell in lock.cells if cell["key"]["label"] == "random-subset")
    assert subset["key"]["params"]["K"] == 4
    assert "K0" in subset["key"]["params"]
    assert subset["bytes_per_vertex"] == 16
    assert set(lock.body["data"]["grid-8"]["query_digests"]) == {"train", "validation", "test"}
    assert lock.body["methods"]["alt"]["origin"] == "built-in"
    assert lock.body["code"]["tree"] == tree_digest()
    assert lock.registration["analysis"]["profile"]["name"] == "crossed"
    assert match(lock, keys).deviating == ()


def test_two_locks_of_the_same_words_are_two_locks(locked_study, draft):
    assert draft.call("lock") == 0
    one, other = (found.entries()[0].facts for found in (locked_study, draft))
    assert one["registration_digest"] == other["registration_digest"]
    assert one["lock"] != other["lock"]


def test_a_second_lock_is_refused(locked, capsys):
    assert locked.call("lock") == 2
    assert "locked already" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_what_git_does_not_know_is_not_locked(draft):
    assert not uncommitted(draft.toml)
    subprocess.run(["git", "init", "-q", draft.root], check=True)
    assert uncommitted(draft.toml)
    with pytest.raises(UsageError, match="uncommitted changes"):
        lock_file(draft.toml, (), False)
    assert draft.call("lock", "--allow-dirty") == 0


def test_amended_before_the_run_everything_stays_confirmatory(locked, run_study, capsys):
    locked.edit("high = 20", "high = 30")
    assert locked.call("amend", "--reason", "the unit was mistaken") == 0
    said = capsys.readouterr().out
    assert "prediction.ahead.high: 20 -> 30" in said
    assert "No run has begun" in said
    line = locked.entries()[-1]
    assert line.facts["seen"] is False
    assert line.facts["difference"] == [{"key": "prediction.ahead.high", "before": 20, "after": 30}]
    assert read_lock(locked.files.lock(line.facts["lock"])).registration["prediction"][0]["high"] == 30
    locked.simulate_run(run_study)
    assert set(standing(locked).values()) == {"confirmatory"}


def standing(registered):
    assert registered.call("verify") == 0
    record = registered.results()
    return {one["prediction"]["id"]: one["standing"] for one in record["predictions"]}


def test_amended_after_the_run_what_was_changed_is_exploratory(done, capsys):
    done.edit("high = 20", "high = 30")
    assert done.call("amend", "--reason", "a wider band") == 0
    assert "Exploratory from now on: ahead." in capsys.readouterr().out
    assert standing(done) == {"ahead": "exploratory", "same": "confirmatory", "admissible": "confirmatory"}
    assert done.entries()[-1].facts["predictions"] == ["ahead"]


def test_words_may_be_amended_after_the_run(done):
    done.edit('title = "a small one"', 'title = "a very small one"')
    assert done.call("amend", "--reason", "a better title") == 0
    assert set(standing(done).values()) == {"confirmatory"}


def test_another_analysis_after_the_run_makes_all_exploratory(done):
    done.edit('profile = "crossed/1"', 'profile = "crossed/1"\nsensitivity = ["ratio_of_means"]')
    assert done.call("amend", "--reason", "one more estimand") == 0
    assert set(standing(done).values()) == {"exploratory"}


def test_nothing_to_amend(locked, capsys):
    assert locked.call("amend", "--reason", "none") == 2
    assert "nothing to amend" in capsys.readouterr().err


def test_what_a_change_touches():
    text = SMALL.read_text(encoding="utf-8")
    before = parse_registration(text).record()
    added = text.replace("[analysis]", '[[prediction]]\nid = "new"\nkind = "count"\nequals = 0\n\n[analysis]')
    one_more = parse_registration(added).record()
    assert reworded_predictions(before, one_more) == {"new"}
    assert [change["key"] for change in differences(before, one_more)] == ["prediction.new"]
    reseeded = parse_registration(text.replace("seeds = [1, 2, 3]", "seeds = [1, 2]")).record()
    assert reworded_predictions(before, reseeded) == {"ahead", "same", "admissible"}


def test_withdrawn_and_closed(done, capsys):
    assert done.call("withdraw", "--reason", "the graph was the wrong one") == 0
    assert done.run() == 2
    assert "was withdrawn on" in capsys.readouterr().err
    assert done.call("verify") == 0
    assert "The registration was withdrawn: the graph was the wrong one" in capsys.readouterr().out
    assert done.call("status") == 0
    assert "withdrawn" in capsys.readouterr().out


def test_closed(done):
    assert done.call("close", "--reason", "published") == 0
    assert done.call("amend", "--reason", "late") == 2
    assert done.call("deviate", "--what", "seed", "--reason", "late") == 2
    assert done.call("verify") == 0


def test_an_unknown_deviation_is_refused(locked, capsys):
    assert locked.call("deviate", "--what", "weather", "--reason", "rain") == 2
    assert "--what cannot be 'weather'" in capsys.readouterr().err


def test_the_power_of_a_plan(draft, capsys):
    assert draft.call("plan") == 0
    assert "same has no known spread over seeds" in capsys.readouterr().out
    draft.edit("[analysis]", "[power]\nsd = 2\n\n[analysis]")
    assert draft.call("plan") == 0
    assert "Warning: same has a power of 0.02; the target 0.8 needs 36 seeds" in capsys.readouterr().out
    assert draft.call("plan", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    ahead, same = record["predictions"]
    from aacbench.stats.power import power_tost, seeds_needed

    assert ahead["power"] == pytest.approx(power_tost(3, 2, 0, 10, 0.025))
    assert same["needed"] == seeds_needed(2, 0, 1, 0.05, 0.8)


def test_a_plan_with_one_seed_warns(draft, capsys):
    draft.edit("seeds = [1, 2, 3]", "seeds = [1]")
    assert draft.call("plan") == 0
    assert "Warning: same has one seed, so it says nothing about other seeds" in capsys.readouterr().out


def test_a_plan_of_a_ratio_that_is_open_below(draft, capsys):
    draft.edit("low = 0\nhigh = 20", 'estimand = "ratio_of_means"\nlow = 0\nhigh = 0.9')
    draft.edit("[analysis]", "[power]\nsd = 2\n\n[analysis]")
    assert draft.call("plan") == 0
    assert "Note: ahead is open on one side" in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["amend", "withdraw", "close"])
def test_a_reason_must_say_something(locked, capsys, verb):
    assert locked.call(verb, "--reason", " ") == 2
    assert "the reason must not be blank" in capsys.readouterr().err


def test_the_power_of_a_plan_from_pilot_rows(run_study, draft, capsys):
    assert draft.call("plan", "--pilot", run_study.study, "--json") == 0
    same = json.loads(capsys.readouterr().out)["predictions"][1]
    assert same["sd_from"] == "pilot rows"
    assert same["sd"] > 0


def without_seeds(draft):
    """The predictions, about two deterministic methods."""
    draft.edit('name = "random-subset"', 'name = "alt-pool"')
    draft.toml.write_text(draft.toml.read_text().replace('b = "random-subset"', 'b = "alt-pool"'))


def test_the_power_of_deterministic_methods_is_over_queries(draft, capsys):
    without_seeds(draft)
    draft.edit("seeds = [1, 2, 3]", "seeds = [1]")
    assert draft.call("plan") == 0
    assert (
        "same has no known spread over queries; set sd_queries in [power], or use --pilot." in capsys.readouterr().out
    )
    draft.edit("[analysis]", "[power]\nsd = 2\nsd_queries = 5\n\n[analysis]")
    assert draft.call("plan") == 0
    said = capsys.readouterr().out
    assert "It counts the spread over seeds" not in said
    assert re.search(r"Warning: same has a power of 0.00; the target 0.8 needs \d+ queries.", said)
    assert draft.call("plan", "--json") == 0
    ahead, _ = json.loads(capsys.readouterr().out)["predictions"]
    from aacbench.stats.power import power_tost

    queries = read_registration(draft.toml).study.queries.test
    assert (ahead["over"], ahead["number"], ahead["sd_from"]) == ("queries", queries, "declared")
    assert ahead["power"] == pytest.approx(power_tost(queries, 5, 0, 10, 0.025))
    draft.edit('profile = "crossed/1"', 'profile = "paper/1"')
    assert draft.call("plan") == 0
    assert "same has no seeds, because both methods are deterministic, and paper/1 tests" in capsys.readouterr().out


@pytest.mark.parametrize(("split", "counted"), [("validation", [3, 9]), ("test", [4, 7])])
def test_the_spread_over_queries_is_that_of_validation_rows_or_else_of_test_rows(draft, split, counted, tmp_path):
    without_seeds(draft)
    shares = {"graph": "grid-8", "budget": 16, "claims": {"deterministic": True}}
    rows = {"dijkstra": [20, 20], "alt": [1, 1], "alt-pool": counted}
    pilot = made_study(tmp_path / "pilot", [made_cell(name, row, split=split, **shares) for name, row in rows.items()])
    registration = read_registration(draft.toml)
    _, same = outlooks(registration, planned_cells(pilot), {"alt", "alt-pool"})
    effects = 100 * (np.array(counted) - 1) / 20
    assert same.sd == pytest.approx(effects.std(ddof=1))
    assert (same.sd_from, same.number) == (f"pilot's {split} rows", registration.study.queries.test)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"alt": [1, 1]}, "has no rows of alt-pool on grid-8 at 16 B/v"),
        ({}, "has no rows of alt and alt-pool on grid-8 at 16 B/v"),
        (
            {"alt": [1, 3], "alt-pool": [1, 3]},
            "shows no difference at all between alt and alt-pool on grid-8 at 16 B/v",
        ),
    ],
)
def test_a_pilot_without_a_spread_is_told(draft, capsys, tmp_path, rows, said):
    without_seeds(draft)
    shares = {"graph": "grid-8", "budget": 16, "claims": {"deterministic": True}}
    cells = [made_cell(name, row, **shares) for name, row in {"dijkstra": [20, 20], **rows}.items()]
    pilot = made_study(tmp_path / "pilot", cells)
    assert draft.call("plan", "--pilot", pilot) == 0
    printed = capsys.readouterr().out
    assert f"Note: same has no known spread over queries: {pilot} {said}.\n" in printed
    assert "--pilot." not in printed


SECOND = """
[[prediction]]
id = "second"
kind = "{kind}"
cell = {{ graph = "grid-8", budget = 16 }}
{words}

[analysis]"""
SWAPPED = 'contrast = { a = "random-subset", b = "alt" }'
AMONG = 'among = ["alt", "random-subset"]'


@pytest.mark.parametrize(
    ("kind", "words", "excluded"),
    [
        ("band", 'contrast = { a = "alt", b = "random-subset" }\nlow = 21\nhigh = 30', ["ahead", "same"]),
        ("band", f"{SWAPPED}\nlow = 2\nhigh = 30", ["ahead", "same"]),
        ("band", f"{SWAPPED}\nlow = -30\nhigh = 0.5", []),
        ("band", f'{SWAPPED}\nlow = 2\nhigh = 30\nestimand = "ratio_of_means"', []),
        ("ordering", f'best = "alt"\n{AMONG}', []),
    ],
)
def test_predictions_that_exclude_each_other_are_told(draft, kind, words, excluded):
    draft.edit("[analysis]", SECOND.format(kind=kind, words=words))
    said = [f"Warning: {name} and second cannot both survive." for name in excluded]
    assert list(cautions(read_registration(draft.toml), ())) == said


@pytest.mark.parametrize(("best", "excluded"), [("alt", False), ("random-subset", True)])
def test_orderings_that_exclude_each_other_are_told(draft, best, excluded):
    draft.edit("low = 0\nhigh = 20", "low = 0.5\nhigh = 20")
    draft.edit("[analysis]", SECOND.format(kind="ordering", words=f'best = "alt"\n{AMONG}'))
    more = SECOND.format(kind="ordering", words=f'best = "{best}"\n{AMONG}').replace("second", "third")
    draft.edit("[analysis]", more)
    found = list(cautions(read_registration(draft.toml), ()))
    assert ("Warning: second and third cannot both survive." in found) == excluded
    assert ("Warning: ahead and third cannot both survive." in found) == excluded


def test_plan_and_lock_warn_of_a_claim_that_a_method_does_not_make(draft, capsys):
    draft.toml.write_text(draft.toml.read_text().replace("random-subset", "cdh"))
    draft.edit('kind = "count"', 'kind = "count"\nof = "consistency"')
    for verb in ("plan", "lock"):
        assert draft.call(verb) == 0
        told = "Warning: admissible counts violations of consistency, but cdh does not claim it.\n"
        assert told in capsys.readouterr().out


def test_the_merkle_root_is_of_every_leaf():
    leaves = {f"{i:024x}": f"{i:064x}" for i in range(7)}
    roots = {merkle_root({**leaves, name: "f" * 64}) for name in leaves}
    assert len(roots | {merkle_root(leaves)}) == 8
    assert merkle_root(dict(reversed(leaves.items()))) == merkle_root(leaves)
