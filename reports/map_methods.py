"""What methods cost and save on the maps of an encoder, and their bounds beside predicted and true distances."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aacbench.graphs.record import Array
from aacbench.maps.atlas import SCALE
from aacbench.maps.record import TEST
from aacbench.reports.formatting import optional
from aacbench.run.layout import QUERIES_FILE
from aacbench.run.predicted import CONTEXT_COLUMNS, CONTEXT_FILE
from aacbench.run.records import ATLAS, BASELINE, CORNER
from aacbench.run.rows import TEXT as TEXT_COLUMN
from aacbench.run.rows import WHOLE, read_table
from aacbench.run.store import Cell

ROUNDING = 1e-12  # of a product of two ratios
TRUE, HOPS = (
    "true",
    "hops",
)  # A* on true costs with the bound that needs no labels: what opt, exp and hmean compare with
TEXT = ("maps/encoder", "method")
NOTE = (
    "corner: mean expansions of the query from corner to corner; amortised: mean expansions of a random query, and its "
    "share of the searches for labels; break-even: queries on one map from which its labels "
    "save more expansions than computing them takes; true optimal, true regret: random queries, by true cost; tied: "
    "random queries whose path has the predicted cost of Dijkstra's and another true cost; opt, exp, hmean: corner "
    "queries as Neural A* is measured: paths of least true cost, expansions saved against hops on true costs (map by "
    "map, at least 0), and their harmonic mean."
)
BOUNDS_NOTE = (
    "violations: bounds above a predicted distance, or not consistent; proofs: queries with a verified certificate; "
    "h > true: cells, and sources of random queries, where the bound exceeds the true distance, which no bound on "
    "predicted costs can exclude; excess: by how much at sources, on average, in costs of cells; a h: the bound times "
    "the a of the band at the largest alpha, and the share of maps where it exceeds a true distance."
)


@dataclass(frozen=True, slots=True)
class MapMethodRow:
    """A method on the maps of an encoder at a budget, over its seeds; shares are percentages."""

    graph: str
    budget: float
    method: str
    corner: float | None
    amortised: float | None
    break_even: float | None
    true_optimal: float
    true_regret: float
    tied: float | None
    opt: float
    exp: float | None
    hmean: float | None
    violations: int
    proofs: int
    above_true: float
    sources_above_true: float
    excess: float
    scaled_above_true: float | None

    def cells(self) -> dict[str, str]:
        return {
            **self._place(),
            "corner": optional(self.corner, ".2f"),
            "amortised": optional(self.amortised, ".2f"),
            "break-even": optional(self.break_even, ".1f"),
            "true optimal %": optional(self.true_optimal, ".1f"),
            "true regret %": optional(self.true_regret, ".2f"),
            "tied %": optional(self.tied, ".1f"),
            "opt": "" if self.exp is None else optional(self.opt, ".1f"),
            "exp": optional(self.exp, ".1f"),
            "hmean": optional(self.hmean, ".1f"),
        }

    def bounds(self) -> dict[str, str]:
        return {
            **self._place(),
            "violations": str(self.violations),
            "proofs": str(self.proofs),
            "h > true %": optional(self.above_true, ".1f"),
            "at sources %": optional(self.sources_above_true, ".1f"),
            "excess": optional(self.excess, ".3f"),
            "a h > true, maps %": optional(self.scaled_above_true, ".1f"),
        }

    def _place(self) -> dict[str, str]:
        budget = "" if self.method == BASELINE else f"{self.budget:g}"
        return {"maps/encoder": self.graph, "budget": budget, "method": self.method}


def method_rows(cells: Iterable[Cell], scales: Mapping[str, float] | None = None) -> list[MapMethodRow]:
    """Return the rows; `scales` has for an encoder's cell what makes bounds admissible for true costs."""
    groups: dict[tuple[str, float, str], list[Cell]] = {}
    for cell in cells:
        if cell.outcome == "ok" and CONTEXT_FILE in cell.files:
            groups.setdefault((cell.key["graph"], cell.key["budget"], cell.key["label"]), []).append(cell)
    bases = {graph: group for (graph, _, label), group in groups.items() if label == BASELINE}
    known = {
        graph.removesuffix(TRUE): _corner_expansions(group[0])
        for (graph, _, label), group in groups.items()
        if label == HOPS and graph.endswith(f"/{TRUE}")
    }
    columns = {cell.cell_id: context_columns(cell) for group in groups.values() for cell in group}
    rows = []
    for (graph, budget, label), group in groups.items():
        vanilla = next((found for maps, found in known.items() if graph.startswith(maps)), None)
        rows.append(_row(graph, budget, label, group, bases.get(graph, []), vanilla, scales or {}, columns))
    return rows


def context_columns(cell: Cell) -> Mapping[str, Array]:
    """The columns of a method's `context.csv`."""
    return read_table(CONTEXT_COLUMNS, cell.files[CONTEXT_FILE], CONTEXT_FILE)


def of_split(columns: Mapping[str, Array], split: str = TEST) -> dict[str, Array]:
    inside = columns["split"] == split
    return {name: values[inside] for name, values in columns.items()}


