"""The result of a study in two sentences, generated from its tables."""

from collections import Counter
from collections.abc import Iterable, Sequence

from aacbench.reports.statistics import Analysis, Table
from aacbench.reports.tables import Row
from aacbench.run.records import BASELINE, without_traffic
from aacbench.stats.effects import DEGENERATE, DIFFERENT, WITHIN
from aacbench.stats.profiles import MEASURED

MOST_NAMED = 4  # methods that a sentence names; more are counted


def two_sentences(rows: Sequence[Row], tables: Sequence[Table], places: str = "") -> str:
    """Return who expands least at each budget, and what the tests say; `places` stands for the number of graphs."""
    return f"{_fewest(rows, places)} {_tested(tables)}"


def _fewest(rows: Sequence[Row], places: str) -> str:
    ranked = [row for row in rows if _comparable(row)]
    if not ranked:
        return "No cell of a method has answers to test queries."
    lazy = list(dict.fromkeys(row.method for row in ranked if row.h_work))
    work = f" The own work of {_and(lazy)}, h_work, is not in these numbers." if lazy else ""
    return f"{_least(ranked, places)}{work}"


def _least(ranked: Sequence[Row], told: str) -> str:
    places: dict[tuple[str, float], list[Row]] = {}
    for row in ranked:
        places.setdefault((row.graph, row.budget), []).append(row)
    methods = list(dict.fromkeys(row.method for row in ranked))
    graphs = {without_traffic(row.graph, row.traffic) for row in ranked}
    where = f"{told or _count(len(graphs), 'graph')} at {_and(_budgets(ranked))} B/v"
    if len(places) == 1 and 1 < len(methods) <= MOST_NAMED:
        first, *rest = sorted(ranked, key=lambda row: row.test or 0)
        beside = _and([f"{row.method} {row.test:,.1f}" for row in rest])
        place = f"On {first.graph} at {first.budget:g} B/v"
        return f"{place}, {first.method} expands {first.test:,.1f} vertices per query, {beside}."
    if len(methods) == 1:
        reductions = [row.reduction for row in ranked if row.reduction is not None]
        if not reductions:
            return f"{methods[0]} was measured on {where}, and there is no {BASELINE} to compare it with."
        span = f"{min(reductions):.2f}" if len(reductions) == 1 else f"{min(reductions):.2f} to {max(reductions):.2f}"
        return f"{methods[0]} expands {span} % fewer vertices than {BASELINE}, on {where}."
    won = Counter(row.method for group in places.values() for row in group if row.test == min(_tests(group)))
    tied = sum(won.values()) > len(places)
    best = sorted(won, key=lambda name: -won[name])
    listed = _and([f"{name} in {won[name]}" for name in best[:MOST_NAMED]] + _others(best[MOST_NAMED:], won))
    ties = " (a tie counts for each)" if tied else ""
    return (
        f"On {where}, the method that expands the fewest vertices at a budget is "
        f"{listed} of {_count(len(places), 'case')}{ties}."
    )


def _tested(tables: Sequence[Table]) -> str:
    compared = [table for table in tables if table.cells]
    if not compared:
        reasons = [reason for table in tables for reason in table.unpaired]
        return f"No two methods were tested against each other{f': {reasons[0]}' if reasons else ''}."
    outcomes = {table.a: Counter(_outcome(cell, table) for cell in table.cells) for table in compared}
    if len(compared) > MOST_NAMED:
        outcomes = {f"{len(compared)} methods": sum(outcomes.values(), Counter())}
    verb = "are" if len(compared) > MOST_NAMED else "is"
    parts = [
        f"{name} {verb} {_and([f'{outcome} in {count}' for outcome, count in counts.most_common()])} "
        f"of {_count(counts.total(), 'case')}"
        for name, counts in outcomes.items()
    ]
    others = {table.b for table in compared}
    against = f" against {others.pop()}" if len(others) == 1 else ""
    profiles = _and(list(dict.fromkeys(table.profile.label for table in compared)))
    matched = all(table.profile.pairing == MEASURED for table in compared)
    how = "at matched memory" if matched else "at the same budget"
    return f"Tested{against} {how}, {'; '.join(parts)} (analysis {profiles})."


def _others(names: Sequence[str], won: Counter[str]) -> list[str]:
    return [f"{len(names)} others in {sum(won[name] for name in names)}"] if names else []


def _outcome(cell: Analysis, table: Table) -> str:
    effect = cell.effect
    if effect.outcome in (DIFFERENT, WITHIN) and effect.estimate is not None:
        ahead = (effect.estimate > effect.null) == (table.estimand.better == "higher")
        return f"{effect.outcome} ({'better' if ahead else 'worse'})"
    if effect.status == DEGENERATE and effect.estimate == effect.null:
        return "exactly equal"
    return effect.outcome or effect.status


def _comparable(row: Row) -> bool:
    """Whether a row may be ranked: no baseline, oracle, declared or exceeded bytes, and shortest paths."""
    fair = row.matched and not row.oracle and not row.declared and row.cost_mean is None
    return fair and row.method != BASELINE and row.outcome == "ok" and row.test is not None


def _tests(rows: Iterable[Row]) -> list[float]:
    return [row.test for row in rows if row.test is not None]


def _budgets(rows: Iterable[Row]) -> list[str]:
    return [f"{budget:g}" for budget in sorted({row.budget for row in rows})]


def _and(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
