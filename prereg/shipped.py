"""The registrations that come with aacbench, by name."""

from importlib.resources import files
from pathlib import Path


def shipped() -> dict[str, Path]:
    """Every registration in the package, by its id."""
    folder = Path(str(files("aacbench.prereg")))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}
