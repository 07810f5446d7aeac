"""Two things timed in turns in one run, so that what else the machine does falls on both, and what came of it."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


@dataclass(frozen=True, slots=True)
class Comparison:
    """The seconds of every round; `at_most` is the ratio wanted.

    `per` things named `unit` are done in a round of ours, and `their_per` in one of theirs.
    """

    what: str
    ours: tuple[float, ...]
    theirs: tuple[float, ...]
    per: int
    unit: str
    at_most: float | None
    their_per: int

    @property
    def ratio(self) -> float:
        """Our least time over theirs: the measure that noise, which only adds, disturbs least."""
        return min(self.ours) / min(self.theirs) * self._work

    @property
    def median_ratio(self) -> float:
        """Our median time over theirs."""
        return statistics.median(self.ours) / statistics.median(self.theirs) * self._work

    @property
    def _work(self) -> float:
        return self.their_per / self.per

    def row(self) -> tuple[str, ...]:
        """The line of the table."""
        ratio = f"{_ratio(self.ratio)} ({_ratio(self.median_ratio)})"
        times = (self._time(self.ours, self.per), self._time(self.theirs, self.their_per))
        return (self.what, *times, ratio, self._wanted())

    def _time(self, seconds: tuple[float, ...], per: int) -> str:
        return f"{_duration(min(seconds) / per)}/{self.unit}"

    def _wanted(self) -> str:
        if self.at_most is None:
            return ""
        return f"<= {_ratio(self.at_most)}" + ("" if self.ratio <= self.at_most else ", missed")


def interleave(
    benchmark: Any, ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int
) -> tuple[tuple[Any, Any], tuple[float, ...], tuple[float, ...]]:
    """Call each once to warm up, then both in turns; gives what the first calls returned, and the seconds of each."""
    results = ours(), theirs()
    our_seconds: list[float] = []
    their_seconds: list[float] = []
    benchmark.pedantic(
        lambda: our_seconds.append(_seconds(ours)),
        setup=lambda: their_seconds.append(_seconds(theirs)),
        rounds=rounds,
    )
    return results, tuple(our_seconds), tuple(their_seconds)


def interleave_each(
    benchmark: Any, jobs: Sequence[Any], ours: Callable[[Any], Any], theirs: Callable[[Any], Any], rounds: int
) -> tuple[list[tuple[Any, Any]], tuple[float, ...], tuple[float, ...]]:
    """The same job by job: gives what both returned for each, and the seconds of each round, the first left out."""
    results: list[tuple[Any, Any]] = []
    seconds: list[tuple[float, float]] = []

    def turn() -> None:
        results.clear()
        spent = [0.0, 0.0]
        for job in jobs:
            found = []
            for side, call in enumerate((ours, theirs)):
                began = time.perf_counter()
                found.append(call(job))
                spent[side] += time.perf_counter() - began
            results.append((found[0], found[1]))
        seconds.append((spent[0], spent[1]))

    benchmark.pedantic(turn, rounds=rounds, warmup_rounds=1)
    our_seconds, their_seconds = zip(*seconds[1:], strict=True)
    return results, our_seconds, their_seconds


def _seconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"1/{1 / value:.0f}"


def _duration(seconds: float) -> str:
    size, unit = next((pair for pair in _UNITS if seconds >= pair[0]), _UNITS[-1])
    return f"{seconds / size:.3g} {unit}"
