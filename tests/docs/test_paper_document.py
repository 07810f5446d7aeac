"""The document on the paper: its commands and options are there, and what it says of the data is so."""

import re
from pathlib import Path

import pytest

from aacbench.cli.paper import paper
from aacbench.protocols.paper import read_paper
from aacbench.reports.paper.columns import BY_ONE_LESS

TEXT = (Path(__file__).parents[2] / "docs" / "paper.md").read_text(encoding="utf-8")
PAPER = read_paper()


def test_every_command_is_shown():
    shown = set(re.findall(r"^aacbench paper (\w+)", TEXT, flags=re.MULTILINE))
    assert shown == set(paper.commands)


@pytest.mark.parametrize(
    "option", sorted({name for one in paper.commands["run"].params for name in one.opts if "--" in name})
)
def test_every_option_of_a_replay_is_explained(option):
    assert option in TEXT


def test_exhibits_and_numbers_are_those_of_the_data():
    named = set(re.findall(r"`((?:tab|fig):[\w-]+|prereg-outcome|notation)`", TEXT))
    assert named <= set(PAPER.exhibits)
    assert f"{len(PAPER.exhibits)} tables and figures" in TEXT
    assert f"{len(PAPER.claims)} claims" in TEXT
    assert "n-1 in four of its tables" in TEXT
    by_one_less = [one.id for one in PAPER.exhibits.values() if one.facts["plus_minus"] in BY_ONE_LESS]
    assert len(by_one_less) == 4