def optimal_share(table: Mapping[str, Array]) -> float:
    return float((table["true_cost"] == table["true_optimum"]).mean())


def regrets(table: Mapping[str, Array]) -> Array:
    ratios: Array = table["true_cost"] / table["true_optimum"] - 1
    return ratios


def _row(
    graph: str,
    budget: float,
    label: str,
    group: list[Cell],
    baseline: list[Cell],
    vanilla: Array | None,
    scales: Mapping[str, float],
    columns: Mapping[str, Mapping[str, Array]],
) -> MapMethodRow:
    every = [columns[cell.cell_id] for cell in group]
    tables = [of_split(one) for one in every]
    looked = [cell.record["context"] for cell in group]
    encoders = [cell.key["graph_file"].removeprefix(ATLAS) for cell in group]
    largest = [
        np.array(one["largest_ratios"]) * scales[name]
        for one, name in zip(looked, encoders, strict=True)
        if name in scales
    ]
    above = np.concatenate([table["h_source_excess"] for table in tables])
    opt = 100 * float(np.mean([optimal_share(of_split(one, CORNER)) for one in every]))
    exp = None if vanilla is None else 100 * float(np.mean([_saved(cell, vanilla) for cell in group]))
    return MapMethodRow(
        graph=graph,
        budget=budget,
        method=label,
        corner=_mean_expansions(group, CORNER),
        amortised=_amortised(group, every[0]),
        break_even=_break_even(group, baseline) if label != BASELINE else None,
        true_optimal=float(np.mean([100 * optimal_share(table) for table in tables])),
        true_regret=float(np.mean([100 * regrets(table).mean() for table in tables])),
        tied=_tied(group, baseline, columns) if label != BASELINE else None,
        opt=opt,
        exp=exp,
        hmean=None if exp is None else 2 * opt * exp / (opt + exp) if opt and exp else 0.0,
        violations=sum(sum(cell.record["audit"]["violations"].values()) for cell in group),
        proofs=sum(int((one["certificate"] == 1).sum()) for one in every),
        above_true=100 * sum(one["above_true_distance"] for one in looked) / sum(one["cells"] for one in looked),
        sources_above_true=100 * float((above > 0).mean()),
        excess=float(above.mean()) / (2 * SCALE),  # a distance has each inner cell twice
        scaled_above_true=100 * float(np.mean(np.concatenate(largest) > 1 + ROUNDING)) if largest else None,
    )


def _saved(cell: Cell, vanilla: Array) -> float:
    """Return the share of expansions that a cell's corner queries save, each at least 0, averaged over maps."""
    return float(np.maximum((vanilla - _corner_expansions(cell)) / vanilla, 0).mean())


def _corner_expansions(cell: Cell) -> Array:
    few = {"split": TEXT_COLUMN, "expanded": WHOLE}  # of many columns, which take longer to read than all else here
    return of_split(read_table(few, cell.files[QUERIES_FILE], QUERIES_FILE), CORNER)["expanded"]


def _tied(group: list[Cell], baseline: list[Cell], columns: Mapping[str, Mapping[str, Array]]) -> float | None:
    """Return the share of random queries whose path has another true cost than Dijkstra's.

    An admissible method finds paths of the same predicted cost, so these are ties; of another it cannot be said.
    """
    bases = {cell.key["graph_file"]: cell for cell in baseline}
    pairs = [(cell, bases[cell.key["graph_file"]]) for cell in group if cell.key["graph_file"] in bases]
    if not pairs or not group[0].claims["admissible"]:
        return None
    true = [[of_split(columns[cell.cell_id])["true_cost"] for cell in pair] for pair in pairs]
    return 100 * float(np.mean([own != other for own, other in true]))


def _break_even(group: list[Cell], baseline: list[Cell]) -> float | None:
    """Return after how many random queries on one map its labels have saved as many expansions as they took.

    A label is a search that expands every cell of the map.
    """
    base, mean, labels = _mean_expansions(baseline, TEST), _mean_expansions(group, TEST), _label_searches(group[0])
    return None if base is None or mean is None or base <= mean or not labels else labels / (base - mean)


def _amortised(group: list[Cell], queries: Mapping[str, Array]) -> float | None:
    """Return the expansions of a random query with its share of those that computing the map's labels takes."""
    mean = _mean_expansions(group, TEST)
    first = int(((queries["split"] == TEST) & (queries["map"] == 0)).sum())
    return None if mean is None or not first else mean + _label_searches(group[0]) / first


def _label_searches(cell: Cell) -> int:
    """Return the expansions that computing the labels of one map takes: every cell of it, for each label."""
    labels = [array["shape"][1] for array in cell.record["bytes"]["arrays"] if len(array["shape"]) == 2]
    return int(sum(labels)) * int(cell.record["side"]) ** 2


def _mean_expansions(cells: Sequence[Cell], split: str) -> float | None:
    means = [cell.record["means"][split] for cell in cells if split in cell.record.get("means", {})]
    return float(np.mean(means)) if means else None
