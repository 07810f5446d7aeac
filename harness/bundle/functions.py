"""Functions by address: how a process finds the function of a heuristic that another process built."""

import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from aacbench.errors import BundleError
from aacbench.util.source_file import SourceFile, package_digest, source_of

_OWN = __name__.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Address:
    """A module and a name in it. `digest` is that of the plugin file or installed package the module belongs to."""

    module: str
    name: str
    digest: str = ""


def address_of(function: Callable[..., Any]) -> Address:
    """Where the function is found in any process that has the same sources; one that has no such place is refused."""
    plain = getattr(function, "py_func", function)
    module, name = getattr(plain, "__module__", None), getattr(plain, "__qualname__", None)
    if not module or not name or _attribute(sys.modules.get(module), name) is not function:
        shown = name or type(function).__name__
        raise BundleError(
            f"The function {shown} is not at the top of a module, so no other process can find it. Move it there and "
            f"pass all it needs as arrays."
        )
    if source := source_of(module):
        return Address(module, name, source.digest)
    if module == "__main__":
        raise BundleError(f"The function {name} belongs to a script. Put it in a module, or load it as a plugin.")
    return Address(module, name, "" if module.partition(".")[0] == _OWN else package_digest(module))


def function_at(address: Address, sources: Sequence[SourceFile] = ()) -> Callable[..., Any]:
    """The function at an address; its module is imported here if it was not yet."""
    source = next((source for source in sources if source.module == address.module), None)
    module = importlib.import_module(address.module) if source is None else source.load()
    if address.digest:
        found = package_digest(address.module) if source is None else source.digest
        if found != address.digest:
            raise BundleError(f"The source of {address.module} has changed since the heuristic was built.")
    function = _attribute(module, address.name)
    if not callable(function):
        raise BundleError(f"A fresh import of {address.module} has no function {address.name}.")
    return function


def _attribute(module: ModuleType | None, name: str) -> Any:
    try:
        return functools.reduce(getattr, name.split("."), module)
    except AttributeError:
        return None
