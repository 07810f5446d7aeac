"""What came out of the suite: a result for each check, a report for a method, and both in words."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

PASSED, FAILED, EXPECTED, UNEXPECTED = "passed", "FAILED", "failed as expected", "PASSED UNEXPECTEDLY"
UNSUPPORTED, NOT_RUN, NOTHING = "unsupported", "NOT RUN", "nothing to do"
GOOD = (PASSED, EXPECTED, UNSUPPORTED, NOTHING)
CAME_OUT = (PASSED, FAILED, EXPECTED, UNEXPECTED)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A graph as small as could be found on which a check fails, and what was seen there."""

    zoo_graph: str
    sentence: str
    vertices: int
    arcs: tuple[tuple[int, int, int | float], ...]
    made_smaller: bool = True

    @property
    def code(self) -> str:
        """Python that makes the graph again."""
        tails, heads, weights = ([arc[k] for arc in self.arcs] for k in range(3))
        return f"from_arcs({self.vertices}, {tails}, {heads}, {weights})"

    def lines(self) -> list[str]:
        """The counterexample for a person to follow and to reproduce."""
        arcs = ", ".join(f"{u} -> {v}: {weight}" for u, v, weight in self.arcs) or "none"
        origin = f"{self.zoo_graph}, made smaller" if self.made_smaller else self.zoo_graph
        return [
            self.sentence,
            f"smallest graph found ({origin}): {self.vertices} vertices, arcs {arcs}",
            self.code,
        ]


@dataclass(frozen=True, slots=True)
class Result:
    """How one check came out over the zoo. `reason` says why one was expected to fail, or did not run."""

    check: str
    status: str
    graphs: tuple[str, ...] = ()
    unsupported: Mapping[str, str] = field(default_factory=dict)
    failed: tuple[str, ...] = ()
    counterexample: Counterexample | None = None
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether there is nothing to mend."""
        return self.status in GOOD

    def lines(self) -> list[str]:
        """The result in words, a line and what belongs below it."""
        count = f"{len(self.graphs)} graph{'s' if len(self.graphs) != 1 else ''}"
        more = f", {len(self.unsupported)} unsupported" if self.unsupported else ""
        head = f"{self.check:<20} {self.status:<13} {count}{more}"
        below = [self.reason] if self.reason else []
        if self.failed:
            below.append(f"fails on {', '.join(self.failed)}")
        if self.counterexample is not None:
            below += self.counterexample.lines()
        return [head, *(f"    {line}" for line in below)]


@dataclass(frozen=True, slots=True)
class Report:
    """Every check of a method that its claims call for."""

    method: str
    results: tuple[Result, ...]
    not_claimed: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every check passed, or failed as was expected."""
        return all(result.ok for result in self.results)

    @property
    def ran(self) -> int:
        """How many checks came to a result."""
        return sum(result.status in CAME_OUT for result in self.results)

    @property
    def due(self) -> int:
        """How many checks there was something to look at for."""
        return sum(result.status != NOTHING for result in self.results)

    def result(self, check: str) -> Result:
        """The result of the check of this name."""
        return next(result for result in self.results if result.check == check)

    def failures(self) -> dict[str, Result]:
        """The results that are not ok, by the name of the check."""
        return {result.check: result for result in self.results if not result.ok}

    def text(self) -> str:
        """The whole report, the count last."""
        return "\n".join([line for result in self.results for line in result.lines()] + self.closing())

    def closing(self) -> list[str]:
        """What comes after the results: checks not called for, graphs refused, and the count."""
        absent = [f"{name:<20} not claimed" for name in self.not_claimed]
        return [*absent, *self._unsupported(), "", self.summary()]

    def summary(self) -> str:
        """How many checks ran, and how they came out."""
        counts = Counter(result.status for result in self.results)
        said = ", ".join(f"{count} {status}" for status, count in counts.items())
        return f"{self.method}: {self.ran} of {self.due} checks ran: {said}"

    def record(self) -> dict[str, Any]:
        """Every value, for JSON."""
        return {
            "method": self.method,
            "ok": self.ok,
            "ran": self.ran,
            "due": self.due,
            "not_claimed": list(self.not_claimed),
            "results": [{**asdict(result), "ok": result.ok} for result in self.results],
        }

    def _unsupported(self) -> list[str]:
        """Which graphs the method refuses, and why."""
        refused = {graph: why for result in self.results for graph, why in result.unsupported.items()}
        return ["", *(f"unsupported on {graph}: {why}" for graph, why in refused.items())] if refused else []
