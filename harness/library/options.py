"""What a user may ask of a run, by the names of the command's options, with the same defaults and limits."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import urlsplit

from aacbench.errors import UsageError
from aacbench.run.store import Existing

if TYPE_CHECKING:
    from aacbench.processes.pool import Limits

TIME_SECONDS, MEMORY_GIB = 3600.0, 8.0
LEAST_MEMORY, MOST_MEMORY = 0.5, 2.0**20  # GiB; with less a worker cannot even import what it needs
MOST_WORKERS, MANY_WORKERS = 4, 1024  # by default, and at all
REPETITIONS = 5

OVERRIDES = (
    *("methods", "graphs", "budgets", "seeds", "queries", "search", "convention"),
    *("traffic", "maps", "encoders"),
)
EXECUTORS = ("local", "dask")
TRANSPORTS = ("tcp", "tls", "ws", "wss", "ucx")  # of dask


def default_workers() -> int:
    """The cores this process may use, but no more than four: each worker holds a graph and its labels."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MOST_WORKERS, cores)


def limits_of(time_limit: float, memory_limit: float) -> "Limits":
    """Return the limits of so many seconds and GiB."""
    from aacbench.processes.pool import GIB, Limits

    return Limits(time_limit, int(memory_limit * GIB))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """All that can be asked of a run; what is None is as the protocol, or the registration, says."""

    protocol: str | None = None
    methods: Any = None
    graphs: Any = None
    budgets: Any = None
    seeds: Any = None
    queries: Any = None
    search: str | None = None
    convention: str | None = None
    maps: Any = None
    encoders: Any = None
    traffic: Any = None
    plugin_files: Sequence[str | Path] = ()
    workers: int
    executor: str = "local"
    scheduler: str | None = None
    out: Path | None = None
    existing: Existing = "keep"
    time_limit: float = TIME_SECONDS
    memory_limit: float = MEMORY_GIB
    rebuild: bool = False
    time: bool = False
    repetitions: int = REPETITIONS
    prereg: Path | None = None
    public: str | None = None

    def __post_init__(self) -> None:
        _check("workers", self.workers, 1, MANY_WORKERS)
        _check("repetitions", self.repetitions, 1)
        _check("memory_limit", self.memory_limit, LEAST_MEMORY, MOST_MEMORY)
        if not 0 < self.time_limit < float("inf"):  # refuses nan too
            raise UsageError(f"time_limit must be a positive number of seconds, not {self.time_limit}.")
        if self.executor not in EXECUTORS:
            raise UsageError(f"executor must be one of {', '.join(EXECUTORS)}, not {self.executor!r}.")
        if self.scheduler is not None:
            _check_scheduler(self.scheduler)
            if self.executor != "dask":
                raise UsageError("A scheduler is one of dask; give --executor dask with it.")
        if self.existing not in get_args(Existing):
            raise UsageError(f"existing must be one of {', '.join(get_args(Existing))}, not {self.existing!r}.")

    @property
    def changes(self) -> dict[str, Any]:
        """What is asked for instead of the protocol's own."""
        return {name: value for name in OVERRIDES if (value := getattr(self, name)) is not None}

    @property
    def limits(self) -> "Limits":
        return limits_of(self.time_limit, self.memory_limit)


def _check_scheduler(address: str) -> None:
    """Raise unless this is an address; dask would wait a minute for one that is not."""
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        known = parts.scheme in TRANSPORTS and bool(parts.hostname) and bool(parts.port)
    except ValueError:  # a port that is no number, or too large
        known = False
    if not known:
        raise UsageError(
            f"{address!r} is not the address of a scheduler; give --scheduler tcp://HOST:PORT, as `dask scheduler` "
            "prints it."
        )


def _check(name: str, value: float, least: float, most: float = float("inf")) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
        wanted = f"{least:g} or more" if most == float("inf") else f"between {least:g} and {most:.10g}"
        raise UsageError(f"{name} must be {wanted}, not {value!r}.")
