"""Results of the suite: one per check, a report per method, and both as text."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

PASSED, FAILED, EXPECTED, UNEXPECTED = "passed", "FAILED", "failed as expected", "PASSED UNEXPECTEDLY"
UNSUPPORTED, NOT_RUN, NOTHING = "unsupported", "NOT RUN", "nothing to do"
OK = (PASSED, EXPECTED, UNSUPPORTED, NOTHING)
RAN = (PASSED, FAILED, EXPECTED, UNEXPECTED)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The smallest graph found on which a check fails, and what was seen there."""

    zoo_graph: str
    sentence: str
    vertices: int
    arcs: tuple[tuple[int, int, int | float], ...]
    made_smaller: bool = True

    @property
    def code(self) -> str:
        """Python code that makes the graph."""
        tails, heads, weights = ([arc[k] for arc in self.arcs] for k in range(3))
        return f"from_arcs({self.vertices}, {tails}, {heads}, {weights})"

    def lines(self) -> list[str]:
        """The counterexample as text, with the code that reproduces the graph."""
        arcs = ", ".join(f"{u} -> {v}: {weight}" for u, v, weight in self.arcs) or "none"
        origin = f"{self.zoo_graph}, made smaller" if self.made_smaller else self.zoo_graph
        return [
            self.sentence,
            f"smallest graph found ({origin}): {self.vertices} vertices, arcs {arcs}",
            self.code,
        ]


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one check over all graphs. `reason` says why it did not run, or was expected to fail."""

    check: str
    status: str
    graphs: tuple[str, ...] = ()
    unsupported: Mapping[str, str] = field(default_factory=dict)
    failed: tuple[str, ...] = ()
    counterexample: Counterexample | None = None
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether there is nothing to fix."""
        return self.status in OK

    @property
    def ran_nowhere(self) -> bool:
        """Whether another check's failure kept this one from every graph; the report has one line for all of these."""
        return self.status == NOT_RUN and not self.graphs

    def lines(self) -> list[str]:
        """The result as text: one line, then indented details."""
        count = f"{len(self.graphs)} graph{'s' if len(self.graphs) != 1 else ''}"
        more = f", {len(self.unsupported)} unsupported" if self.unsupported else ""
        head = f"{self.check:<20} {self.status:<13} {count}{more}"
        details = [self.reason] if self.reason else []
        if self.failed:
            everywhere = len(self.failed) == len(self.graphs) > 1
            details.append(f"fails on {'all' if everywhere else ', '.join(self.failed)}")
        if self.counterexample is not None:
            details += self.counterexample.lines()
        return [head, *(f"    {line}" for line in details)]


@dataclass(frozen=True, slots=True)
class Report:
    """The results of all checks that a method's claims require."""

    method: str
    results: tuple[Result, ...]
    not_claimed: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every check passed or failed as expected."""
        return all(result.ok for result in self.results)

    @property
    def ran(self) -> int:
        """How many checks ran to a result."""
        return sum(result.status in RAN for result in self.results)

    @property
    def due(self) -> int:
        """How many checks had something to compare."""
        return sum(result.status != NOTHING for result in self.results)

    def result(self, check: str) -> Result:
        """The result of the check of this name."""
        return next(result for result in self.results if result.check == check)

    def failures(self) -> dict[str, Result]:
        """The results that are not ok, by the name of the check."""
        return {result.check: result for result in self.results if not result.ok}

    def text(self) -> str:
        """The whole report as text."""
        shown = [line for result in self.results if not result.ran_nowhere for line in result.lines()]
        return "\n".join(shown + self.closing())

    def closing(self) -> list[str]:
        """The lines after the results: checks that did not run, claims not made, refused graphs, and the counts."""
        absent = [f"{name:<20} not claimed" for name in self.not_claimed]
        return [*self._ran_nowhere(), *absent, *self._unsupported(), "", self.summary()]

    def summary(self) -> str:
        """How many checks ran and with which status, then how many did not."""
        counts = Counter(result.status for result in self.results)
        ran = ", ".join(f"{count} {status}" for status, count in counts.items() if status in RAN)
        others = ", ".join(f"{count} {status}" for status, count in counts.items() if status not in RAN)
        head = f"{self.method}: {self.ran} of {self.due} checks ran" + (f": {ran}" if ran else "")
        return f"{head}; {others}" if others else head

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

    def _ran_nowhere(self) -> list[str]:
        checks = defaultdict(list)
        for result in self.results:
            if result.ran_nowhere:
                checks[result.reason].append(result.check)
        return [f"NOT RUN: {', '.join(names)}\n    {reason}" for reason, names in checks.items()]

    def _unsupported(self) -> list[str]:
        """A line for each reason, and one for all reasons that differ in numbers only."""
        refused = {graph: reason for result in self.results for graph, reason in result.unsupported.items()}
        alike = defaultdict(list)
        for graph, reason in refused.items():
            alike[re.sub(r"\d+(\.\d+)?", "0", reason)].append(graph)
        lines = []
        for graphs in alike.values():
            reason = refused[graphs[0]]
            same = [graph for graph in graphs if refused[graph] == reason]
            others = [graph for graph in graphs if refused[graph] != reason]
            more = f" (with other numbers on {', '.join(others)})" if others else ""
            lines.append(f"unsupported on {', '.join(same)}: {reason}{more}")
        return ["", *lines] if lines else []
