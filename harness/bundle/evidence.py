"""Bounds on sampled pairs, taken where a heuristic was built and compared where it is measured.

The process that measures has the bundle and nothing else. A bound that comes out different there depends on something
that is not in the arrays; a bound that differs from the same heuristic's `many` or `h` is another heuristic.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numba.core.errors import NumbaError

from aacbench.bundle.arrays import Leaf, leaves
from aacbench.bundle.deploy import Deployed, deploy, deploy_leaf, first_difference
from aacbench.contract.method import BatchHeuristic, Heuristic, LabelHeuristic, ScalarHeuristic
from aacbench.errors import DisagreementError
from aacbench.graphs.record import Array
from aacbench.search import Answers, Policy, search
from aacbench.search.layouts import Layout
from aacbench.search.networks import Network

AS_BUILT = "as built"
_TARGETS, _VERTICES = 16, 256
_ALONE = 2  # queries that are searched again
Ends = tuple[Array, Array]  # sources and targets


@dataclass(frozen=True, eq=False, slots=True)
class Evidence:
    """One form of a leaf's bound on the sampled rows, as the building process computed it."""

    leaf: str
    form: str
    bounds: Array


@dataclass(frozen=True, eq=False, slots=True)
class Sample:
    """The (u, t) pairs to compare on: drawn by seed, the same in any process, and some `targets` besides."""

    vertices: int
    seed: int = 0
    targets: tuple[int, ...] = ()

    def rows(self) -> list[tuple[int, Array]]:
        """Targets, each with vertices: every one of a small graph, and always the target itself."""
        rng = np.random.default_rng([self.seed, self.vertices])
        drawn = rng.choice(self.vertices, min(_TARGETS, self.vertices), replace=False).tolist()
        wanted = (*drawn, *(t for t in self.targets if t not in drawn))
        return [(int(t), self._vertices(rng, int(t))) for t in wanted]

    def bounds(self, deployed: Deployed) -> Array:
        return np.concatenate([deployed.many(us, target) for target, us in self.rows()])

    def pair(self, at: int) -> str:
        return [f"h({u}, {target})" for target, us in self.rows() for u in us][at]

    def _vertices(self, rng: np.random.Generator, target: int) -> Array:
        if self.vertices <= _VERTICES:
            return np.arange(self.vertices)
        return np.append(rng.integers(0, self.vertices, _VERTICES - 1), target)


def take_evidence(heuristic: Heuristic, network: Network, sample: Sample) -> list[Evidence]:
    """The bounds of every form that the author gave, except for built-in kernels, which can hide nothing."""
    taken = []
    for name, leaf in leaves(heuristic).items():
        for form, other in _forms(leaf):
            if (bounds := _bounds(other, network, sample)) is not None:
                taken.append(Evidence(name, form, bounds))
    return taken


def check_evidence(heuristic: Heuristic, network: Network, sample: Sample, taken: Sequence[Evidence]) -> None:
    """Refuse a heuristic whose bounds here differ from those that were taken where it was built."""
    parts = leaves(heuristic)
    for name in dict.fromkeys(each.leaf for each in taken):
        here = deploy(parts[name], network)
        ours = sample.bounds(here)
        for each in (each for each in taken if each.leaf == name):
            if (at := first_difference(ours, each.bounds)) is not None:
                raise DisagreementError(_difference(sample.pair(at), here.tier, ours[at], each.form, each.bounds[at]))


def check_steady(deployed: Deployed, sample: Sample, first: Array | None = None) -> Array:
    """Return the sampled bounds; refuse them if asking again, backwards, gives others.

    With `first`, the bounds from before a search, only the second asking is done, and compared with those.
    """
    first = sample.bounds(deployed) if first is None else first
    backwards = [deployed.many(us[::-1], target) for target, us in reversed(sample.rows())]
    again = np.concatenate(backwards)[::-1]
    if (at := first_difference(first, again)) is not None:
        raise DisagreementError(
            f"{sample.pair(at)} returned {first[at]}, then {again[at]}; a heuristic must be deterministic."
        )
    return first


def check_alone(network: Network, deployed: Deployed, queries: Ends, answers: Answers, policy: Policy | str) -> None:
    """Refuse a heuristic whose last searches are others when nothing of earlier queries is in its scratch."""
    layout, (sources, targets) = deployed.searched, queries
    if not isinstance(layout, Layout):  # one in Python has no scratch
        return
    for at in range(len(sources))[-_ALONE:]:
        layout.idle.clear()
        alone = search(network, layout, sources[at : at + 1], targets[at : at + 1], policy)
        for name in ("expanded", "h_work"):
            before, after = getattr(answers, name)[at], getattr(alone, name)[0]
            if before != after:
                raise DisagreementError(
                    f"The search from {sources[at]} to {targets[at]} has {name} = {before} after other queries, but "
                    f"{after} alone; scratch without a fill value must be written in each query before it is read."
                )


def other_forms(heuristic: Heuristic) -> list[tuple[str, Leaf]]:
    """The slower forms of the same bound that its author gave besides, by name."""
    forms: list[tuple[str, Leaf]] = []
    if isinstance(heuristic, LabelHeuristic) and heuristic.many is not None:
        forms.append(("many", BatchHeuristic(heuristic.arrays, heuristic.many, settings=heuristic.settings)))
    if isinstance(heuristic, LabelHeuristic | BatchHeuristic) and heuristic.h is not None:
        forms.append(("h", ScalarHeuristic(heuristic.h)))
    return forms


def _forms(leaf: Leaf) -> Iterator[tuple[str, Leaf]]:
    own_kernel = isinstance(leaf, LabelHeuristic) and callable(leaf.kernel) and leaf.goal is None
    if isinstance(leaf, BatchHeuristic) or own_kernel:
        yield AS_BUILT, leaf
    yield from other_forms(leaf)


def _bounds(form: Leaf, network: Network, sample: Sample) -> Array | None:
    if not isinstance(form, LabelHeuristic):
        return sample.bounds(deploy_leaf(form, network))
    # The kernel is called by itself: compiling it alone is quick, and the search is compiled where it is measured.
    labels = deploy_leaf(form, network).searched.labels.labels
    kernel = form.kernel
    assert callable(kernel)
    try:
        bounds = np.concatenate([_called(kernel, labels, us, target) for target, us in sample.rows()])
        with np.errstate(invalid="ignore"):  # a bound that is not finite is refused where it is measured
            return bounds.astype(network.graph.weights.dtype)  # rounded on whole numbers, as in the search
    except (NumbaError, TypeError):  # told in words where the search is compiled
        return None


def _called(kernel: object, labels: object, us: Iterable[int], target: int) -> Array:
    return np.array([kernel(labels, int(u), int(target)) for u in us])  # type: ignore[operator]


def _difference(pair: str, tier: str, ours: object, form: str, theirs: object) -> str:
    if form == AS_BUILT:
        return (
            f"{pair} is {theirs} in the process that built it, but {ours} from the bundle; the heuristic depends on "
            f"something that is not in its arrays."
        )
    return f"{pair} is {ours} in the {tier} form of the heuristic, but {theirs} in its function {form}."
