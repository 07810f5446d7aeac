"""The names of graphs that come with aacbench, so that no plugin takes one; nothing heavy is imported for it."""

import re
import tomllib
from functools import cache
from importlib import resources

FILE_PREFIX = "file:"
FIXED = ("sbm-10k", "ba-10k", "p7")  # generated, in one size
SIZED = re.compile(r"(?P<kind>road|grid|maze)(-(?P<size>[0-9]+))?(-s(?P<seed>[0-9]+))?")


def comes_with_us(name: str) -> bool:
    """Whether the name is that of a file, of a data set of the catalogue, or of a generated graph."""
    generated = name in FIXED or SIZED.fullmatch(name) is not None
    return generated or name.startswith(FILE_PREFIX) or name in _catalogued()


@cache
def _catalogued() -> frozenset[str]:
    text = (resources.files(__package__) / "catalogue.toml").read_text(encoding="utf-8")
    return frozenset(tomllib.loads(text))
