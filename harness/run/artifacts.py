"""What a method makes once for several cells, such as a hierarchy that serves every budget."""

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from aacbench.bundle.arrays import check_name, checked_arrays, read_only
from aacbench.contract.method import Made
from aacbench.errors import UsageError
from aacbench.run.shared import Pools
from aacbench.util import array_store
from aacbench.util.canonical import plain
from aacbench.util.compiled import kernel_digest
from aacbench.util.file_lock import file_lock


class Artifacts:
    """Artifacts on one graph, in a folder shared by workers; without a folder they are made each time.

    `sources` has the digest of each method's source, so that an edited method does not find what it made before.
    `seconds` and `pool_seconds` are to be charged for what was found; what is made now takes its time now. `spent` is
    how long this build waited for the disk. Before anything is stored, `check` must find the graph unchanged.
    """

    def __init__(
        self,
        pools: Pools,
        graph: str,
        folder: Path | None = None,
        sources: Mapping[str, str] | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._pools, self._graph, self._folder = pools, graph, folder
        self._sources, self._check = dict(sources or {}), check
        self._known: dict[str, Made] = {}
        self.seconds = self.pool_seconds = self.spent = 0.0

    def get(self, method: str, key: Any, make: Callable[[], Made]) -> Made:
        """Return what was made from this key, the graph and the method's source, or make it."""
        made_from = {"method": method, "source": self._sources.get(method, ""), "graph": self._graph}
        made_from |= {"engine": kernel_digest(), "key": plain(key, "The key of an artifact")}
        name = array_store.key_of({"artifact": made_from})
        if name not in self._known:
            self._known[name] = checked(make()) if self._folder is None else self._stored(name, made_from, make)
        return self._known[name]

    def _stored(self, name: str, made_from: Mapping[str, Any], make: Callable[[], Made]) -> Made:
        assert self._folder is not None
        began = time.perf_counter()
        with file_lock(self._folder, f"artifact-{name[:24]}", wait=True):
            kept = array_store.read(self._folder, name)
            self.spent += time.perf_counter() - began
            if kept is None or kept.facts.get("made_from") != made_from:
                return self._made(name, made_from, make)
        self.seconds += kept.facts["seconds"]
        self.pool_seconds += kept.facts["pool_seconds"]
        return {**kept.arrays, **kept.facts["numbers"]}

    def _made(self, name: str, made_from: Mapping[str, Any], make: Callable[[], Made]) -> Made:
        assert self._folder is not None
        began, waited, charged = time.perf_counter(), self._waited(), self._charged()
        made = checked(make())
        seconds, pool_seconds = (now - then for now, then in zip(self._charged(), charged, strict=True))
        seconds += time.perf_counter() - began - (self._waited() - waited)
        self._check()
        numbers = {name: value for name, value in made.items() if isinstance(value, int | float)}
        arrays = {name: value for name, value in made.items() if not isinstance(value, int | float)}
        facts = {"made_from": made_from, "numbers": numbers, "seconds": seconds, "pool_seconds": pool_seconds}
        began = time.perf_counter()
        array_store.drop(self._folder, name)  # what is there was made from something else
        with suppress(OSError):  # a full or read-only disk costs time, not the result
            array_store.write(self._folder, name, arrays, facts)
        self.spent += time.perf_counter() - began
        return made

    def _waited(self) -> float:
        return self.spent + self._pools.spent

    def _charged(self) -> tuple[float, float]:
        return self.seconds, self.pool_seconds + self._pools.seconds


def checked(made: Any) -> Made:
    """Return an artifact with its arrays read-only; refuse what could not be stored and read back as it is."""
    if not isinstance(made, Mapping):
        kind = type(made).__name__
        raise UsageError(f"An artifact must be a mapping from names to arrays and numbers, not a {kind}.")
    numbers = {name: value for name, value in made.items() if type(value) in (int, float) and math.isfinite(value)}
    for name in numbers:
        check_name(name, "artifact's number")
    arrays = checked_arrays({name: value for name, value in made.items() if name not in numbers})
    return {**read_only(arrays), **numbers}
