"""What the benchmarks share: the road graph, the comparison, and the table of all ratios at the end."""

import os
from collections.abc import Callable
from typing import Any

import pytest
from benchmarks.interleaved import Comparison, interleave
from benchmarks.road import SUBSTITUTE, Road, road_name
from tabulate import tabulate

_COMPARISONS = pytest.StashKey[list[Comparison]]()
_COLUMNS = ("what", "ours", "theirs", "ratio", "wanted")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_COMPARISONS] = []


@pytest.fixture(scope="session")
def road() -> Road:
    return Road(road_name())


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
    ) -> tuple[Any, Any]:
        results, our_seconds, their_seconds = interleave(benchmark, ours, theirs, rounds)
        found = Comparison(what, our_seconds, their_seconds, *per, at_most)
        benchmark.extra_info.update(
            what=what, ratio_of_minima=found.ratio, ratio_of_medians=found.median_ratio, wanted_at_most=at_most
        )
        pytestconfig.stash[_COMPARISONS].append(found)
        return results

    return run


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    rows = [found.row() for found in config.stash[_COMPARISONS]]
    if not rows:
        return
    name = road_name()
    instead = " (generated, because the files of dimacs:NY are not here)" if name == SUBSTITUTE else ""
    terminalreporter.section("ours against theirs")
    terminalreporter.write_line(f"Road graph: {name}{instead}. Cores: {os.cpu_count()}.")
    terminalreporter.write_line("Times are the least of the rounds; ratio: ours / theirs, of minima (of medians).")
    terminalreporter.write_line(tabulate(rows, headers=_COLUMNS, disable_numparse=True))
