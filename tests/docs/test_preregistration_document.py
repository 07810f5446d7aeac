"""The document on pre-registration as written: its session run from the first line to the last, its words all there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def plain(text):
    """What is printed, without what no two locks have in common."""
    return LOCKED.sub("DIGEST", text)


def test_the_session_comes_out_as_printed(tmp_path):
    """Every command in turn, in one folder, with `aacbench` on the path."""
    shim = tmp_path / "bin" / "aacbench"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m aacbench "$@"\n')
    shim.chmod(0o755)
    project = tmp_path / "project"
    project.mkdir()
    clean = {key: value for key, value in os.environ.items() if key != "AACBENCH_PLUGINS"}
    environment = {**clean, "PATH": f"{shim.parent}:{os.environ['PATH']}"}
    assert len(SESSION) == 7
    for commands, printed in SESSION:
        done = subprocess.run(
            ["sh", "-e", "-c", commands], cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert plain(done.stdout) == plain(printed), commands


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
