"""A client of a dask cluster, or of one inside this process; nothing of dask is imported before one is asked for."""

import asyncio
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from aacbench.errors import UsageError
from aacbench.processes.pool import interrupts_held_back
from aacbench.util.text import describe

CONNECT_SECONDS = 10.0
_LOST_SECONDS = 30.0  # in which dask tries to reach a scheduler again that it lost
_ONLY_HERE = "127.0.0.1:0"
# The last one logs an error of dask's own where Ctrl-C meets a call to the cluster before it has begun.
_LOGGERS = ("distributed", "distributed.client", "tornado.application")


def check_installed() -> None:
    """Refuse early where dask is not there; it is not imported for that."""
    if find_spec("distributed") is None:
        raise UsageError(
            'dask is not installed; install it with `pip install "aacbench[dask]"`, or leave out --executor.'
        )


@contextmanager
def connected(scheduler: str, count: int, note: Callable[[str], None]) -> Iterator[Any]:
    """A client of the scheduler at an address; without one, of a cluster of `count` threads in this process."""
    distributed = _dask()
    with _quiet():
        if not scheduler:
            with _local_cluster(distributed, count, note) as cluster, _client(distributed, cluster) as client:
                yield client
            return
        _check_scheduler(distributed, scheduler)
        with warnings.catch_warnings():  # of packages that differ; those that matter are told in a sentence
            warnings.simplefilter("ignore")
            client = _client(distributed, scheduler, timeout=_LOST_SECONDS)
        with client:
            yield client


def versions_there() -> Callable[[], Mapping[str, str] | str]:
    """Return a function that tells the versions of the worker it runs on."""

    def versions_there() -> Mapping[str, str] | str:  # inside another function, so that it travels by value
        try:
            from aacbench.processes.versions import versions
        except ImportError as error:
            return f"aacbench cannot be imported there ({error})"
        return versions()

    return versions_there


def allowed_failures() -> Callable[[Any], int]:
    """Return a function for the scheduler: how many workers may die of a task."""

    def allowed_failures(dask_scheduler: Any) -> int:  # travels by value: the scheduler may lack aacbench
        return int(dask_scheduler.allowed_failures)

    return allowed_failures


def _dask(module: str = "distributed") -> Any:
    check_installed()
    return import_module(module)


def _client(distributed: Any, where: Any, **more: Any) -> Any:
    return distributed.Client(where, set_as_default=False, **more)


@contextmanager
def _local_cluster(distributed: Any, count: int, note: Callable[[str], None]) -> Iterator[Any]:
    """A scheduler and a worker in threads of this process, which start at once: cells have processes anyway."""
    drawn = find_spec("bokeh") is not None
    pages = ("distributed.scheduler.http.routes", "distributed.worker.http.routes")
    # The profile, a hundred samples a second, is for the dashboard too.
    off: dict[str, Any] = {**{name: [] for name in pages}, "distributed.worker.profile.enabled": False}
    with ExitStack() as opened:
        with interrupts_held_back(), _dask("dask").config.set({} if drawn else off):
            cluster = distributed.LocalCluster(
                n_workers=1,
                threads_per_worker=count,
                processes=False,
                memory_limit=0,  # the limit is that of the children
                dashboard_address=_ONLY_HERE,  # else dask takes port 8787, which others may have
                worker_dashboard_address=_ONLY_HERE,
                silence_logs=logging.CRITICAL,
            )
            opened.enter_context(cluster)
        note(f"dask on this machine, workers: {count}" + (f", {cluster.dashboard_link}" if drawn else ""))
        yield cluster


def _check_scheduler(distributed: Any, address: str) -> None:
    """Refuse what is no scheduler. Dask's client would wait without end where something else listens."""

    async def kind() -> str:
        arguments = distributed.Security().get_connection_args("client")
        async with distributed.rpc(address, timeout=CONNECT_SECONDS, connection_args=arguments) as server:
            return str((await server.identity())["type"])

    async def kind_in_time() -> str:
        return await asyncio.wait_for(kind(), CONNECT_SECONDS)

    try:
        found = distributed.utils.LoopRunner().run_sync(kind_in_time)
    except OSError as error:
        raise UsageError(
            f"No scheduler of dask answers at {address!r} within {CONNECT_SECONDS:g} seconds; check that "
            "`dask scheduler` runs there and printed this address, tls:// where it uses TLS, and that no firewall is "
            "between."
        ) from error
    except Exception as error:  # a protocol that dask lacks, TLS without its settings
        raise UsageError(f"Dask cannot connect to {address!r}: {describe(error)}. See docs/cluster.md.") from error
    if found != "Scheduler":
        raise UsageError(f"{address!r} is a {found} of dask; give the address that `dask scheduler` printed.")


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence what dask logs: whatever matters is told in a sentence."""
    before = {name: logging.getLogger(name).level for name in _LOGGERS}
    for name in before:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
