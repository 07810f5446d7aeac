"""Text for messages: one printable line, suggestions for misspelt names, exceptions in words."""

import traceback
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from aacbench.errors import AacbenchError

LONGEST = 2000
_OURS = Path(__file__).parents[1]  # the folder of the package, under whichever name it was checked out
_BESIDE = tuple(_OURS.parent / name for name in ("plugins", "protocols", "prereg", "reports"))


def one_line(text: str, most: int | None = None) -> str:
    """Return the text in one line of at most `most` characters, with control characters escaped."""
    line = printable(" ".join(text.split()))
    return line if most is None or len(line) <= most else line[: most - 3] + "..."


def printable(text: str) -> str:
    """Return the text with line ends and other control characters escaped."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def near_names(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Return up to `most` known names that resemble this one, closest first, ignoring case."""
    by_lower: dict[str, list[str]] = {}
    for other in known:
        by_lower.setdefault(other.lower(), []).append(other)
    return [other for match in get_close_matches(name.lower(), by_lower, n=most) for other in by_lower[match]][:most]


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: a question with the closest known one, or a full stop."""
    return "".join(f"; did you mean {near!r}?" for near in near_names(name, known)) or "."


def describe(error: BaseException) -> str:
    """The exception in one line: its type, its message, and the last line of foreign code it passed through.

    An error of ours is a sentence already; like the others, it comes without its full stop.
    """
    if isinstance(error, AacbenchError):
        return message_of(error).removesuffix(".")
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
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and any(Path(frames[-1].filename).is_relative_to(root) for root in (_OURS, *_BESIDE))


def _is_foreign(path: Path) -> bool:
    library = {"site-packages", "importlib", "pluggy"} & set(path.parts) or path.name.startswith("<frozen")
    return not library and not any(path.is_relative_to(root) for root in (_OURS, *_BESIDE))
