"""Text for messages: one printable line, and suggestions for misspelt names."""

from collections.abc import Iterable
from difflib import get_close_matches


def one_line(text: str, most: int | None = None) -> str:
    """Return the text in one line of at most `most` characters, with control characters escaped."""
    words = " ".join(text.split())
    printable = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in words)
    return printable if most is None or len(printable) <= most else printable[: most - 3] + "..."


def near_names(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Return up to `most` known names that resemble this one, closest first, ignoring case."""
    by_lower: dict[str, list[str]] = {}
    for other in known:
        by_lower.setdefault(other.lower(), []).append(other)
    return [other for match in get_close_matches(name.lower(), by_lower, n=most) for other in by_lower[match]][:most]


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the closest known name as a part of a sentence, or an empty text if none is close."""
    return "".join(f"perhaps {near!r} is meant; " for near in near_names(name, known))
