"""The leaves of a maximum of heuristics, and the names of their arrays."""

from collections.abc import Iterator
from string import ascii_lowercase

from aacbench.bundle.arrays import checked_arrays
from aacbench.contract.method import BatchHeuristic, Heuristic, LabelHeuristic, MaxHeuristic, ScalarHeuristic
from aacbench.errors import UsageError
from aacbench.graphs.record import Array

Leaf = LabelHeuristic | BatchHeuristic | ScalarHeuristic


def leaves(heuristic: Heuristic) -> dict[str, Leaf]:
    """The leaves of a maximum under the names a, b and so on; any other heuristic under the empty name."""
    found = list(_flat(heuristic))
    if not isinstance(heuristic, MaxHeuristic):
        return {"": found[0]}
    if not 0 < len(found) <= len(ascii_lowercase):
        raise UsageError(f"A maximum has 1 to {len(ascii_lowercase)} heuristics, not {len(found)}.")
    return dict(zip(ascii_lowercase, found, strict=False))


def arrays_of(heuristic: Heuristic) -> dict[str, Array]:
    """Every array under the name it is saved by: `rows`, or in a maximum `a.rows`."""
    return {
        dotted(part, name): array
        for part, leaf in leaves(heuristic).items()
        if not isinstance(leaf, ScalarHeuristic)
        for name, array in checked_arrays(leaf.arrays).items()
    }


def dotted(part: str, name: str) -> str:
    """The name of a leaf's array among those of all leaves."""
    return f"{part}.{name}" if part else name


def _flat(heuristic: Heuristic) -> Iterator[Leaf]:
    if isinstance(heuristic, MaxHeuristic):
        if not isinstance(heuristic.parts, tuple):
            raise UsageError(f"The parts of a maximum must be a tuple, not a {type(heuristic.parts).__name__}.")
        for part in heuristic.parts:
            yield from _flat(part)
    elif isinstance(heuristic, Leaf):
        yield heuristic
    else:
        raise UsageError(
            f"A build must return a heuristic record, such as LabelHeuristic, not a {type(heuristic).__name__}."
        )
