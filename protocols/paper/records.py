"""What the paper prints and claims, and how it is replayed, as records."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from aacbench.errors import UsageError
from aacbench.util.text import suggestion

# Keys of a printed value that name its row; the settings among them are the product's names.
PLACE = ("graph", "method", "budget_bytes", "split", "mode", "variant", "direction", "against")
SETTINGS = ("K0", "m", "K", "P", "r", "arm", "epochs", "lr", "batch", "init", "lambda_cov", "restarts")
FACTS = (
    "encoder",
    "alpha_cost",
    "stem",
    "blocks",
    "channels",
    "head",
)  # of the contextual rows, which are not replayed
NUMBERS = ("value", "plus_minus", "low", "high")
CONTENT = (*NUMBERS, "set", "flag", "text")
BESIDE = (
    *("n", "note", "where", "printed", "bold", "approx", "bound", "delta", "memory_bytes", "q", "of"),
    *("times_low", "times_high", "numerator", "denominator"),
)
_SCALES = {"K": 1_000, "M": 1_000_000}


@dataclass(frozen=True, slots=True)
class Printed:
    """One printed value: the names of its row, its column, and what is printed there."""

    row: Mapping[str, Any]
    column: str
    content: Mapping[str, Any]
    beside: Mapping[str, Any]

    @property
    def value(self) -> Decimal | None:
        return self.content.get("value")

    @property
    def spread(self) -> Decimal | None:
        return self.content.get("plus_minus")

    @property
    def settings(self) -> dict[str, Any]:
        return {key: value for key, value in self.row.items() if key in SETTINGS}

    @property
    def unit_in_last_place(self) -> Decimal:
        """What one more in the last printed digit is worth: 0.1 for 88.9, a thousand for 264K."""
        printed = self.beside.get("printed")
        if printed and printed[-1].upper() in _SCALES:
            return Decimal(1).scaleb(_exponent(Decimal(printed[:-1]))) * _SCALES[printed[-1].upper()]
        return Decimal(1).scaleb(_exponent(self.value)) if self.value is not None else Decimal(0)

    @property
    def name(self) -> str:
        """The row in words, without graph, method and budget."""
        shown = {key: value for key, value in self.row.items() if key not in ("graph", "method", "budget_bytes")}
        return " ".join(str(value) if key in PLACE else f"{key}={value}" for key, value in shown.items())

    def text(self) -> str:
        """What is printed, in its own digits."""
        content = self.content
        if "value" in content:
            shown = self.beside.get("printed") or _digits(content["value"])
            return f"{shown} +- {_digits(content['plus_minus'])}" if "plus_minus" in content else shown
        if "low" in content:
            return f"{_digits(content['low'])} to {_digits(content['high'])}"
        if "set" in content:
            return ", ".join(_digits(entry) for entry in content["set"])
        if "flag" in content:
            return "yes" if content["flag"] else "no"
        return str(content.get("text", ""))


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def _digits(value: Any) -> str:
    return str(value).replace("E", "e")


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperGraph:
    """A graph of the paper: its name there, and which graphs may be looked at instead."""

    id: str
    printed: str
    size_printed: str
    note: str = ""
    stand_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRun:
    """A protocol that replays rows of one or more exhibits; the keys are explained in `runs.toml`."""

    name: str
    exhibits: Mapping[str, tuple[str, ...]]
    protocol: Mapping[str, Any]
    stand_in: tuple[str, ...] = ()
    compare: bool = True
    prints: Mapping[str, Any] = field(default_factory=dict)
    seeds_of: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    seed_draws: bool = False

    @property
    def graphs(self) -> tuple[str, ...]:
        """The paper's graphs that the run is for, of all exhibits."""
        return tuple(dict.fromkeys(graph for graphs in self.exhibits.values() for graph in graphs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why some printed values differ from their replay: those of these exhibits with such a row and column."""

    exhibits: tuple[str, ...]
    says: str
    rows: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    def fits(self, label: str, printed: Printed) -> bool:
        in_row = all(printed.row.get(key) in values for key, values in self.rows.items())
        return label in self.exhibits and in_row and (not self.columns or printed.column in self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """A table or figure: what it shows, how far it can be replayed, and each number it prints."""

    id: str
    kind: str
    title: str
    section: str
    claim: str
    replay: str
    replay_why: str
    graphs: tuple[str, ...]
    known: tuple[str, ...]
    caption: tuple[str, ...]
    values: tuple[Printed, ...]
    reruns: tuple[Printed, ...]
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim of the paper's text, and the rule that checks it on the values of its first exhibit."""

    id: str
    where: str
    says: str
    numbers: tuple[Any, ...]
    exhibits: tuple[str, ...]
    rule: str
    on_printed: str
    status: str
    checkable_here: str
    remark: str = ""
    how: str = ""
    column: str = ""
    a: Mapping[str, Any] = field(default_factory=dict)
    b: Mapping[str, Any] = field(default_factory=dict)
    b_exhibit: str = ""
    cells: Mapping[str, Any] = field(default_factory=dict)
    by: tuple[str, ...] = ("graph", "budget_bytes")
    low: Decimal | None = None
    high: Decimal | None = None
    expect: tuple[Any, ...] = ()
    limit: Decimal | None = None
    count: int | None = None
    tolerance: Decimal = Decimal("0.05")
    ref: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedRecord:
    """What the authors published of single runs: AAC's reductions by seed, ALT's, and the p-values over queries."""

    graph: str
    budget_bytes: int
    aac: tuple[Decimal, ...]
    alt: Decimal
    p_by_seed: tuple[Decimal, ...] = ()


@dataclass(frozen=True, slots=True)
class Paper:
    """Everything the paper prints and claims, and the runs that replay it."""

    title: str
    graphs: Mapping[str, PaperGraph]
    exhibits: Mapping[str, Exhibit]
    runs: tuple[PaperRun, ...]
    reasons: tuple[Reason, ...]
    claims: tuple[Claim, ...]
    records: tuple[SeedRecord, ...]

    def exhibit(self, label: str) -> Exhibit:
        if label not in self.exhibits:
            raise UsageError(f"Unknown exhibit {label!r}{suggestion(label, self.exhibits)} `aacbench paper` lists all.")
        return self.exhibits[label]

    def runs_of(self, label: str) -> list[PaperRun]:
        return [run for run in self.runs if label in run.exhibits]

    def reasons_of(self, label: str) -> list[Reason]:
        return [reason for reason in self.reasons if label in reason.exhibits]
