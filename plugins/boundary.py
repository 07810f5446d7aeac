"""The error boundary around a plugin's own code: whatever it does becomes one sentence."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from aacbench.util.text import describe


class PluginError(Exception):
    """A plugin that cannot be used, with the reason in one sentence."""


@contextmanager
def boundary(failed: str) -> Iterator[None]:
    """Turn whatever a plugin raises into `PluginError`; only the user's own Ctrl-C passes.

    What it prints goes to the error stream, so that `--json` stays JSON.
    """
    try:
        with redirect_stdout(sys.stderr), _in_place():
            yield
    except (KeyboardInterrupt, PluginError):
        raise
    except BaseException as error:
        raise PluginError(f"{failed}: {describe(error)}.") from error


@contextmanager
def _in_place() -> Iterator[None]:
    """Stay in the folder that the user is in: a study's may be named from there."""
    here = Path.cwd()
    try:
        yield
    finally:
        os.chdir(here)
