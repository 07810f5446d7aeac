"""The claims of the paper's text, checked by their rules on printed or on replayed values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from aacbench.protocols.paper import Claim
from aacbench.reports.paper import by_hand
from aacbench.reports.paper.claim_values import SLACK, Checked, Entry, Numbers, Rule, Values, is_number, matches

HOLDS, FAILS, NOT_CHECKABLE = "holds", "fails", "not checkable"
ROUNDED = ("difference", "values", "range", "equal", "spread")  # rules with numbers in the unit of their column
PLAIN = ("graph", "method")  # names that need no key before them
MOST_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a rule gives for a claim, the numbers it looked at, and how many of the printed cells it had."""

    claim: Claim
    verdict: str
    numbers: str
    used: int = 0
    of: int = 0


def check(claim: Claim, values: Values, printed: Values) -> Verdict:
    """Evaluate a claim's rule; `printed` says how many cells it should have."""
    on_studies = by_hand.RULES.get(claim.id) or RULES.get(claim.rule)
    on_print = by_hand.OF_THE_TEXT.get(claim.id) or on_studies
    rule = on_print if values is printed else on_studies
    if values is not printed and claim.id in by_hand.PRINT_ALONE:
        return Verdict(claim, NOT_CHECKABLE, "a replay does not decide it")
    if rule is None or on_print is None or not claim.exhibits:
        return Verdict(claim, NOT_CHECKABLE, claim.how)
    found = rule(_in_printed_digits(claim, values), values, claim.exhibits)
    whole = on_print(claim, printed, claim.exhibits)
    used, of = len(found.numbers), len(whole.numbers)
    if not used:
        return Verdict(claim, NOT_CHECKABLE, "no value", 0, of)
    if used < of and claim.count is not None:
        return Verdict(claim, NOT_CHECKABLE, "it counts cells that were not replayed", used, of)
    names = [name for name, _ in whole.numbers]
    what = "" if claim.id in {**by_hand.RULES, **by_hand.OF_THE_TEXT} else f"{_quantity(claim)}: "
    return Verdict(claim, HOLDS if found.test(names) else FAILS, what + _shown(found.numbers), used, of)


def _in_printed_digits(claim: Claim, values: Values) -> Claim:
    """Return the claim with room for rounding: its numbers are of rounded values, replayed ones are not rounded."""
    if claim.rule not in ROUNDED:
        return claim
    units = [entry.unit for entry in values[claim.exhibits[0]] if entry.column == claim.column]
    return replace(claim, tolerance=claim.tolerance + max(units, default=Decimal(0)))


def _entries(claim: Claim, values: Values, exhibit: str, more: Mapping[str, Any], column: str) -> list[Entry]:
    """Return the values that a claim looks at, in reading order; those of captions only where the body has none."""
    wanted = {**claim.cells, **more}
    found = [entry for entry in values[exhibit] if entry.column == column and matches(entry.row, wanted)]
    return [entry for entry in found if entry.in_body] or found


def _pairs(claim: Claim, values: Values, exhibits: Sequence[str]) -> list[tuple[str, float, float]]:
    """Pair the cells of `a` with those of `b` that agree in the keys of `by`."""
    ones = _entries(claim, values, exhibits[0], claim.a, claim.column)
    others = _entries(claim, values, claim.b_exhibit or exhibits[0], claim.b, claim.column)
    found = []
    for one in ones:
        same = [other for other in others if all(other.row.get(key) == one.row.get(key) for key in claim.by)]
        if same and is_number(one.value) and is_number(same[0].value):
            found.append((_name(one, claim.by), float(one.value), float(same[0].value)))
    return found


def _ends(claim: Claim, numbers: Numbers, names: Sequence[str]) -> bool:
    """Whether each number is what is expected of it, or their least and greatest are the claim's ends.

    Where only some of the printed cells are there, these need only lie between the ends.
    """
    slack = float(claim.tolerance) + SLACK
    if claim.expect:
        wanted = dict(zip(names, claim.expect, strict=False))
        known = len(names) == len(claim.expect)
        return known and all(abs(number - float(wanted[name])) <= slack for name, number in numbers)
    low, high = float(claim.low or 0), float(claim.high or 0)
    least, greatest = min(number for _, number in numbers), max(number for _, number in numbers)
    if len(numbers) == len(names):
        return abs(least - low) <= slack and abs(greatest - high) <= slack
    return low - slack <= least and greatest <= high + slack


def _derived(formula: Callable[[float, float], float]) -> Rule:
    def rule(claim: Claim, values: Values, exhibits: Sequence[str]) -> Checked:
        numbers = [(name, formula(a, b)) for name, a, b in _pairs(claim, values, exhibits)]
        return Checked(numbers, lambda names: _ends(claim, numbers, names))

    return rule


