"""A study with the AAC paper's edges beside what its appendix on maps prints: paths by its rule and the data set's."""

from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np

from aacbench.graphs.record import Array
from aacbench.labels.exact import distances
from aacbench.maps.atlas import atlas
from aacbench.maps.names import PAPER
from aacbench.maps.record import TEST
from aacbench.maps.smooth import smooth_distances
from aacbench.protocols.paper.reader import read_paper
from aacbench.reports.formatting import optional, with_spread
from aacbench.run.map_paths import corner_walks
from aacbench.run.predicted import MAP_COLUMNS, MAPS_FILE, of_cell
from aacbench.run.rows import read_table
from aacbench.run.store import Cell
from aacbench.search.networks import network

TEXT = ("row", "from", "match %", "jaccard of edges %", "regret", "optimal %")
NOTE = (
    "match, jaccard, regret: path from corner to corner against that of true costs, both by the paper's edges: the "
    "mean of two cells, times 1.414 on a diagonal. optimal: its cells have the least sum of true costs, which is the "
    "data set's rule and the literature's accuracy; with true costs it is a matter of the rule alone. Printed rows are "
    "on the original Warcraft maps. The paper cites 54.7 from Table 1 of Vlastelica et al.; their Table 2 has 96.0."
)
SMOOTH_TEXT = ("distance",)
SMOOTH_NOTE = (
    "Corner to corner with a cost of 0.7 everywhere, by the paper's edges. Smooth Bellman-Ford, which gap-paper trains "
    "by, takes smooth minima over a cell and its neighbours in each of V - 1 rounds, and every round lowers them; so "
    "differences of such distances bound nothing."
)
EXHIBITS = ("tab:contextual-ablation", "tab:ablation")
COLUMNS = {"path_match_percent": "match %", "jaccard_percent": "jaccard of edges %", "cost_regret": "regret"}
LITERATURE = {
    "row": "blackbox differentiation",
    "from": "Vlastelica et al., Table 2",
    "match %": "",
    "jaccard of edges %": "",
    "regret": "",
    "optimal %": "96.0 ± 0.3",
}
SHARPNESS = (1, 5, 30)  # beta, at the beginning of the recipe, on its way, and at its end
TENTHS = 7  # the cost of every cell


def rows(cells: Iterable[Cell]) -> list[dict[str, str]]:
    """Return a row for each encoder of a study with the paper's edges, then the printed ones; else none."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if cell.outcome == "ok" and cell.record.get("edges") == PAPER:
            groups.setdefault((cell.key["graph"], cell.key["label"]), []).append(cell)
    own = [_replayed(*key, group) for key, group in groups.items()]
    return [*own, *_printed(), LITERATURE] if own else []


def smooth_rows(cells: Iterable[Cell]) -> list[dict[str, str]]:
    """Return the exact distance beside smooth ones on maps as large as those of the study."""
    sides = {int(cell.record["side"]) for cell in cells if cell.outcome == "ok" and cell.record.get("edges") == PAPER}
    return [_smooth(side) for side in sorted(sides)]


def _replayed(maps: str, label: str, group: list[Cell]) -> dict[str, str]:
    measured = [_measured(cell) for cell in group]

    def over_seeds(name: str) -> tuple[float, float | None]:
        values = [one[name] for one in measured]
        return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None

    regret, spread = over_seeds("regret")
    return {
        "row": f"{maps}/{label}",
        "from": f"this study, {len(group)} seeds" if len(group) > 1 else "this study",
        "match %": with_spread(*over_seeds("match %")),
        "jaccard of edges %": with_spread(*over_seeds("jaccard of edges %")),
        "regret": optional(regret, ".3f") + ("" if spread is None else f" ± {spread:.3f}"),
        "optimal %": with_spread(*over_seeds("optimal %")),
    }


def _measured(cell: Cell) -> dict[str, float]:
    found, columns = of_cell(cell), read_table(MAP_COLUMNS, cell.files[MAPS_FILE], MAPS_FILE)
    tests = columns["split"] == TEST
    truth = found.truth[TEST]
    own, best = corner_walks(found.costs[TEST], PAPER), corner_walks(truth, PAPER)
    overlaps = [edge_overlap(*walks) for walks in zip(own, best, strict=True)]
    weights = [[walk_weight(costs, walk) for costs, walk in zip(truth, walks, strict=True)] for walks in (own, best)]
    return {
        "match %": 100 * float(np.mean([a.tolist() == b.tolist() for a, b in zip(own, best, strict=True)])),
        "jaccard of edges %": 100 * float(np.mean(overlaps)),
        "regret": float(np.mean(np.array(weights[0]) / np.array(weights[1]) - 1)),
        "optimal %": 100 * float((columns["true_cost"][tests] == columns["true_optimum"][tests]).mean()),
    }


def edge_overlap(a: Array, b: Array) -> float:
    """Return the edges that two walks share, of those that either has."""
    one, other = (set(pairwise(walk.tolist())) for walk in (a, b))
    return len(one & other) / len(one | other)


def walk_weight(costs: Array, walk: Array) -> float:
    """Return what a walk weighs by the paper's edges."""
    side, flat = len(costs), costs.reshape(-1).tolist()
    straight = {1, side}
    return sum(
        (flat[u] + flat[v]) / 2 * (1.0 if abs(u - v) in straight else 2.0**0.5) for u, v in pairwise(walk.tolist())
    )


def _printed() -> list[dict[str, str]]:
    """Return what the paper prints, a row for each of its rows."""
    found: dict[str, dict[str, str]] = {}
    for exhibit in EXHIBITS:
        for value in read_paper().exhibit(exhibit).values:
            if value.column in COLUMNS and value.value is not None:
                name = f"{value.row['method']} {value.name}".strip()
                empty: Mapping[str, str] = {"row": name, "from": "the paper", **dict.fromkeys(TEXT[2:], "")}
                found.setdefault(name, dict(empty))[COLUMNS[value.column]] = value.text().replace("+-", "±")
    return list(found.values())


def _smooth(side: int) -> dict[str, str]:
    graph = atlas(np.full((1, side, side), TENTHS), PAPER)
    exact = float(distances(network(graph), 0)[-1]) / 10
    smooth = {f"beta {beta}": f"{smooth_distances(graph, 0, beta / 10)[-1] / 10:.2f}" for beta in SHARPNESS}
    return {"distance": f"{side} x {side} cells", "exact": f"{exact:.2f}", **smooth}
