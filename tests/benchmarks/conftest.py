"""What the benchmarks share: the road graph, the comparison, and the table of all ratios at the end."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from benchmarks.interleaved import Comparison, interleave, interleave_each
from benchmarks.road import SUBSTITUTE, Road, road_name
from tabulate import tabulate

_COMPARISONS = pytest.StashKey[list[Comparison]]()
_COLUMNS = ("what", "ours", "theirs", "ratio", "wanted")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--road", help="the road graph to search (default: dimacs:NY, or road-100000 without its files)")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_COMPARISONS] = []


@pytest.fixture(scope="session")
def road(pytestconfig: pytest.Config) -> Road:
    return Road(_road(pytestconfig))


@pytest.fixture
def compare(benchmark: Any, pytestconfig: pytest.Config) -> Callable[..., tuple[Any, Any]]:
    """Time two calls in turns and keep the ratio; gives what each returned, for the benchmark to compare."""

    def run(
        what: str,
        ours: Callable[[], Any],
        theirs: Callable[[], Any],
        *,
        per: tuple[int, str],
        rounds: int = 7,
        at_most: float | None = None,
        their_per: int | None = None,
    ) -> tuple[Any, Any]:
        results, our_seconds, their_seconds = interleave(benchmark, ours, theirs, rounds)
        found = Comparison(what, our_seconds, their_seconds, *per, at_most, per[0] if their_per is None else their_per)
        _keep(benchmark, pytestconfig, found)
        return results

    return run


@pytest.fixture
def compare_each(benchmark: Any, pytestconfig: pytest.Config) -> Callable[..., None]:
    """Time two calls for each of many jobs, one right after the other, and keep the ratio of the sums over all jobs.

    What the two return for a job must be the same.
    """

    def run(
        what: str,
        jobs: Sequence[Any],
        ours: Callable[[Any], Any],
        theirs: Callable[[Any], Any],
        *,
        rounds: int = 3,
        at_most: float | None = None,
    ) -> None:
        results, our_seconds, their_seconds = interleave_each(benchmark, jobs, ours, theirs, rounds)
        found = Comparison(what, our_seconds, their_seconds, len(jobs), "cell", at_most, len(jobs))
        _keep(benchmark, pytestconfig, found)
        assert all(np.array_equal(one, other) for one, other in results)

    return run


def _keep(benchmark: Any, config: pytest.Config, found: Comparison) -> None:
    benchmark.extra_info.update(
        what=found.what,
        ratio_of_minima=found.ratio,
        ratio_of_medians=found.median_ratio,
        wanted_at_most=found.at_most,
    )
    config.stash[_COMPARISONS].append(found)


def _road(config: pytest.Config) -> str:
    return config.option.road or road_name()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    rows = [found.row() for found in config.stash[_COMPARISONS]]
    if not rows:
        return
    name = _road(config)
    replaced = name == SUBSTITUTE and not config.option.road
    instead = " (generated, because the files of dimacs:NY are not here)" if replaced else ""
    terminalreporter.section("ours against theirs")
    terminalreporter.write_line(f"Road graph: {name}{instead}. Cores: {os.cpu_count()}.")
    terminalreporter.write_line("Times are the least of the rounds; ratio: ours / theirs, of minima (of medians).")
    terminalreporter.write_line(tabulate(rows, headers=_COLUMNS, disable_numparse=True))
