"""The statistics of a study as text: a table, notes, and one sentence per comparison to paste into a paper."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from aacbench.reports.formatting import (
    WORK,
    aligned,
    bound,
    graph_names,
    graph_notes,
    literal,
    optional,
    without_markup,
)
from aacbench.reports.statistics import Analysis, Table
from aacbench.run.matched import bytes_apart
from aacbench.stats import Estimand
from aacbench.stats.combine import COMBINATIONS, CORRECTIONS
from aacbench.stats.effects import DIFFERENT, EQUIVALENT, INCONCLUSIVE, WITHIN
from aacbench.stats.estimands import estimand as estimand_of
from aacbench.util.canonical import digest

PROFILE_TAG = "aacbench.profile/1"
TEXT_COLUMNS = ("graph", "outcome", "ratio outcome")


def markdown(table: Table) -> str:
    names = graph_names(table.graphs)
    table = _renamed(table, names)
    said = "\n".join(f"- {note}" for note in [*notes(table), *graph_notes(names)])
    if not table.cells:  # why nothing is compared comes first
        return without_markup(f"{said}\n\n{_heading(table)}")
    parts = [_heading(table), aligned(rows(table), TEXT_COLUMNS), said]
    parts.append("\n".join(sentence(table, cell) for cell in table.cells))
    return without_markup("\n\n".join(filter(None, parts)))


def rows(table: Table) -> list[dict[str, str]]:
    return [_row(table, cell) for cell in table.cells]


def records(table: Table) -> dict[str, Any]:
    profile = table.profile.record()
    return {
        "a": table.a,
        "b": table.b,
        "profile": profile,
        "profile_digest": digest(profile, PROFILE_TAG),
        "estimand": table.estimand.record(),
        "cells": [{**asdict(cell), "sentence": sentence(table, cell)} for cell in table.cells],
        "forest": [asdict(row) for row in table.forest()],
        "unpaired": list(table.unpaired),
        "failures": list(table.failures),
        "notes": list(notes(table)),
    }


def _renamed(table: Table, names: Mapping[str, str]) -> Table:
    def renamed(text: str) -> str:
        for name in sorted(names, key=len, reverse=True):  # one path may begin with another
            text = text.replace(name, names[name])
        return text

    return replace(
        table,
        a=literal(table.a),
        b=literal(table.b),
        cells=tuple(
            replace(cell, graph=names[cell.graph], effect=replace(cell.effect, memory=literal(cell.effect.memory)))
            for cell in table.cells
        ),
        unpaired=tuple(map(renamed, table.unpaired)),
        failures=tuple(literal(renamed(failure)) for failure in table.failures),
        warnings=tuple(map(literal, table.warnings)),
    )


def sentence(table: Table, cell: Analysis) -> str:
    """Return one comparison in words; what was not shown is never called refuted."""
    effect = cell.effect
    table, place = _placed(table, cell)
    if effect.estimate is None:
        return f"{place}, {table.a} and {table.b} were not compared: {effect.reason}"
    claim = f"{place}, {_claim(table, effect.estimate)}"
    name = "" if table.estimand.name == "reduction_of_means_pp" else f"{table.estimand.name}, "
    seeds = f"{effect.seeds or 'no'} seed{'' if effect.seeds == 1 else 's'}"
    sample = f"{name}{seeds}, {effect.queries} queries, {effect.profile}"
    combined, rest = _over_queries(table, cell), f" {effect.memory}" if effect.memory else ""
    rest += _with_work(table, cell)
    if effect.interval95 is None:
        return f"{claim} ({sample}). {effect.status.capitalize()}: {effect.reason}{combined}{rest}"
    span = _span(effect.interval95, table.estimand)
    only = f" {effect.reason}" if effect.reason else ""
    return f"{claim} (95 % interval {span}; {sample}). {_verdict(table, cell)}{only}{combined}{rest}"


def _placed(table: Table, cell: Analysis) -> tuple[Table, str]:
    """Return where the two are compared; without a common budget and equal bytes, each name has its bytes instead."""
    if cell.budget_a == cell.budget_b and not _unmatched(cell, table.profile.bytes_tolerance):
        return table, f"On {cell.graph} at {cell.budget_a:g} B/v"
    a, b = (
        name if held is None else f"{name} ({held:.1f} B/v)"
        for name, held in ((table.a, cell.bytes_a), (table.b, cell.bytes_b))
    )
    return replace(table, a=a, b=b), f"On {cell.graph}"


def _claim(table: Table, estimate: float) -> str:
    a, b, kind = table.a, table.b, table.estimand
    if kind.is_ratio:
        return f"{a} expands {_number(estimate, kind)} times what {b} does"
    if kind.unit == "percentage points":
        more = "more" if estimate >= 0 else "less"
        return f"{a} reduces expansions by {_number(abs(estimate), kind)} percentage points {more} than {b}"
    more = "more" if estimate >= 0 else "fewer"
    return f"{a} expands {_number(abs(estimate), kind)} vertices {more} a query than {b}"


def _verdict(table: Table, cell: Analysis) -> str:
    effect, difference = cell.effect, _difference(table, cell)
    different = f"Different{' in this cell alone' if _lost_by_correction(table, cell) else ''}"
    if effect.margin is None:
        shown = effect.outcome == DIFFERENT
        return f"{different}{difference}." if shown else f"Inconclusive: no difference was shown{difference}."
    high = effect.margin[1]
    equivalence = f"equivalence within {f'a ratio of {high:g}' if table.estimand.is_ratio else _points(high)}"
    p = f" (p = {_p(effect.p_tost)})" if effect.p_tost is not None else ""
    return {
        EQUIVALENT: f"Equivalent: {equivalence} was shown{p}, a difference was not{difference}.",
        DIFFERENT: f"{different}{difference}; {equivalence} was not shown{p}.",
        WITHIN: f"{different}{difference} but within the margin: {equivalence} was shown too{p}.",
        INCONCLUSIVE: f"Inconclusive: neither a difference{difference} nor {equivalence}{p} was shown.",
    }[effect.outcome or INCONCLUSIVE]


def _difference(table: Table, cell: Analysis) -> str:
    """Return the p-value of a difference, with the adjusted one if the family consists of these."""
    p = cell.effect.p_difference
    if p is None:
        return ""
    of_family = _corrected(table, cell) if table.profile.family_of == "difference" else ""
    return f" (p = {_p(p)}{of_family})"


def _over_queries(table: Table, cell: Analysis) -> str:
    """Return the combined p-value over queries, if the family consists of these."""
    if table.profile.family_of == "difference" or cell.family_p is None:
        return ""
    what = f"combined by {table.profile.family_of}" if cell.effect.seeds > 1 else "of the one build"
    return f" Signed ranks over queries, {what}: p = {_p(cell.family_p)}{_corrected(table, cell)}."


def _with_work(table: Table, cell: Analysis) -> str:
    """Return how the two compare with the work that a lazy heuristic does outside the search, which no test counts."""
    if cell.total_ratio is None:
        return ""
    return (
        f" Counted with h_work, {table.a} has {cell.total_ratio:.2f} times the total of {table.b}; this is not tested."
    )


def _corrected(table: Table, cell: Analysis) -> str:
    corrected = cell.adjusted.get(table.profile.correction)
    if corrected is None or _family(table) < 2:
        return ""
    return f", {_p(corrected)} after {CORRECTIONS[table.profile.correction]} over {_family(table)} cells"


def _lost_by_correction(table: Table, cell: Analysis) -> bool:
    """Return whether this cell shows a difference that does not survive the correction over the table."""
    if table.profile.family_of != "difference" or cell.effect.outcome not in (DIFFERENT, WITHIN):
        return False
    corrected = cell.adjusted.get(table.profile.correction)
    return corrected is not None and corrected >= table.profile.family_level


def _heading(table: Table) -> str:
    kind, margin = table.estimand, table.profile.margin(table.estimand)
    ahead = f"{'above' if kind.better == 'higher' else 'below'} {kind.null:g}, A is ahead"
    bounds = (
        f"margin {_number(margin[0], kind)} to {_number(margin[1], kind)}" if margin else "no margin of equivalence"
    )
    return (
        f"A is {table.a}, B is {table.b}; test queries, paired. {kind.name} in {kind.unit}: {ahead}; {bounds}. "
        f"Profile {table.profile.label}: {table.profile.summary}."
    )


def _row(table: Table, cell: Analysis) -> dict[str, str]:
    effect, kind, correction = cell.effect, table.estimand, table.profile.correction
    same = cell.budget_a == cell.budget_b
    row = {
        "graph": cell.graph,
        "budget": f"{cell.budget_a:g}" if same else f"{cell.budget_a:g} / {cell.budget_b:g}",
        "A B/v": optional(cell.bytes_a, ".1f"),
        "B B/v": optional(cell.bytes_b, ".1f"),
        "seeds": str(effect.seeds) if effect.seeds else "none",
        "queries": str(effect.queries),
        "left out": str(effect.left_out) if effect.left_out else "",
        "effect": "" if effect.estimate is None else _number(effect.estimate, kind),
        "h_work A": "" if cell.total_ratio is None else optional(cell.work_a, ".2f"),
        "h_work B": "" if cell.total_ratio is None else optional(cell.work_b, ".2f"),
        "total A/B": optional(cell.total_ratio, ".4f"),
        "sd": optional(effect.sd, f".{kind.digits}f"),
        "90 %": _span(effect.interval90, kind),
        "95 %": _span(effect.interval95, kind),
        "df": optional(effect.df, ".1f"),
        "p different": _p(effect.p_difference),
        "p equivalent": _p(effect.p_tost),
        "outcome": effect.outcome or effect.status,
    }
    combined = {one.name: one.p for one in cell.tests.combined} if cell.tests else {}
    first = [name for name in table.profile.combinations if name == table.profile.family_of]
    warned = [name for name in table.profile.combinations if COMBINATIONS[name].warning]
    row |= {name: _p(combined.get(name)) for name in (*first, *warned)}
    row[f"{correction} {table.profile.family_of}"] = _p(cell.adjusted.get(correction))
    if cell.companion is not None:
        other = estimand_of(cell.companion.estimand)
        row[other.name] = "" if cell.companion.estimate is None else _number(cell.companion.estimate, other)
        row["ratio 95 %"] = _span(cell.companion.interval95, other)
        row["ratio outcome"] = cell.companion.outcome or cell.companion.status
    return row


def notes(table: Table) -> Iterator[str]:
    """Yield what a reader of the table must know."""
    profile, cells = table.profile, table.cells
    unpaired = [f"Not compared: {reason}." for reason in table.unpaired]
    if not cells:
        yield from unpaired
    if any(cell.effect.estimate is not None for cell in cells):
        yield "sd is the sample standard deviation over seeds (ddof 1); intervals are of the effect, not of the sd."
        yield from _family_notes(table)
    if table.estimand.name != profile.estimand:
        yield f"The estimand of {profile.label} is {profile.estimand}; {table.estimand.name} is exploratory."
    if any(cell.total_ratio is not None for cell in cells):
        yield f"{WORK} A total is expansions and h_work together."
    left = {cell.place: cell.effect.left_out for cell in cells if cell.effect.left_out}
    if left:
        listed = ", ".join(f"{count} on {name}" for name, count in left.items())
        yield f"Queries left out because a side did not answer them with every seed: {listed}."
    yield from table.warnings
    yield from _cautions(table)
    if cells:
        yield from unpaired
    yield from (f"Left out: {failure}" for failure in table.failures)


def _family_notes(table: Table) -> Iterator[str]:
    profile, count = table.profile, _family(table)
    if not count:
        yield "There are no p-values, so nothing is corrected over the table."
        return
    name = CORRECTIONS[profile.correction]
    what = "difference" if profile.family_of == "difference" else f"signed ranks combined by {profile.family_of}"
    adjusted = [cell.adjusted[profile.correction] for cell in table.cells]
    kept = sum(p is not None and p < profile.family_level for p in adjusted)
    yield (
        f"Outcomes are of each cell alone. Over the family, which is this table, {kept} of {count} p-values "
        f"({what}) stay below {profile.family_level:g} after {name}."
    )


def _cautions(table: Table) -> Iterator[str]:
    profile, cells = table.profile, table.cells
    shown = {name for name in profile.combinations if name == profile.family_of or COMBINATIONS[name].warning}
    combined = [one for cell in cells if cell.tests for one in cell.tests.combined if one.name in shown]
    yield from dict.fromkeys(one.warning for one in combined if one.warning)
    yield from dict.fromkeys(cell.effect.caution for cell in cells if cell.effect.caution)
    single = {seed for cell in cells for seed in cell.unpaired_seeds}
    if single:
        yield f"Seeds that only one method has were left out: {', '.join(map(str, sorted(single)))}."
    if any(not cell.same_search for cell in cells):
        yield "A and B were searched under different policies, so this compares searches as well as heuristics."
    apart = [cell.place for cell in cells if _unmatched(cell, profile.bytes_tolerance)]
    if apart:
        yield f"Measured bytes differ, so this is not a comparison at matched memory: {', '.join(apart)}."
    allowed = [cell for cell in cells if cell.ratio_allowed is not None]
    if allowed:
        widest = max(allowed, key=lambda cell: cell.ratio_allowed or 0)
        yield (
            f"The margin of {_points(profile.margin_pp)} would let {table.a} expand up to {widest.ratio_allowed:.2f} "
            f"times what {table.b} does on {widest.place}; look at ratios too."
        )


def _unmatched(cell: Analysis, tolerance: float) -> bool:
    return cell.bytes_a is None or cell.bytes_b is None or bytes_apart(cell.bytes_a, cell.bytes_b) > tolerance


def _family(table: Table) -> int:
    return sum(cell.family_p is not None for cell in table.cells)


def _points(value: float) -> str:
    return f"{value:g} percentage point{'' if value == 1 else 's'}"


def _span(interval: tuple[float, float] | None, kind: Estimand) -> str:
    return " to ".join(bound(end, kind.digits) for end in interval or ())


def _number(value: float, kind: Estimand) -> str:
    return f"{value:.{kind.digits}f}"


def _p(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}" if value < 0.0995 else f"{value:.2f}"
