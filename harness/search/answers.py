"""What a batch of searches gives back: one column per measured quantity, one row per query."""

from dataclasses import dataclass, fields

from aacbench.graphs.record import Array


@dataclass(frozen=True, eq=False, slots=True)
class Answers:
    """Columns of a batch; costs are -1 where the target is unreachable, and then there is no path.

    `path_cost` is summed anew along the path. `expanded` counts pops that were worked on, the target's included (a
    query from a vertex to itself expands none), `reexpanded` those of vertices expanded before, `generated` entries
    pushed on the open list, `stale_pops` entries that were out of date when they left it, `h_calls` bounds computed,
    `below_optimum` and `on_optimum` expansions with f < C and f = C, C being the cost found.
    """

    cost: Array
    path_cost: Array
    h_source: Array
    path_edges: Array
    expanded: Array
    reexpanded: Array
    generated: Array
    stale_pops: Array
    h_calls: Array
    below_optimum: Array
    on_optimum: Array
    paths: tuple[Array, ...] | None = None

    def __len__(self) -> int:
        return len(self.cost)

    def columns(self) -> dict[str, Array]:
        """The columns by name, without the paths."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "paths"}


def from_tables(costs: Array, counts: Array, paths: list[Array] | None) -> Answers:
    """Answers from the two tables a kernel filled, whose columns are in the order of the fields above."""
    for table in (costs, counts):
        table.flags.writeable = False
    columns = dict(zip((field.name for field in fields(Answers)), (*costs.T, *counts.T), strict=False))
    return Answers(**columns, paths=None if paths is None else tuple(paths))
