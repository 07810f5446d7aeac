"""The output of `aacbench run --dry-run`: the planned cells, their estimated work, and which exist."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from aacbench.contract.budget import GraphInfo
from aacbench.reports.formatting import LONGEST_REASON, aligned, graph_names, graph_notes, short_settings
from aacbench.run.plan import CellPlan
from aacbench.run.records import BASELINE, STRATA, Study
from aacbench.util.text import one_line

Planned = tuple[CellPlan, str]


def plan_text(
    study: Study,
    root: Path,
    cells: Collection[Planned],
    infos: Mapping[str, GraphInfo],
    existing: Collection[str],
    defaults: Mapping[str, Mapping[str, Any]],
) -> str:
    """Return the plan as a table, with totals and unsupported cells below it."""
    names = graph_names(infos)
    work = {name: _work(study, cell, infos[cell.graph]) for cell, name in cells}
    groups: dict[tuple[str, str, float, str], list[Planned]] = {}
    for cell, name in cells:
        settings = short_settings(cell.method, cell.params, defaults)
        groups.setdefault((cell.graph, cell.label, cell.budget, settings), []).append((cell, name))
    rows = [
        {
            "graph": names[graph],
            "method": label,
            "nominal B/v": "" if group[0][0].method == BASELINE else f"{budget:g}",
            "settings": settings,
            "seeds": str(len({cell.seed for cell, _ in group})),
            "cells": str(len(group)),
            "there": str(sum(name in existing for _, name in group) or ""),
            "work": f"{sum(work[name] for _, name in group):.3g}",
        }
        for (graph, label, budget, settings), group in groups.items()
    ]
    done = sum(name in existing for _, name in cells)
    left = sum(work[name] for _, name in cells if name not in existing)
    lines = [
        f"{len(cells)} cells into {root}, of which {done} {'is' if done == 1 else 'are'} there already.",
        f"Estimated work for the others: at most {left:.3g} vertices to search (vertices x queries).",
        f"Search {study.search}, bytes by {study.convention}, {study.queries.validation} validation and "
        f"{study.queries.test} test queries{' per stratum' if study.queries.mode == STRATA else ''}.",
    ]
    if choices := {cell.group for cell, _ in cells if cell.group}:
        more = f"{len(choices)} more {'cell' if len(choices) == 1 else 'cells'} on test queries"
        split = "test queries themselves" if study.selection == "retrospective" else "validation queries"
        lines.append(f"{more} will follow, with settings chosen on the {split}.")
    refused = {
        f"not run: {cell.label} on {names[cell.graph]}: {one_line(reason, LONGEST_REASON)}"
        for cell, _ in cells
        if (reason := cell.unsupported or (f"{cell.failure}: {cell.failed}" if cell.failed else ""))
    }
    table = aligned(rows, ("graph", "method", "settings"))
    return "\n".join([table, "", *lines, *graph_notes(names), *sorted(refused)])


def _work(study: Study, cell: CellPlan, info: GraphInfo) -> int:
    queries = sum(study.queries.most(split, info.vertices) for split in cell.splits)
    return 0 if cell.unsupported or cell.failed else info.vertices * queries
