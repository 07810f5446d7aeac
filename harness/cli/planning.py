"""The output of `aacbench run --dry-run`: the planned cells, their estimated work, and which exist."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from aacbench.contract.budget import GraphInfo
from aacbench.reports.formatting import LONGEST_REASON, aligned, graph_names, graph_notes, short_settings
from aacbench.run.plan import CellPlan
from aacbench.run.records import BASELINE, Study
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
    groups: dict[tuple[str, str, float, str], list[Planned]] = {}
    for cell, name in cells:
        settings = short_settings(cell.method, cell.params, defaults)
        groups.setdefault((cell.graph, cell.label, cell.budget, settings), []).append((cell, name))
    rows = [
        _row(study, group, infos[graph], existing) | {"graph": names[graph], "settings": settings}
        for (graph, _, _, settings), group in groups.items()
    ]
    work = sum(_work(study, cell, infos[cell.graph]) for cell, name in cells if name not in existing)
    done = sum(name in existing for _, name in cells)
    lines = [
        f"{len(cells)} cells into {root}, of which {done} {'is' if done == 1 else 'are'} there already.",
        f"Estimated work for the others: at most {work:.3g} vertices to search (vertices x queries).",
        f"Search {study.search}, bytes by {study.convention}, {study.queries.validation} validation and "
        f"{study.queries.test} test queries.",
    ]
    if choices := {cell.group for cell, _ in cells if cell.group}:
        more = f"{len(choices)} more {'cell' if len(choices) == 1 else 'cells'} on test queries"
        split = "test queries themselves" if study.selection == "retrospective" else "validation queries"
        lines.append(f"{more} will follow, with settings chosen on the {split}.")
    lines += graph_notes(names)
    refused = {
        f"not run: {cell.label} on {names[cell.graph]}: {one_line(reason, LONGEST_REASON)}"
        for cell, _ in cells
        if (reason := cell.unsupported or (f"{cell.failure}: {cell.failed}" if cell.failed else ""))
    }
    return "\n".join([aligned(rows, ("graph", "method", "settings")), "", *lines, *sorted(refused)])


def _row(study: Study, group: list[Planned], info: GraphInfo, existing: Collection[str]) -> dict[str, str]:
    cell = group[0][0]
    done = sum(name in existing for _, name in group)
    return {
        "graph": "",
        "method": cell.label,
        "nominal B/v": "" if cell.method == BASELINE else f"{cell.budget:g}",
        "settings": "",
        "seeds": str(len({cell.seed for cell, _ in group})),
        "cells": str(len(group)),
        "there": str(done) if done else "",
        "work": f"{sum(_work(study, cell, info) for cell, _ in group):.3g}",
    }


def _work(study: Study, cell: CellPlan, info: GraphInfo) -> int:
    counts = {"validation": study.queries.validation, "test": study.queries.test}
    return 0 if cell.unsupported or cell.failed else info.vertices * sum(counts[split] for split in cell.splits)
