"""Names near one that is not known: what was probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def near_names(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known names nearest to this one, nearest first, whatever the case; none where nothing is near."""
    spelt: dict[str, list[str]] = {}
    for other in known:
        spelt.setdefault(other.lower(), []).append(other)
    return [other for match in get_close_matches(name.lower(), spelt, n=most) for other in spelt[match]][:most]


def suggestion(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant, as a part of a sentence, or nothing where none is near."""
    return "".join(f"perhaps {meant!r} is meant; " for meant in near_names(name, known))
