"""Python files as they were read: a file's bytes are taken once, and every process runs exactly those."""

import hashlib
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

from aacbench.util.input_file import read_input
from aacbench.util.paths import expanded

_RECORD = "__aacbench_source__"
_LONGEST_STEM = 100  # letters of a file's name in that of its module, which is a file in a bundle


@dataclass(frozen=True)
class SourceFile:
    """The bytes of a Python file, and the name of the module they are run as: the same name in every process."""

    module: str
    path: Path
    source: bytes

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.source).hexdigest()

    def load(self) -> ModuleType:
        """The module, run now unless this process has run the same bytes under this name before.

        Its functions are found by name, and can be pickled, wherever the same record was loaded.
        """
        present = sys.modules.get(self.module)
        known = source_of(self.module)
        if present is not None and known is not None and known.source == self.source:
            return present
        spec = spec_from_loader(self.module, None, origin=str(self.path))
        assert spec is not None
        module = module_from_spec(spec)
        module.__file__ = str(self.path)
        setattr(module, _RECORD, self)
        sys.modules[self.module] = module
        try:
            exec(compile(self.source, str(self.path), "exec", dont_inherit=True), module.__dict__)
        except BaseException:
            if present is None:
                del sys.modules[self.module]
            else:
                sys.modules[self.module] = present
            raise
        return module


def source_of(module: str) -> SourceFile | None:
    """The record that an imported module was run from, or None where Python imported it."""
    found = getattr(sys.modules.get(module), _RECORD, None)
    return found if isinstance(found, SourceFile) else None


def read_source(path: str | Path) -> SourceFile:
    """Read a plugin file; its module is named by its bytes, so that it is the same wherever the file lies."""
    file = expanded(path).resolve()
    if file.suffix != ".py":
        raise ImportError(f"{file.name} is not a Python file, whose name ends in .py")
    stem, source = re.sub(r"\W", "_", file.stem, flags=re.ASCII)[:_LONGEST_STEM], read_input(file)
    return SourceFile(f"aacbench_plugin_{stem}_{hashlib.sha256(source).hexdigest()[:8]}", file, source)


def package_digest(module: str, *, outermost: bool = True) -> str:
    """The sha256 of an imported module's source: by default of the whole package it belongs to."""
    return folder_digest(_home(module, outermost))


def folder_digest(place: Path) -> str:
    if place.is_file():
        return hashlib.sha256(place.read_bytes()).hexdigest()
    total = hashlib.sha256()
    for file in sorted(place.rglob("*"), key=lambda file: file.relative_to(place).as_posix()):
        if file.is_file() and file.suffix != ".pyc":
            content = file.read_bytes()
            total.update(f"{file.relative_to(place).as_posix()}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def _home(module: str, outermost: bool) -> Path:
    """The module's file or folder, or that of the outermost package around it that is not a namespace."""
    parts = module.split(".")
    for length in range(1 if outermost else len(parts), len(parts) + 1):
        file = getattr(sys.modules.get(".".join(parts[:length])), "__file__", None)
        if file:
            home = Path(file)
            return home.parent if home.stem == "__init__" else home
    raise FileNotFoundError(f"the source of {module} is not a file, so results could not be traced to it")
