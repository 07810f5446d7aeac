"""The `aacbench` command; each subcommand lives in its own file and is imported only when it is called."""

from aacbench.cli.main import main

__all__ = ["main"]
