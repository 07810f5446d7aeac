"""Modules that take seconds to import, such as torch: every test process collects every file, and few use them."""

from importlib import import_module
from typing import Any


class Late:
    """A module that is imported when something in it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # asked by pytest, which looks at every name of a test module
            raise AttributeError(name)
        return getattr(import_module(self._name), name)
