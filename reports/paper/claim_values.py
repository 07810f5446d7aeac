"""The values that claims are checked on, printed or replayed, and what a rule makes of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from aacbench.protocols.paper import Claim, Paper
from aacbench.reports.paper.comparison import compare
from aacbench.reports.paper.studies import Shelf

INDEPENDENT = "independent_queries"  # no column of the paper's: the test queries of all seeds, equal ones once
SLACK = 1e-9  # decimal fractions as floats


@dataclass(frozen=True, slots=True)
class Entry:
    """A value of an exhibit, printed or replayed; `unit` is what a replayed one may differ by for its digits alone."""

    row: Mapping[str, Any]
    column: str
    value: Any
    spread: float | None
    in_body: bool
    unit: Decimal = Decimal(0)


Values = Mapping[str, Sequence[Entry]]  # by exhibit
Numbers = Sequence[tuple[str, Any]]


def printed_values(paper: Paper) -> Values:
    return {
        exhibit.id: [
            Entry(
                printed.row,
                printed.column,
                _plain(printed.content),
                None if printed.spread is None else float(printed.spread),
                "where" not in printed.beside,
            )
            for printed in exhibit.values
        ]
        for exhibit in paper.exhibits.values()
    }


def replayed_values(shelf: Shelf) -> Values:
    """Return the values that were replayed, under the rows of the printed ones."""
    return {
        exhibit.id: [
            Entry(
                done.printed.row,
                done.printed.column,
                done.replayed.value,
                done.replayed.spread,
                "where" not in done.printed.beside,
                done.printed.unit_in_last_place,
            )
            for done in compare(shelf, exhibit)
            if done.replayed is not None
        ]
        + [
            Entry({"graph": study.graph}, INDEPENDENT, count, None, in_body=True)
            for study in shelf.studies(exhibit.id)
            if (count := study.independent_queries())
        ]
        for exhibit in shelf.paper.exhibits.values()
    }


@dataclass(frozen=True, slots=True)
class Checked:
    """The numbers that a rule looks at, by name, and its test, which takes the names of all that are printed."""

    numbers: Numbers
    test: Callable[[Sequence[str]], bool]


Rule = Callable[[Claim, Values, Sequence[str]], Checked]


def matches(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(
        row.get(key) in value if isinstance(value, list | tuple) else row.get(key) == value
        for key, value in wanted.items()
    )


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _plain(content: Mapping[str, Any]) -> Any:
    if "value" in content:
        return float(content["value"])
    if "low" in content:
        return float(content["low"]), float(content["high"])
    return content.get("set", content.get("flag", content.get("text")))
