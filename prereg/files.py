"""Where the files of a registration lie: all in the folder of its TOML file, which has one ledger."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from aacbench.errors import UsageError

LEDGER = "ledger.jsonl"
FOLDER = "prereg"


@dataclass(frozen=True, slots=True)
class Files:
    """The files that belong to one registration."""

    toml: Path

    @property
    def folder(self) -> Path:
        """The folder of them all."""
        return self.toml.parent

    @property
    def ledger(self) -> Path:
        """The ledger, which all registrations of the folder share."""
        return self.folder / LEDGER

    def lock(self, digest: str) -> Path:
        """The lock file of this digest; an amendment makes one more, and none is ever replaced."""
        return self.folder / f"{self.toml.stem}.{digest[:12]}.lock.json"

    def beside(self, registration: str) -> "Files":
        """The files of another registration of the same folder."""
        return Files(self.folder / f"{registration}.toml")

    def anchor(self, digest: str, ending: str) -> Path:
        """What an anchor of a lock is kept in."""
        return self.folder / f"{self.toml.stem}.{digest[:12]}.{ending}"

    def locks(self) -> list[Path]:
        """Every lock file there is of the registration."""
        name = re.compile(re.escape(self.toml.stem) + r"\.[0-9a-f]{12}\.lock\.json")
        return sorted(path for path in self.folder.iterdir() if name.fullmatch(path.name))

    @property
    def verdicts(self) -> Path:
        """Where `verify` writes what it found."""
        return self.folder / f"{self.toml.stem}.verify.json"

    @property
    def study(self) -> Path:
        """Where a run goes unless told: the study that the folder is part of, or one of its own."""
        inside = self.folder.name == FOLDER and self.folder.parent.parent.name == "studies"
        return self.folder.parent if inside else Path("studies") / self.toml.stem


def files_of(path: Path) -> Files:
    """The files of a registration, by its TOML file."""
    if path.suffix != ".toml":
        raise UsageError(f"{path} is not a registration, whose name ends in .toml.")
    return Files(path)


def project_registrations(root: Path = Path()) -> list[Path]:
    """Every registration of a project: those in prereg/, and those in the studies."""
    return sorted([*root.glob(f"{FOLDER}/*.toml"), *root.glob(f"studies/*/{FOLDER}/*.toml")])


def sha256(path: Path) -> str:
    """The sha256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
