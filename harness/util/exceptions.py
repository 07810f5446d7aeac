"""Exceptions in words: the one place that turns whatever foreign code raised into a sentence."""

import traceback
from pathlib import Path

from aacbench.errors import AacbenchError

LONGEST = 2000
_OURS = Path(__file__).parents[1]  # the folder of the package, under whichever name it was checked out
_BESIDE = tuple(_OURS.parent / name for name in ("plugins", "protocols", "prereg", "reports"))


def describe(error: BaseException) -> str:
    """The exception in one line: its type, its message, and the last line of foreign code it passed through.

    An error of ours is a sentence already and is returned as it is.
    """
    if isinstance(error, AacbenchError):
        return message_of(error)
    if isinstance(error, SystemExit):
        said = f"SystemExit: {message_of(error)}"
    else:
        said = f"{type(error).__name__}: {message_of(error)}".rstrip(": ").removesuffix(".")
    place = place_of(error)
    return f"{said} ({place})" if place else said


def message_of(error: BaseException) -> str:
    """What the exception says, in one line that UTF-8 can hold."""
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)
    except Exception:
        return "its message cannot be read"
    words = " ".join(text.encode(errors="backslashreplace").decode().split())
    return words if len(words) <= LONGEST else words[:LONGEST] + "..."


def place_of(error: BaseException) -> str:
    """File and line of the author's code that raised the exception; empty where only ours or a library's did."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return f"{Path(error.filename).name}, line {error.lineno}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if _is_foreign(Path(frame.filename)):
            return f"{Path(frame.filename).name}, line {frame.lineno}"
    return ""


def raised_by_us(error: BaseException) -> bool:
    """Return whether the exception was raised by a line of aacbench itself."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and any(Path(frames[-1].filename).is_relative_to(root) for root in (_OURS, *_BESIDE))


def _is_foreign(path: Path) -> bool:
    library = {"site-packages", "importlib", "pluggy"} & set(path.parts) or path.name.startswith("<frozen")
    return not library and not any(path.is_relative_to(root) for root in (_OURS, *_BESIDE))
