"""What the project says of itself in setup.cfg, for the tests that hold it against the folders."""

import configparser
from pathlib import Path

ROOT = Path(__file__).parent.parent


def configuration() -> configparser.ConfigParser:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    return config


def roots() -> dict[str, Path]:
    """The folders at the root that are mapped into the package, by the dotted name each has there."""
    lines = configuration()["options"]["package_dir"].split("\n")
    pairs = (line.split(" = ") for line in lines if line)
    return {name: ROOT / folder for name, folder in pairs}
