"""Studies made by hand: cells with the rows a test wants, committed as a run would."""

import numpy as np

from aacbench.run.layout import cell_id
from aacbench.run.rows import write_queries, write_timings
from aacbench.run.store import commit
from aacbench.run.study import write_plan

PAPER = {"name": "directionality-aware", "version": 1}
MEASURED = {"name": "measured", "version": 1}


def made_cell(label, expanded, *, graph="p7", budget=32, seed=1, outcome="ok", reason="", unreachable=(), **more):
    """A cell with rows of so many expansions; `more` goes into its record."""
    key = {
        "graph": graph,
        "graph_digest": more.pop("graph_digest", "g"),
        "method": label.partition("[")[0],
        "label": label,
        "params": more.pop("params", {}),
        "budget": budget,
        "convention": more.pop("convention", MEASURED),
        "seed": seed,
        "splits": [split := more.pop("split", "test")],
        "policy": more.pop("policy", "modern"),
        "role": more.pop("role", "single"),
    }
    times, control, costs = (more.pop(name, None) for name in ("times", "control", "costs"))
    bytes_held = {"nominal_per_vertex": budget, "measured_per_vertex": more.pop("measured", float(budget))}
    more.setdefault("build", {"seconds": 0.5, "pool_seconds": 0.25})
    columns = query_columns(expanded, unreachable, split)
    columns["h_work"] = np.array(more.pop("h_work", columns["h_work"]))
    record = {"outcome": outcome, "reason": reason, "key": key, "tier": "compiled", "bytes": bytes_held, **more}
    if costs is not None:  # pairs of what a path costs and what the shortest does
        columns["path_cost"], columns["reference_cost"] = np.array(costs).T
    files = {"queries.csv": write_queries(columns)}
    files |= {} if times is None else {"timings.csv": timings(times)}
    files |= {} if control is None else {"control.csv": timings(control)}
    return cell_id(key), record, files


def made_study(root, cells, **study):
    for name, record, files in cells:
        commit(root, name, record, files)
    write_plan(root, {"protocol_digest": "p", "study": study, "cells": [name for name, _, _ in cells]})
    return root


def query_columns(expanded, unreachable, split):
    count = len(expanded)
    whole = {name: np.arange(count) for name in ("query", "source", "target")}
    numbers = ("cost", "reference_cost", "path_cost", "path_edges", "reexpanded", "generated", "stale_pops")
    numbers += ("h_calls", "h_source", "below_optimum", "on_optimum", "h_work")
    outcomes = np.array(["unreachable" if i in unreachable else "ok" for i in range(count)], dtype=object)
    return {
        **whole,
        **dict.fromkeys(numbers, np.zeros(count, dtype=np.int64)),
        "split": np.full(count, split, dtype=object),
        "outcome": outcomes,
        "expanded": np.array(expanded, dtype=np.int64),
    }


def timings(table):
    """`timings.csv` of nanoseconds, a row a repetition, written in an order that is not that of the queries."""
    table = np.asarray(table, dtype=np.int64)
    repetition, query = np.indices(table.shape).reshape(2, -1)
    order = np.argsort(-query, kind="stable")
    return write_timings(
        {
            "query": query[order],
            "repetition": repetition[order],
            "order": np.arange(table.size),
            "wall_ns": table.ravel()[order],
        }
    )
