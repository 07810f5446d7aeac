"""What a selection looks like: how many of its picks are distinct, and how far training took it from where it began."""

from aacbench.plugins.methods.aac.training import Picks


def statistics(picks: Picks, initial: Picks) -> dict[str, int | float]:
    """Facts for a cell's record, over the rows of all matrices.

    `unique_ratio` is the share of rows that pick what no earlier row of their matrix does; `rows_beyond_first` counts
    those outside ALT's choice, the first landmarks of the pool; `rows_moved` those that training changed.
    """
    rows = sum(map(len, picks))
    distinct = sum(len(set(row)) for row in picks)
    beyond = sum(pick >= len(row) for row in picks for pick in row)
    moved = sum(
        now != then for row, old in zip(picks, initial, strict=True) for now, then in zip(row, old, strict=True)
    )
    return {"rows": rows, "unique_ratio": distinct / rows, "rows_beyond_first": beyond, "rows_moved": moved}
