"""The page about clusters: its commands are understood, its programs compile, and its figures are those of the code."""

import re
import shlex

from project import ROOT

from aacbench.cli.run import run
from aacbench.processes.dask_client import CONNECT_SECONDS
from aacbench.processes.remote import IDLE_SECONDS

PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")


def test_every_command_is_understood():
    lines = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL) for line in block.splitlines()]
    commands = [shlex.split(line, comments=True) for line in lines if line.startswith("aacbench ")]
    for program, command, *words in commands:
        assert (program, command) == ("aacbench", "run")
        assert run.make_context("run", words).params["executor"] == "dask"
    assert len(commands) == 2


def test_every_program_compiles():
    programs = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(programs) == 2
    for program in programs:
        compile(program, "cluster.md", "exec")


def test_the_figures_are_those_of_the_code():
    assert IDLE_SECONDS == 600
    assert "after ten minutes without work" in PAGE
    assert CONNECT_SECONDS == 10
    assert "gives up after ten seconds" in PAGE
