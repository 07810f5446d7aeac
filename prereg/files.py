"""Where the files of a registration lie, which registrations there are, and whether git has a file as it is."""

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from aacbench.errors import UsageError
from aacbench.run.layout import DERIVED

LEDGER = "ledger.jsonl"
FOLDER = "prereg"


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one registration, all in the folder of its TOML file."""

    toml: Path

    @property
    def folder(self) -> Path:
        return self.toml.parent

    @property
    def ledger(self) -> Path:
        """The ledger, shared by all registrations of the folder."""
        return self.folder / LEDGER

    def lock(self, digest: str) -> Path:
        """The lock file of this digest; each amendment adds one, and none is ever replaced."""
        return self.folder / f"{self.toml.stem}.{digest[:12]}.lock.json"

    def beside(self, registration: str) -> "Files":
        return Files(self.folder / f"{registration}.toml")

    def anchor(self, digest: str, ending: str) -> Path:
        return self.folder / f"{self.toml.stem}.{digest[:12]}.{ending}"

    def locks(self) -> list[Path]:
        name = re.compile(re.escape(self.toml.stem) + r"\.[0-9a-f]{12}\.lock\.json")
        return sorted(path for path in self.folder.iterdir() if name.fullmatch(path.name))

    def verdicts(self, study: Path | None) -> Path:
        """Where `verify` writes its results: in the study, or the current folder if there is none."""
        return (study / DERIVED if study else Path()) / f"{self.toml.stem}.verify.json"

    @property
    def study(self) -> Path:
        """The default folder of a run: the study that contains the registration, or a new one."""
        inside = self.folder.name == FOLDER and self.folder.parent.parent.name == "studies"
        return self.folder.parent if inside else Path("studies") / self.toml.stem


def files_of(path: Path) -> Files:
    if path.suffix != ".toml":
        raise UsageError(f"{path} is not a registration; its name must end in .toml.")
    return Files(path)


def project_registrations(root: Path = Path()) -> list[Path]:
    return sorted([*root.glob(f"{FOLDER}/*.toml"), *root.glob(f"studies/*/{FOLDER}/*.toml")])


def shipped() -> dict[str, Path]:
    folder = Path(str(resources.files("aacbench.prereg")))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def relative(path: Path, start: Path) -> str:
    """A path relative to another, so that both can move together."""
    return Path(os.path.relpath(path.resolve(), start.resolve())).as_posix()


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def uncommitted(path: Path) -> bool:
    """Whether a file differs from its committed version; False outside a git repository or without git."""
    if shutil.which("git") is None:
        return False
    command = ["git", "-C", str(path.resolve().parent), "status", "--porcelain", "--", path.name]
    status = subprocess.run(command, capture_output=True, text=True, check=False)
    return status.returncode == 0 and bool(status.stdout.strip())
