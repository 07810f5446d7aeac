"""How long a run still takes, from how long its cells took so far."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping

OVERHEAD = 10**6  # of a cell, in vertices to search: what it takes on the smallest graph
LEAST_CELLS, LEAST_SECONDS = 3, 2.0  # before anything can be said


class TimeLeft:
    """An estimate from the planned work of each cell, with a speed for each method as it is learned.

    The clock starts when the first cell is done: before, workers start and kernels compile. A method that no cell is
    done of yet counts with the speed of all.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._last = clock, 0.0
        self._left: dict[str, tuple[str, float]] = {}
        self._planned: dict[str, float] = defaultdict(float)  # the work that is left, by method
        self._later = 0
        self._work: dict[str, float] = defaultdict(float)
        self._seconds: dict[str, float] = defaultdict(float)
        self._cells = 0

    def plan(self, work: Mapping[str, tuple[str, int]], later: int = 0) -> None:
        """Add cells, each with its method and the vertices it may search; `later` more will come of these."""
        for name, (method, vertices) in work.items():
            self._drop(name)
            self._left[name] = method, vertices + OVERHEAD
            self._planned[method] += vertices + OVERHEAD
        self._later = later

    def skip(self, cell: str) -> None:
        """A cell needs no work."""
        self._drop(cell)

    def done(self, cell: str) -> None:
        now = self._clock()
        method, work = self._drop(cell)
        if self._cells:
            self._work[method] += work
            self._seconds[method] += now - self._last
        self._cells, self._last = self._cells + 1, now

    def _drop(self, cell: str) -> tuple[str, float]:
        method, work = self._left.pop(cell, ("", 0.0))
        self._planned[method] -= work  # whole numbers, so that nothing is left of them in the end
        return method, work

    def seconds(self) -> float | None:
        """Return the estimate; None as long as too little is known."""
        spent, done = sum(self._seconds.values()), sum(self._work.values())
        if self._cells < LEAST_CELLS or spent < LEAST_SECONDS or not done:
            return None
        speeds = {method: self._seconds[method] / work for method, work in self._work.items() if work}
        known = sum(work * speeds.get(method, spent / done) for method, work in self._planned.items())
        return known + self._later * spent / (self._cells - 1)

    def text(self) -> str:
        """Return the estimate in words, such as `about 3 min left`; empty if there is none, or nothing is left."""
        seconds = self.seconds()
        if seconds is None or not (self._left or self._later):
            return ""
        if seconds < 90:
            return f"about {max(1, round(seconds))} s left"
        return f"about {seconds / 60:.0f} min left" if seconds < 5400 else f"about {seconds / 3600:.1f} h left"
