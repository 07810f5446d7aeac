"""Settings and fixtures for every test: hypothesis without clocks, and the real graphs where they are at hand."""

import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from aacbench.util.file_lock import file_lock
from aacbench.util.paths import data_folder

# The first example of a test may compile a kernel, so no deadline; derandomised, so that a red run is a defect.
HYPOTHESIS = {"deadline": None, "derandomize": True, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("exhaustive", max_examples=100, **HYPOTHESIS)
settings.register_profile("quick", max_examples=50, **HYPOTHESIS)

LONG = ("test_types.py", "test_built_in.py", "test_stopped.py", "test_project.py")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("quick" if config.option.markexpr == "not exhaustive" else "exhaustive")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than there are cores: some tests wait for a time limit, and many for processes that they start."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else 2


def pytest_collection_finish() -> None:
    """Collect garbage rarely: compilation makes millions of objects, and looking through them takes a sixth of it."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, so that no core waits for one at the end; skip what needs real graphs, if none."""
    items.sort(key=lambda item: item.path.name not in LONG)
    folder = data_folder()
    if folder is not None and folder.is_dir():
        return
    skip = pytest.mark.skip(reason="needs real graphs: set AACBENCH_DATA to a folder that holds them")
    for item in items:
        if "data" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Callable[[str, Callable[[Path], None]], Path]:
    """A function that returns a folder of this name, filled once for all test processes: they share out a module."""
    own = tmp_path_factory.getbasetemp()
    root = own if worker_id == "master" else own.parent

    def filled(name: str, fill: Callable[[Path], None]) -> Path:
        with file_lock(root, name, wait=True):
            if not (root / name / "filled").exists():
                fill(root / name)
                (root / name / "filled").touch()
        return root / name

    return filled


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real graphs."""
    folder = data_folder()
    assert folder is not None, "mark the test with pytest.mark.data"
    return folder
