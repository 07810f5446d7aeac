"""`aacbench check`: results and exit codes, and a command that comes back whatever a plugin does."""

import json
from pathlib import Path

import pytest
from cli.command import command

CROW = Path(__file__).parent / "plugins" / "bounds.py"
HOPELESS = Path(__file__).parent / "plugins" / "hopeless.py"


def test_a_method_that_passes(capfd):
    assert command("check", "alt[K=1]", "--only", "builds,numbers", "--budgets", "8,24") == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["builds", "passed"]
    assert lines[-1] == "alt: 2 of 2 checks ran: 2 passed"


def test_a_method_made_of_others_is_checked_with_its_parts(capfd):
    words = ("--only", "parameters,within-budget,more-budget,other-process", "--budgets", "16,32")
    assert command("check", "hybrid[a=alt,b=random-subset]", *words) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "hybrid: 4 of 4 checks ran: 4 passed"


def test_parts_from_plugin_files_are_found_again_in_another_process(capfd):
    words = ("--plugin", CROW, "--only", "builds,other-process,bundle", "--budgets", "16")
    assert command("check", "hybrid-double[a=alt,b=bounds]", *words) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "hybrid-double: 3 of 3 checks ran: 3 passed"


@pytest.mark.parametrize("part", ["altt", "alt[Q=1]"])
def test_a_part_that_there_is_not_is_one_sentence(part, capfd):
    assert command("check", f"hybrid[a={part},b=alt]") == 2
    last = capfd.readouterr().err.splitlines()[-1]
    assert "Unknown method 'altt'" in last or "has no parameter 'Q'" in last


def test_a_method_that_fails_shows_the_smallest_counterexample(capfd):
    assert command("check", "double", "--plugin", HOPELESS, "--only", "admissible,numbers") == 1
    out = capfd.readouterr().out
    assert "h(1, 0) = 2 exceeds the distance 1" in out or "h(0, 1) = 2 exceeds the distance 1" in out
    assert "from_arcs(2, [" in out
    assert out.splitlines()[-1] == "double: 2 of 2 checks ran: 1 passed, 1 FAILED"


def test_json_has_every_result_and_what_is_expected(capfd):
    words = ("--only", "admissible", "--json", "--expect", "admissible=known = for years")
    assert command("check", "double", "--plugin", HOPELESS, *words) == 0
    told = json.loads(capfd.readouterr().out)
    assert (told["method"], told["ok"], told["ran"], told["due"]) == ("double", True, 1, 1)
    (result,) = told["results"]
    assert (result["status"], result["reason"]) == ("failed as expected", "known = for years")
    assert len(result["counterexample"]["arcs"]) == 1


def test_a_hang_is_a_failed_check_and_two_are_enough(capfd):
    words = ("--only", "builds,numbers,admissible", "--time-limit", "1")
    assert command("check", "sleeper", "--plugin", HOPELESS, *words) == 1
    out = capfd.readouterr().out
    assert out.count("It took longer than 1 seconds") == 2
    assert out.splitlines()[-1] == "sleeper: 2 of 3 checks ran: 2 FAILED; 1 NOT RUN"


def test_a_crash_is_a_failed_check_and_what_is_printed_is_no_result(capfd):
    assert command("check", "crasher", "--plugin", HOPELESS, "--only", "parameters,builds", "--json") == 1
    told = json.loads(capfd.readouterr().out)
    parameters, builds = told["results"]
    assert parameters["status"] == "passed"
    assert (builds["status"], builds["reason"]) == ("FAILED", "The worker process died (exit code 7)")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["altt"], "Unknown method 'altt'; did you mean 'alt'?"),
        (["alt[K=-1]"], "takes a whole number from 0"),
        (["alt[K=1|2]"], "Give one method"),
        (["alt", "--only", "speed"], "Unknown check 'speed'"),
        (["alt", "--budgets", "8,x"], "Budgets must be numbers"),
        (["alt", "--budgets", "0"], "positive number"),
        (["alt", "--expect", "numbers"], "Give a reason why the check 'numbers'"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(capfd, words, sentence):
    assert command("check", *words) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert sentence in printed.err.splitlines()[-1]


@pytest.mark.parametrize("seconds", ["-1", "0", "nan", "inf"])
def test_a_limit_that_no_check_could_meet_is_refused(capfd, seconds):
    assert command("check", "alt", "--time-limit", seconds) == 2
    assert "is not a positive number" in capfd.readouterr().err
