"""Small studies for tests of runs, and what is compared of their stores."""

from contextlib import suppress
from pathlib import Path

import psutil

from aacbench.library.running import config_of
from aacbench.plugins.manager import load_plugins
from aacbench.processes.pool import GIB, Limits
from aacbench.run.records import MethodChoice, QueryPlan, Study
from aacbench.run.run_config import RunConfig
from aacbench.run.store import Cell, scan

FAULTS = tuple(Path(__file__).parent / "plugins" / name for name in ("fault_methods.py", "fit_fault_methods.py"))
LIMITS = Limits(seconds=600, memory_bytes=4 * GIB)


def study(*methods: MethodChoice | str, **changes) -> Study:
    """A study of these methods on a small grid."""
    choices = tuple(MethodChoice(name=method) if isinstance(method, str) else method for method in methods)
    queries = changes.pop("queries", QueryPlan(validation=40, test=30))
    settings = {"graphs": ("grid-8",), "budgets": (16,), "seeds": (1,), **changes}
    return Study(protocol="test", summary="", methods=choices, queries=queries, **settings)


def config(root: Path, *, limits: Limits = LIMITS, plugins: tuple[Path, ...] = FAULTS, **changes) -> RunConfig:
    """Run with the built-in methods and the faulty ones."""
    return config_of(root, load_plugins(plugins), limits=limits, **changes)


def cells(root: Path) -> dict[str, Cell]:
    """Every cell of a study, all of which must be sound."""
    found = dict(scan(root))
    assert all(isinstance(cell, Cell) for cell in found.values()), found
    return found


def by_method(root: Path) -> dict[str, Cell]:
    """The cells of a study in which every method has one."""
    found = {cell.key["label"]: cell for cell in cells(root).values()}
    assert len(found) == len(cells(root))
    return found


def rows(root: Path) -> dict[str, bytes]:
    """The queries.csv of every cell."""
    return {name: cell.files["queries.csv"] for name, cell in cells(root).items()}


def workers_of(pid: int) -> list[psutil.Process]:
    """The worker processes of a run: children of the server that forks them."""
    found = psutil.Process(pid).children(recursive=True)
    servers = {child.pid for child in found if _is_server(child, pid)}
    return [child for child in found if child.ppid() in servers]


def _is_server(process: psutil.Process, parent: int) -> bool:
    with suppress(psutil.Error):
        return process.ppid() == parent and "forkserver" in " ".join(process.cmdline())
    return False
