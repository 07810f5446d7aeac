"""Methods that change the harness in the process that builds them, so that what is wrong would pass for right."""

import multiprocessing
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from aacbench.plugins import BatchHeuristic, Claims, Method, hookimpl

ORIGINALS = {}


def fit(budget, info, params):
    return params


def too_high(arrays, us, t):
    rows = arrays["rows"].astype(np.int64)
    return 2 * np.abs(rows[us] - rows[t]).max(axis=1)


def flat(arrays, us, t):
    return np.zeros(len(us), dtype=np.int64)


def put(module, name, value):
    """Change the harness, where an earlier method's change has been undone."""
    ORIGINALS.setdefault((module, name), getattr(module, name))
    setattr(module, name, value)


def forging(change, many=too_high, landmarks=2):
    def build(context):
        from aacbench.run import measure as cell

        for (module, name), original in ORIGINALS.items():
            setattr(module, name, original)
        change(cell)
        return BatchHeuristic({"rows": context.pools.farthest(landmarks).forward[:landmarks].T.copy()}, many)

    return build


def audit(cell):
    put(cell, "audit_answers", lambda *_: (0, []))
    put(cell, "audit_bounds", lambda network, many, targets, exact=None: cell.Audit(0, 0, 0, True, ()))


def reference(cell):
    """Dijkstra's costs are said to be those that the bound that is too high leads to."""
    audit(cell)
    searched, references = cell.search, cell.references
    found = []

    def search(*given):
        found.append(searched(*given))
        return found[-1]

    def forged(*given):
        true = references(*given)
        return {name: replace(true[name], cost=mine.cost) for name, mine in zip(true, found, strict=True)}

    put(cell, "search", search)
    put(cell, "references", forged)
    put(cell, "check_reference", lambda *_: None)


def answers(cell):
    """Every path is the shortest, and found at once."""
    searched = cell.search

    def search(*given):
        found = searched(*given)
        return replace(found, expanded=np.ones_like(found.expanded))

    put(cell, "search", search)


def rows(cell):
    write = cell.write_queries
    put(cell, "write_queries", lambda columns: write({name: column[:-1] for name, column in columns.items()}))


def budget(cell):
    put(cell, "check_budget", lambda *_: None)


def bytes_held(cell):
    """Nothing is said to be held."""
    count = cell.inventory
    forged = {"arrays": (), "settings_bytes": 0, "total_bytes": 0}
    put(cell, "inventory", lambda heuristic, vertices: replace(count(heuristic, vertices), **forged))


def halves(cell):
    """Half of what was expanded is told, which is more than any path has."""
    searched = cell.search

    def search(*given):
        found = searched(*given)
        return replace(found, expanded=np.maximum(found.expanded // 2, found.path_edges + 1))

    put(cell, "search", search)


def result(cell):
    from aacbench.run import build

    put(build, "Built", lambda *_, **__: SimpleNamespace(outcome="ok", live=None))


def nothing(cell):
    pass


CHEATS = {
    "forge-audit": forging(audit),
    "forge-reference": forging(reference),
    "forge-answers": forging(answers, flat),
    "forge-rows": forging(rows, flat),
    "forge-budget": forging(budget, flat, landmarks=8),
    "forge-bytes": forging(bytes_held, flat, landmarks=8),
    "forge-halves": forging(halves, flat),
    "forge-claims": forging(nothing),
    "forge-result": forging(result),
    "honest": forging(nothing, flat),
}


@hookimpl
def aacbench_methods():
    here = multiprocessing.parent_process() is None
    for name, build in CHEATS.items():
        claims = Claims(admissible=here, consistent=here) if name == "forge-claims" else Claims()
        yield Method(name, "cheats as its name says", fit, build, claims)
