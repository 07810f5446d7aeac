"""What `aacbench run --dry-run` prints: the cells there would be, what they cost, and which are there already."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from aacbench.contract.budget import GraphInfo
from aacbench.reports.tables import LONGEST_REASON, aligned, short_settings
from aacbench.run.plan import BASELINE, CellPlan
from aacbench.run.records import STRATA, Study
from aacbench.util.text import one_line

Planned = tuple[CellPlan, str]


def plan_text(
    study: Study,
    root: Path,
    cells: Collection[Planned],
    infos: Mapping[str, GraphInfo],
    there: Collection[str],
    defaults: Mapping[str, Mapping[str, Any]],
) -> str:
    """The plan in a table, with sums and refusals below it."""
    groups: dict[tuple[str, str, float, str], list[Planned]] = {}
    for cell, name in cells:
        settings = short_settings(cell.method, cell.params, defaults)
        groups.setdefault((cell.graph, cell.label, cell.budget, settings), []).append((cell, name))
    rows = [
        _row(study, group, infos[graph], there) | {"settings": settings}
        for (graph, _, _, settings), group in groups.items()
    ]
    work = sum(_work(study, cell, infos[cell.graph]) for cell, name in cells if name not in there)
    done = sum(name in there for _, name in cells)
    lines = [
        f"{len(cells)} cells into {root}, of which {done} {'is' if done == 1 else 'are'} there already.",
        f"Estimated work: {work:.3g} vertices to search at most (vertices x queries) for those that are not.",
        f"Search {study.search}, bytes by {study.convention}, {study.queries.validation} validation and "
        f"{study.queries.test} test queries{' per stratum' if study.queries.mode == STRATA else ''}.",
    ]
    if any(cell.group for cell, _ in cells):
        groups_of_choice = {cell.group for cell, _ in cells if cell.group}
        more = f"{len(groups_of_choice)} more {'cell' if len(groups_of_choice) == 1 else 'cells'}"
        chosen = "on the test queries themselves" if study.selection == "retrospective" else "on validation"
        lines.append(f"{more}, on test queries, will follow from choices {chosen}.")
    refused = {
        f"not run: {cell.label} on {cell.graph}: {one_line(reason, LONGEST_REASON)}"
        for cell, _ in cells
        if (reason := cell.unsupported or (f"{cell.failure}: {cell.failed}" if cell.failed else ""))
    }
    return "\n".join([aligned(rows, ("graph", "method", "settings")), "", *lines, *sorted(refused)])


def _row(study: Study, group: list[Planned], info: GraphInfo, there: Collection[str]) -> dict[str, str]:
    cell = group[0][0]
    done = sum(name in there for _, name in group)
    return {
        "graph": cell.graph,
        "method": cell.label,
        "nominal B/v": "" if cell.method == BASELINE else f"{cell.budget:g}",
        "settings": "",
        "seeds": str(len({cell.seed for cell, _ in group})),
        "cells": str(len(group)),
        "there": str(done) if done else "",
        "work": f"{sum(_work(study, cell, info) for cell, _ in group):.3g}",
    }


def _work(study: Study, cell: CellPlan, info: GraphInfo) -> int:
    queries = sum(study.queries.most(split, info.vertices) for split in cell.splits)
    return 0 if cell.unsupported or cell.failed else info.vertices * queries
