"""Small studies for tests of runs, and what is compared of their stores."""

from functools import partial
from pathlib import Path

from aacbench.cli.methods import method_in_worker
from aacbench.plugins.manager import load_plugins
from aacbench.plugins.settings import resolve
from aacbench.processes.pool import GIB, Limits
from aacbench.run.records import MethodChoice, QueryPlan, Study
from aacbench.run.run_config import Setup, Source
from aacbench.run.store import Cell, scan

FAULTS = tuple(Path(__file__).parent / "plugins" / name for name in ("fault_methods.py", "fit_fault_methods.py"))
LIMITS = Limits(seconds=600, memory_bytes=4 * GIB)


def study(*methods: MethodChoice | str, **changes) -> Study:
    """A study of these methods on a small grid."""
    choices = tuple(MethodChoice(name=method) if isinstance(method, str) else method for method in methods)
    queries = changes.pop("queries", QueryPlan(validation=40, test=30))
    settings = {"graphs": ("grid-8",), "budgets": (16,), "seeds": (1,), **changes}
    return Study(protocol="test", summary="", methods=choices, queries=queries, **settings)


def setup(root: Path, of: Study, *, limits: Limits = LIMITS, **changes) -> Setup:
    """Run it with the built-in methods and the faulty ones."""
    plugins = load_plugins(FAULTS)
    sources = {}
    for name, found in plugins.methods().items():
        file = Path(found.origin.where) if found.origin.kind == "file" else None
        sources[name] = Source(found.method, found.origin.digest, file, built_in=found.origin.kind == "built-in")
    method_of = partial(method_in_worker, FAULTS)
    return Setup(root=root, sources=sources, resolve=resolve, method_of=method_of, limits=limits, **changes)


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
