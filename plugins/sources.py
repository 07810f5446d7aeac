"""Plugin files as modules, and digests of the source that a plugin was loaded from."""

import hashlib
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from aacbench.errors import DataError

_DIGEST = "__aacbench_digest__"


def plugin_module_name(path: str | Path) -> str:
    """The name a plugin file is imported under: the same in every process, another for every file."""
    file = Path(path).expanduser().resolve()
    stem = re.sub(r"\W", "_", file.stem)
    return f"aacbench_plugin_{stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"


def import_plugin_file(path: str | Path, digest: str | None = None) -> ModuleType:
    """Import a plugin file under its own name, once, and again when it has changed.

    Its functions can be pickled by name, and are found by another process that has imported the file too. With
    `digest` a file that is no longer the one it was taken from is refused.
    """
    file = Path(path).expanduser().resolve()
    name = plugin_module_name(file)
    source = file.read_bytes()
    found = hashlib.sha256(source).hexdigest()
    if digest is not None and found != digest:
        raise DataError(f"the plugin file {file} has changed since it was first loaded; start again.")
    present = sys.modules.get(name)
    if present is not None and file_digest(present) == found:
        return present
    return _execute(name, file, source, found)


def _execute(name: str, file: Path, source: bytes, digest: str) -> ModuleType:
    # Compiled here and not by an import, whose byte-code cache may hold an older file of the same second and size.
    spec = spec_from_file_location(name, file)
    if spec is None:
        raise ImportError(f"{file.name} is not a Python file, whose name ends in .py")
    module = module_from_spec(spec)
    previous = sys.modules.get(name)
    sys.modules[name] = module
    try:
        exec(compile(source, str(file), "exec", dont_inherit=True), module.__dict__)
    except BaseException:
        if previous is None:
            del sys.modules[name]
        else:
            sys.modules[name] = previous
        raise
    setattr(module, _DIGEST, digest)
    return module


def file_digest(module: object) -> str:
    """The digest of the source that `import_plugin_file` made this module from."""
    return str(getattr(module, _DIGEST, ""))


def package_digest(module_name: str, *, outermost: bool = True) -> str:
    """The sha256 of an imported module's source: by default of the whole package it belongs to."""
    return source_digest(_home(module_name, outermost))


def source_digest(place: Path) -> str:
    """The sha256 of a file, or of the names and contents of all files below a folder."""
    if place.is_file():
        return hashlib.sha256(place.read_bytes()).hexdigest()
    total = hashlib.sha256()
    for file in sorted(place.rglob("*"), key=lambda file: file.relative_to(place).as_posix()):
        if file.is_file() and file.suffix != ".pyc":
            content = file.read_bytes()
            total.update(f"{file.relative_to(place).as_posix()}\0{len(content)}\0".encode() + content)
    return total.hexdigest()


def _home(module_name: str, outermost: bool) -> Path:
    """The module's file or folder, or that of the outermost package around it that is no mere namespace."""
    parts = module_name.split(".")
    for length in range(1 if outermost else len(parts), len(parts) + 1):
        file = getattr(sys.modules.get(".".join(parts[:length])), "__file__", None)
        if file:
            home = Path(file)
            return home.parent if home.stem == "__init__" else home
    raise FileNotFoundError(f"the source of {module_name} is not a file, so its results could not be traced to it")
