"""How a check may end on a graph, other than well, and how an exception reads."""

import math
import traceback
from pathlib import Path
from typing import Any

from aacbench.errors import AacbenchError

_LONGEST = 300


class BrokenError(Exception):
    """A check that does not hold, with what was seen in one sentence."""


class NotSupportedError(Exception):
    """A graph that the method's `fit` refuses, with its reason."""


class NotBuiltError(Exception):
    """A graph on which there is no heuristic to look at; the check named `builds` says why."""


class HeldUpError(Exception):
    """A graph on which a check cannot run because of what another one is there to see: its name, and what it sees."""

    def __init__(self, check: str, sentence: str) -> None:
        super().__init__(sentence)
        self.check = check


class NothingToDoError(Exception):
    """A graph or a heuristic that gives a check nothing to look at."""


class NotPossibleError(Exception):
    """A check that cannot be made here, with the reason."""


def told(error: BaseException) -> str:
    """An exception in one line, with the place it came from."""
    if isinstance(error, AacbenchError | BrokenError):
        return str(error)
    place = _place(error)
    try:
        words = " ".join(str(error).split())
    except Exception:
        words = "its message cannot be read"
    return f"{type(error).__name__}: {words[:_LONGEST]}{place}"


def _place(error: BaseException) -> str:
    """The last line of the author's own code that was on the way, or else the last of all."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not {"site-packages", "aacbench"} & set(Path(frame.filename).parts[:-1])]
    shown = (own or frames)[-1:]
    return "".join(f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in shown)


def number(value: Any) -> str:
    """A number as a person writes it."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else f"{float(value)!r}"
