"""Functions by address: how another process finds the function of a heuristic without being handed it."""

import functools
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from aacbench.errors import ReloadError


@dataclass(frozen=True, slots=True)
class Address:
    """A module, a name in it, and the file to read the module from where it cannot be imported by name."""

    module: str
    name: str
    file: str | None = None


def address_of(function: Callable[..., Any], *plugin_files: Path | None) -> Address:
    """Where the function can be found again; one that lives inside another function or an object is refused."""
    plain = getattr(function, "py_func", function)
    module, name = getattr(plain, "__module__", None), getattr(plain, "__qualname__", None)
    file = _file_of(plain)
    from_plugin = file is not None and file in [path.resolve() for path in plugin_files if path is not None]
    if not module or not name or _found(sys.modules.get(module), name) is not function:
        shown = name or type(function).__name__
        raise ReloadError(
            f"{shown} cannot be found by name in a fresh process: move the function to the top of its module "
            f"and give it all it needs as arrays."
        )
    if module == "__main__" and not from_plugin:
        raise ReloadError(
            f"{name} belongs to a script: put it in a module that can be imported, or load it as a plugin."
        )
    return Address(module, name, str(file) if from_plugin else None)


def function_at(address: Address) -> Callable[..., Any]:
    """The function at an address, its module imported now if it was not yet."""
    module = importlib.import_module(address.module) if address.file is None else _from_file(address)
    found = _found(module, address.name)
    if not callable(found):
        raise ReloadError(f"a fresh import of {address.module} has no function {address.name}.")
    return found


def _found(module: ModuleType | None, name: str) -> Any:
    try:
        return functools.reduce(getattr, name.split("."), module)
    except AttributeError:
        return None


def _file_of(function: Any) -> Path | None:
    try:
        return Path(inspect.getfile(function)).resolve()
    except (TypeError, OSError):
        return None


def _from_file(address: Address) -> ModuleType:
    spec = importlib.util.spec_from_file_location(address.module, address.file)
    if spec is None or spec.loader is None:
        raise ReloadError(f"{address.file} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[address.module] = module
    spec.loader.exec_module(module)
    return module
