"""The cells a report is made of: those of a study's current plan, sound, in its order, with the marks they bear."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from aacbench.run.store import Cell
from aacbench.run.study import read_study

UNMATCHED = "deploys more than its budget by design, so it is no part of a comparison at matched memory."
ORACLE = "is shown the test queries, so it is a bound to compare with and cannot be deployed."


@dataclass(frozen=True, slots=True)
class Marks:
    """What keeps a method from standing beside others as if it were one of them; no table may leave it out."""

    oracle: bool
    matched: bool

    @property
    def text(self) -> str:
        """What is put behind the method's name."""
        return (" (oracle)" if self.oracle else "") + ("" if self.matched else " (over budget)")

    @property
    def notes(self) -> list[str]:
        """What the marks mean, a line each, to stand below a table."""
        oracle = [f"(oracle): {ORACLE}"] if self.oracle else []
        return oracle + ([] if self.matched else [f"(over budget): {UNMATCHED}"])


def marks_of(cells: Iterable[Cell], oracles: Collection[str] = ()) -> Marks:
    """The marks of a method, given its cells; `oracles` are methods known to be shown the test queries."""
    found = [(cell.key["method"], cell.record.get("claims", {})) for cell in cells]
    return Marks(
        oracle=any(method in oracles or bool(claims.get("oracle")) for method, claims in found),
        matched=all(bool(claims.get("matched", True)) for _, claims in found),
    )


def all_marks(marks: Iterable[Marks]) -> Marks:
    """Every mark that some row of a table bears."""
    every = list(marks)
    return Marks(any(one.oracle for one in every), all(one.matched for one in every))


def planned_cells(root: Path) -> list[Cell]:
    """Every cell of the plan that is there and undamaged."""
    return read_study(root).planned_cells()
