"""The error boundary around a plugin's own code: whatever it does becomes one sentence."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

LONGEST = 200


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


def describe(error: BaseException) -> str:
    """An exception in one line: its kind, what it says, and where in the plugin it came from."""
    if isinstance(error, SystemExit):
        said = "it called sys.exit"
    else:
        said = f"{type(error).__name__}: {_message(error)}".rstrip(": .")
    place = _place(error)
    return f"{said} ({place})" if place else said


def _message(error: BaseException) -> str:
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:
        return "an exception that cannot be printed"
    words = " ".join(str(text).split())
    return words if len(words) <= LONGEST else words[:LONGEST] + "..."


def _place(error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return f"{Path(error.filename).name}, line {error.lineno}"
    ours = str(Path(__file__).parent)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        foreign = "pluggy" in path.parts or "importlib" in path.parts or path.name.startswith("<frozen")
        if not foreign and str(path.parent) != ours:
            return f"{path.name}, line {frame.lineno}"
    return ""
