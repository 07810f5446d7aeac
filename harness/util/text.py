"""Texts for a person: one printable line, and the known name that was probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def one_line(text: str, most: int | None = None) -> str:
    """The text in one line with what a terminal would obey spelt out, cut where it is longer than `most`."""
    words = " ".join(text.split())
    plain = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in words)
    return plain if most is None or len(plain) <= most else plain[: most - 3] + "..."


def near_names(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known names nearest to this one, nearest first, whatever the case; none where nothing is near."""
    spelt: dict[str, list[str]] = {}
    for other in known:
        spelt.setdefault(other.lower(), []).append(other)
    return [other for match in get_close_matches(name.lower(), spelt, n=most) for other in spelt[match]][:most]


def suggestion(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant, as a part of a sentence, or nothing where none is near."""
    return "".join(f"perhaps {meant!r} is meant; " for meant in near_names(name, known))
