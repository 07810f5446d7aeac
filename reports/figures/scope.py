"""What a figure is about, from the cells it was drawn from: the caption line, and which methods may be compared."""

from collections.abc import Iterable, Sequence

from aacbench.reports.formatting import graph_names, is_matched, is_oracle
from aacbench.run.matched import self_reported
from aacbench.run.records import BASELINE, CORNER, TEST
from aacbench.run.store import Cell

MANY = 6  # values are listed up to so many, and counted beyond


def caption_of(cells: Iterable[Cell], *more: str) -> str:
    """Return graph, bytes, convention, policy, seeds and queries of these cells in one line, and `more` behind it."""
    found = [cell for cell in cells if cell.key["label"] != BASELINE] or list(cells)
    names = graph_names(dict.fromkeys(cell.key["graph"] for cell in found))
    conventions = sorted({"{name}/{version}".format(**cell.key["convention"]) for cell in found})
    place = "prediction" if any(CORNER in cell.key.get("splits", ()) for cell in found) else "graph"
    parts = [
        listed(place, f"{place}s", names.values()),
        f"{listed('', 'budgets', _numbers(found, 'budget'))} B/v ({', '.join(conventions)})",
        f"search {' and '.join(sorted({str(cell.key.get('policy', 'unknown')) for cell in found}))}",
        listed("seed", "seeds", _numbers(found, "seed")),
        f"{query_count(found)} test queries a {place}",
        *more,
    ]
    return "; ".join(filter(None, parts)) + "."


def listed(one: str, several: str, values: Iterable[str]) -> str:
    found = list(dict.fromkeys(values))
    if len(found) > MANY:
        return f"{len(found)} {several}"
    return f"{one if len(found) == 1 else several if one else ''} {', '.join(found)}".strip()


def _numbers(cells: Sequence[Cell], name: str) -> list[str]:
    return [f"{value:g}" for value in sorted({cell.key[name] for cell in cells})]


def query_count(cells: Iterable[Cell]) -> str:
    counts = sorted({cell.count(TEST) for cell in cells if cell.outcome == "ok"})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}" if counts else "no"


def why_apart(cells: Sequence[Cell]) -> str:
    """Return why a method's cells cannot be ranked beside others, or an empty text."""
    if is_oracle(cells):
        return "oracle"
    if not is_matched(cells):
        return "over budget"
    if any(not cell.claims.get("admissible", True) for cell in cells):
        return "not shortest paths"
    return "declared bytes" if self_reported(cells) else ""


def methods_of(cells: Iterable[Cell]) -> list[str]:
    """Return the labels of all methods, in the study's order."""
    return list(dict.fromkeys(cell.key["label"] for cell in cells))
