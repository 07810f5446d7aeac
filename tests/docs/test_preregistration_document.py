"""The document on pre-registration: its session prints what it shows, and every word of the format is explained."""

import re
import subprocess
from pathlib import Path

import pytest
from cli.command import run_line

from aacbench.prereg.checks import FALSIFIED_CODE, INCONCLUSIVE_CODE
from aacbench.prereg.key_diff import WHAT
from aacbench.prereg.ledger import EVENTS
from aacbench.prereg.predictions import KINDS, RULES
from aacbench.prereg.schema import ANCHORS, PROTOCOL, STATUSES, TOP
from aacbench.prereg.verdicts import VERDICTS
from aacbench.prereg.verify import TIERS

TEXT = (Path(__file__).parents[2] / "docs" / "preregistration.md").read_text(encoding="utf-8")
SESSION = re.findall(r"```sh\n(.*?)```\n\n```text\n(.*?)```", TEXT, flags=re.DOTALL)
NESTED = ("accounting", "protocol", "analysis", "power", "anchors")
LOCKED = re.compile(r"\b[0-9a-f]{64}\b|(?<=example\.)[0-9a-f]{12}(?=\.lock)|lock:? [0-9a-f]{8}")
TIME = re.compile(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d")


def plain(text):
    """The output without digests and times, which differ between locks."""
    return TIME.sub("TIME", LOCKED.sub("DIGEST", text))


def run_step(line):
    """Run one command of the session: `aacbench` in this process, anything else in a shell."""
    if line.startswith("aacbench "):
        one_worker = " --workers 1" if line.startswith("aacbench prereg run ") else ""  # each would import torch
        assert run_line(line + one_worker) == 0, line
    else:
        subprocess.run(["sh", "-c", line], check=True)


def test_the_session_comes_out_as_printed(tmp_path, monkeypatch, capsys):
    """Every command in turn, in one folder."""
    monkeypatch.delenv("AACBENCH_PLUGINS", raising=False)
    monkeypatch.chdir(tmp_path)
    assert len(SESSION) == 7
    for commands, printed in SESSION:
        for line in commands.splitlines():
            run_step(line)
        assert plain(capsys.readouterr().out) == plain(printed), commands


WORDS = [*VERDICTS, *EVENTS, *WHAT, *KINDS, *RULES, *STATUSES, *ANCHORS]


@pytest.mark.parametrize("word", WORDS, ids="the word {}".format)  # a bare "data" would be taken for the mark
def test_every_word_is_explained(word):
    assert f"`{word}`" in TEXT


@pytest.mark.parametrize("key", [*(key for key in TOP if key not in NESTED), *(f"protocol.{key}" for key in PROTOCOL)])
def test_every_key_is_explained(key):
    assert f"`{key}`" in TEXT


def test_every_exit_code_and_tier_is_explained():
    codes = [*range(8), f"{FALSIFIED_CODE}, {INCONCLUSIVE_CODE}"]
    assert [code for code in codes if f"\n| {code} | " not in TEXT] == []
    assert [tier for tier, words in TIERS.items() if f"\n| {tier} | {words.partition(':')[0]}" not in TEXT] == []
