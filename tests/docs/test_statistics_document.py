"""The document on statistics as written: its commands run, its output compared, its words all there."""

import re
from pathlib import Path

import pytest
from cli.command import run_line

from aacbench.stats import ESTIMANDS, PROFILES
from aacbench.stats.combine import CAUCHY_REJECTED
from aacbench.stats.effects import DEGENERATE, NOT_TESTED, OUTCOMES, UNDEFINED
from aacbench.stats.inference import COVERED, REJECTED

TEXT = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text(encoding="utf-8")
COMMANDS = re.search(r"```sh\n(.*?)```", TEXT, flags=re.DOTALL)[1].splitlines()
TABLE, PRINTED = re.findall(r"```text\n(.*?)```", TEXT, flags=re.DOTALL)


def test_the_worked_example_comes_out_as_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("AACBENCH_PLUGINS", raising=False)
    monkeypatch.chdir(tmp_path)
    assert [line.split()[:2] for line in COMMANDS] == [["aacbench", "run"], ["aacbench", "stats"]]
    assert run_line(COMMANDS[0]) == 0
    capsys.readouterr()
    assert run_line(COMMANDS[1]) == 0
    assert capsys.readouterr().out == TABLE


def test_the_python_example_prints_what_it_says(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out == PRINTED


@pytest.mark.parametrize("word", [*ESTIMANDS, *PROFILES, *OUTCOMES, DEGENERATE, NOT_TESTED, UNDEFINED])
def test_every_word_of_the_output_is_explained(word):
    assert f"`{word}`" in TEXT


def test_error_rates_are_those_that_simulations_check():
    """The numbers that tests/stats holds against simulated truth are the ones a reader is told."""
    words = " ".join(TEXT.split())
    two, three, four, five = (f"{100 * REJECTED[seeds]:.0f} %" for seeds in (2, 3, 4, 5))
    assert f"different in 2 to {five} of cases" in words
    assert f"up to {four} with four, {three} with three, {two} with two" in words
    ten, *fewer = (f"{100 * COVERED[seeds]:.0f} %" for seeds in (10, 5, 3, 2))
    assert (
        "covers in {} of cases with ten seeds, {} with five, {} with three and {} with two".format(ten, *fewer) in words
    )
    rates = [f"{100 * CAUCHY_REJECTED[level]:g} %" for level in (0.05, 0.01)]
    assert "5 % it rejects a true null in up to {} of cases, at 1 % in up to {}".format(*rates) in words


def test_what_the_document_says_of_profiles_is_so():
    crossed, paper = PROFILES["crossed/1"], PROFILES["paper/1"]
    assert (crossed.margin_pp, crossed.margin_ratio, crossed.bytes_tolerance) == (1, 1.05, 0.05)
    assert (crossed.correction, crossed.further_corrections) == ("holm", ("by", "bh"))
    assert (crossed.bootstrap_replicates, paper.bootstrap_replicates) == (2000, 0)
    assert (paper.margin_pp, paper.margin_ratio, paper.family_of, paper.correction) == (1, None, "fisher", "bh")