def _every(holds: Callable[[Claim, float], bool]) -> Rule:
    def rule(claim: Claim, values: Values, exhibits: Sequence[str]) -> Checked:
        numbers = [(name, a - b) for name, a, b in _pairs(claim, values, exhibits)]
        return Checked(numbers, lambda _: all(holds(claim, number) for _, number in numbers))

    return rule


def _column(claim: Claim, values: Values, exhibits: Sequence[str]) -> Checked:
    entries = _entries(claim, values, exhibits[0], {}, claim.column)
    numbers = [(_name(entry), float(entry.value)) for entry in entries if is_number(entry.value)]
    return Checked(numbers, lambda names: _ends(claim, numbers, names))


def _spread(claim: Claim, values: Values, exhibits: Sequence[str]) -> Checked:
    entries = _entries(claim, values, exhibits[0], {}, claim.column)
    # A method that no seed changes is run once, and has no spread.
    numbers = [(_name(entry), entry.spread or 0.0) for entry in entries]
    return Checked(numbers, lambda names: _ends(claim, numbers, names))


def _count_below(claim: Claim, values: Values, exhibits: Sequence[str]) -> Checked:
    entries = _entries(claim, values, exhibits[0], {}, claim.column)
    numbers = [(_name(entry), float(entry.value)) for entry in entries]
    limit = float(claim.limit or 0)

    def test(names: Sequence[str]) -> bool:
        below = sum(number < limit for _, number in numbers)
        return below == claim.count if len(numbers) == len(names) else below == len(numbers)

    return Checked(numbers, test)


def _breakeven(claim: Claim, values: Values, exhibits: Sequence[str]) -> Checked:
    """Queries until AAC has won back its preprocessing, from the seconds and milliseconds of the first exhibit."""
    numbers = []
    for graph in claim.cells["graph"]:
        costs = [_cost(values[exhibits[0]], graph, method) for method in ("aac", "alt")]
        if costs[0] and costs[1]:
            (offline_a, p50_a), (offline_b, p50_b) = costs[0], costs[1]
            gained = (p50_b - p50_a) / 1000
            numbers.append((graph, (offline_a - offline_b) / gained if gained > 0 else float("inf")))
    if claim.limit is not None:
        limit = float(claim.limit)
        return Checked(numbers, lambda _: all(number <= limit for _, number in numbers))
    return Checked(numbers, lambda names: _ends(claim, numbers, names))


def _cost(entries: Sequence[Entry], graph: str, method: str) -> tuple[float, float] | None:
    found = {entry.column: entry.value for entry in entries if matches(entry.row, {"graph": graph, "method": method})}
    return (found["offline_s"], found["p50_ms"]) if {"offline_s", "p50_ms"} <= found.keys() else None


RULES: Mapping[str, Rule] = {
    "difference": _derived(lambda a, b: a - b),
    "ratio": _derived(lambda a, b: a / b),
    "above": _every(lambda _, number: number > SLACK),
    "at-least": _every(lambda _, number: number >= -SLACK),
    "equal": _every(lambda claim, number: abs(number) <= float(claim.tolerance) + SLACK),
    "difference-above": _every(lambda claim, number: number > float(claim.limit or 0)),
    "values": _column,
    "range": _column,
    "spread": _spread,
    "count-below": _count_below,
    "breakeven": _breakeven,
}


def _name(entry: Entry, keys: Sequence[str] | None = None) -> str:
    return " ".join(_word(key, value) for key, value in entry.row.items() if keys is None or key in keys)


def _word(key: str, value: Any) -> str:
    if key == "budget_bytes":
        return f"{value}B/v"
    text = str(value).replace(" ", "_")  # one word, which is left out where all have it
    return text if key in PLAIN else f"{key}={text}"


def _quantity(claim: Claim) -> str:
    """Say what the numbers of a rule are."""
    a, b = (" ".join(_word(key, value) for key, value in side.items()) for side in (claim.a, claim.b))
    if claim.rule == "breakeven":
        return "queries until AAC has won back its preprocessing"
    if claim.rule == "spread":
        return f"sd of {claim.column}"
    if claim.a or claim.b:
        return f"{claim.column} of {a or 'one'} {'/' if claim.rule == 'ratio' else '-'} {b or claim.b_exhibit}"
    return claim.column


def _shown(numbers: Numbers) -> str:
    """Return the numbers under the words of their names that tell them apart."""
    common = set.intersection(*(set(name.split()) for name, _ in numbers)) if len(numbers) > 1 else set()
    words = []
    for name, number in numbers[:MOST_SHOWN]:
        short = " ".join(word for word in name.split() if word not in common)
        words.append(f"{short} {f'{number:.4g}' if is_number(number) else number}".strip())
    more = f" and {len(numbers) - MOST_SHOWN} more" if len(numbers) > MOST_SHOWN else ""
    return ", ".join(words) + more
