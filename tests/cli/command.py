"""The command as a test calls it."""

import shlex
from pathlib import Path

import pytest

from aacbench.cli.main import main

JUDGED = Path(__file__).parent / "plugins" / "judged.py"


def command(*words):
    """Run the command and return its exit code."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return ended.value.code


def run_line(line):
    """Run a command as a document shows it, and return its exit code."""
    program, *words = shlex.split(line, comments=True)
    assert program == "aacbench"
    return command(*words)


def run_study(root, methods, *more):
    """`aacbench run` of these methods on the smallest graph; returns the exit code."""
    sizes = ("--graphs", "p7", "--budgets", "8", "--seeds", "1,2", "--queries", "3/5", "--workers", "1")
    return command("run", "--methods", methods, *sizes, "--plugin", JUDGED, "--out", root, *more)
