"""Claims whose rule is `run` or `arithmetic`, but which the printed values decide: one function each."""

from collections.abc import Mapping, Sequence
from typing import Any

from aacbench.protocols.paper import Claim
from aacbench.reports.paper.claim_values import INDEPENDENT, SLACK, Checked, Rule, Values, matches

MAIN = "tab:main-matched-memory"


def _one(values: Values, exhibit: str, column: str, **row: Any) -> Any:
    """Return the first value of a row, or None."""
    found = [entry for entry in values[exhibit] if entry.column == column and matches(entry.row, row)]
    return found[0].value if found else None


def _memory_example(*_: Any) -> Checked:
    mebibytes = [2 * 64 * 10**6 * width / 2**20 for width in (4, 8)]
    numbers = [("float32", mebibytes[0]), ("float64", mebibytes[1])]
    return Checked(numbers, lambda _: [round(number) for number in mebibytes] == [488, 977])


def _landmarks(_: Claim, values: Values, exhibits: Sequence[str]) -> Checked:
    names = ("forward_labels", "backward_labels", "distinct_landmarks", "landmarks_in_both_directions")
    found = [(name, _one(values, exhibits[0], name)) for name in names]
    numbers = found if all(value is not None for _, value in found) else []

    def test(_: Sequence[str]) -> bool:
        forward, backward, distinct, both = (float(value) for _, value in numbers)
        return forward + backward == 16 and forward + backward - both == distinct

    return Checked(numbers, test)


def _seeds_times_queries(claim: Claim, values: Values, exhibits: Sequence[str]) -> Checked:
    """The product by the text's own numbers; in replayed studies, how many queries all seeds have together."""
    total = int(claim.numbers[-1])
    found = [entry.value for entry in values[exhibits[0]] if entry.column == INDEPENDENT]
    numbers = [("independent queries", min(found))] if found else []
    return Checked(numbers, lambda _: all(count == total for count in found))


def _printed_product(claim: Claim, *_: Any) -> Checked:
    seeds, queries, total = (int(number) for number in claim.numbers)
    return Checked([("seeds x queries", seeds * queries)], lambda _: seeds * queries == total)


def _within_spread(_: Claim, values: Values, exhibits: Sequence[str]) -> Checked:
    """Compare AAC with K0 = 64 and m = 16 in two tables with the larger of its two spreads."""
    row = {"method": "aac", "K0": 64, "m": 16}
    one, other = (
        {entry.row["graph"]: entry for entry in values[label] if entry.spread and matches(entry.row, row)}
        for label in exhibits
    )
    both = [graph for graph in one if graph in other]
    numbers = [(graph, abs(one[graph].value - other[graph].value)) for graph in both]
    limits = {graph: max(one[graph].spread or 0, other[graph].spread or 0) for graph in both}
    return Checked(numbers, lambda _: all(number <= limits[graph] + SLACK for graph, number in numbers))


def _unequal_budgets(_: Claim, values: Values, exhibits: Sequence[str]) -> Checked:
    """Look for rows of AAC with m labels against ALT with other than m/2 landmarks, the rule of equal bytes."""
    rows = [entry.row for entry in values[exhibits[0]] if {"m", "K"} <= entry.row.keys()]
    unequal = [row for row in rows if row["m"] != 2 * row["K"]]
    numbers = [("rows", len(rows)), ("with unequal budgets", len(unequal))] if rows else []
    return Checked(numbers, lambda _: bool(unequal))


def _labels_per_direction(_: Claim, values: Values, exhibits: Sequence[str]) -> Checked:
    """AAC reads more labels per direction than ALT only if m/2 exceeds K."""
    rows = [entry.row for entry in values[exhibits[0]]]
    m = next((int(row["m"]) for row in rows if row.get("method") == "aac"), 0)
    k = next((int(row["K"]) for row in rows if row.get("method") == "alt"), 0)
    numbers = [("AAC per direction", m // 2), ("ALT per direction", k)] if m and k else []
    return Checked(numbers, lambda _: m // 2 > k)


def _equivalence(wanted: Mapping[str, str]) -> Rule:
    def rule(_: Claim, values: Values, __: Sequence[str]) -> Checked:
        found = [(graph, _one(values, MAIN, "tost", graph=graph)) for graph in wanted]
        numbers = [(graph, verdict) for graph, verdict in found if verdict is not None]
        return Checked(numbers, lambda _: all(verdict == wanted[graph] for graph, verdict in numbers))

    return rule


def _times_below(_: Claim, values: Values, exhibits: Sequence[str]) -> Checked:
    """The middle of the predicted band over the observed gap, where it is positive; the text says about five."""
    numbers = []
    for budget in (64, 128):
        band = _one(values, exhibits[0], "predicted_gap_pp", budget_bytes=budget)
        gap = _one(values, exhibits[0], "observed_gap_pp", budget_bytes=budget)
        if band and gap:
            numbers.append((f"{budget} B/v", sum(band) / 2 / gap))
    return Checked(numbers, lambda _: all(round(number) == 5 for _, number in numbers))


def _whole_pool(_: Claim, values: Values, exhibits: Sequence[str]) -> Checked:
    """AAC with 64 labels against the whole pool of 64, which the text gives as 95.5 on Modena."""
    found = _one(values, exhibits[0], "reduction_percent", graph="osmnx:modena", method="aac", m=64)
    numbers = [("AAC with m = 64", found), ("whole pool as printed", 95.5)] if found is not None else []
    return Checked(numbers, lambda _: found >= 95.5)


# Rules on the text's own numbers, which no study can change: they judge print alone.
OF_THE_TEXT: Mapping[str, Rule] = {"memory-example": _memory_example, "500-queries": _printed_product}

# Claims that replayed values cannot decide: the paper names no seed, compares two tables that are one run here, or
# speaks of rows that it does not print.
PRINT_ALONE = ("landmarks-ny", "cross-table", "within-sd", "wilcoxon-companion", "cache-locality", "alt-no-variance")

RULES: Mapping[str, Rule] = {
    "landmarks-ny": _landmarks,
    "500-queries": _seeds_times_queries,
    "within-sd": _within_spread,
    "wilcoxon-companion": _unequal_budgets,
    "cache-locality": _labels_per_direction,
    "sbm-tost": _equivalence({"sbm-10k": "rejected"}),
    "ba-tost": _equivalence({"ba-10k": "accepted"}),
    "ogb-times": _times_below,
    "m-equals-K0": _whole_pool,
}
