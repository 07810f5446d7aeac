"""A hierarchy as rows of arcs: vertices numbered so that arcs upwards lead to smaller numbers, and relatives are close.

The core, if there is one, has the smallest numbers. The others are in preorder of the elimination tree of the arcs, in
which every head of a vertex is one of its ancestors: ancestors first, small subtrees before large ones.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aacbench.graphs.record import Array
from aacbench.labels.hierarchy.contraction import NONE, Contraction
from aacbench.util.compiled import kernel


@dataclass(frozen=True, eq=False, slots=True)
class Rows:
    """The arcs of each vertex outside the core: those of vertex v from `first[v - core]`, largest heads first."""

    first: Array
    heads: Array
    weights: Array


@dataclass(frozen=True, eq=False, slots=True)
class Hierarchy:
    """`place[v]` is the number of the graph's vertex v; `up` has the arcs v -> x to smaller x, `down` the arcs x -> v.

    On a symmetric graph `down` is `up`. `core_arcs` are tails, heads and weights of arcs among the core's vertices.
    """

    place: Array
    core: int
    up: Rows
    down: Rows
    core_arcs: tuple[Array, Array, Array]


def hierarchy(made: Contraction, contracted: int | None = None) -> Hierarchy:
    """Return the hierarchy of the first so many contracted vertices, by default of all; the others are its core."""
    cut = len(made.order) if contracted is None else contracted
    arcs = int(made.first[cut])
    place = number_vertices(made.order[:cut], made.first, made.heads[:arcs], made.vertices)
    core = made.vertices - cut
    tails = place[np.repeat(made.order[:cut], np.diff(made.first[: cut + 1]))] - core
    heads = place[made.heads[:arcs]]
    up = _rows(tails, heads, made.out[:arcs], cut)
    down = up if made.into is made.out else _rows(tails, heads, made.into[:arcs], cut)
    return Hierarchy(place, core, up, down, _core_arcs(made, cut, place))


def _rows(tails: Array, heads: Array, weights: Array, rows: int) -> Rows:
    present = weights < NONE
    tails, heads, weights = tails[present], heads[present], weights[present]
    order = np.lexsort((-heads.astype(np.int64), tails))
    first = np.zeros(rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(tails, minlength=rows), out=first[1:])
    return Rows(first, heads[order], weights[order])


def _core_arcs(made: Contraction, cut: int, place: Array) -> tuple[Array, Array, Array]:
    """The arcs among vertices that are contracted later or never.

    Shortcuts of later contractions are among them. They are as long as a path, so they change no distance.
    """
    arcs = slice(int(made.first[cut]), None)
    tails, heads = np.repeat(made.order[cut:], np.diff(made.first[cut:])), made.heads[arcs]
    rest_tails, rest_heads, rest = made.core
    all_tails = np.concatenate([tails, heads, rest_tails])
    all_heads = np.concatenate([heads, tails, rest_heads])
    weights = np.concatenate([made.out[arcs], made.into[arcs], rest])
    present = weights < NONE
    return place[all_tails[present]], place[all_heads[present]], weights[present]


@kernel
def number_vertices(order: Any, first: Any, heads: Any, vertices: Any) -> Any:
    """Return the number of each vertex: the core in its old order, then preorder of the elimination tree."""
    cut, core = len(order), vertices - len(order)
    rank = np.full(vertices, -1, dtype=np.int64)
    for i in range(cut):
        rank[order[i]] = i
    parent = elimination_tree(rank, order, first, heads)
    size = np.ones(cut + 1, dtype=np.int64)
    for i in range(cut):
        size[parent[i]] += size[i]
    # The children of each vertex, small subtrees first.
    begin = np.zeros(cut + 2, dtype=np.int64)
    for i in range(cut):
        begin[parent[i] + 1] += 1
    for i in range(cut + 1):
        begin[i + 1] += begin[i]
    filled, children = begin[:-1].copy(), np.empty(cut, dtype=np.int64)
    for i in np.argsort(size[:cut], kind="mergesort"):
        children[filled[parent[i]]] = i
        filled[parent[i]] += 1
    number = np.empty(cut + 1, dtype=np.int64)
    number[cut] = core - 1
    for i in range(cut, -1, -1):
        free = number[i] + 1
        for k in range(begin[i], begin[i + 1]):
            number[children[k]] = free
            free += size[children[k]]
    place, left = np.empty(vertices, dtype=np.int64), 0
    for v in range(vertices):
        if rank[v] >= 0:
            place[v] = number[rank[v]]
        else:
            place[v] = left
            left += 1
    return place


@kernel
def elimination_tree(rank: Any, order: Any, first: Any, heads: Any) -> Any:
    """Return the parent of each contracted vertex, by rank; that of a root is one above the highest rank.

    The tree is that of the arcs with every vertex's heads made neighbours (Liu 1990), so that the heads of a vertex
    are its ancestors even though shortcuts with witnesses are left out.
    """
    cut = len(order)
    begin = np.zeros(cut + 2, dtype=np.int64)
    for head in heads:
        if rank[head] >= 0:
            begin[rank[head] + 1] += 1
    for i in range(cut):
        begin[i + 1] += begin[i]
    below, filled = np.empty(begin[cut], dtype=np.int64), begin[:-1].copy()
    for i in range(cut):
        for k in range(first[i], first[i + 1]):
            if rank[heads[k]] >= 0:
                below[filled[rank[heads[k]]]] = i
                filled[rank[heads[k]]] += 1
    parent = np.full(cut, cut, dtype=np.int64)
    above = np.full(cut, -1, dtype=np.int64)  # some ancestor, nearer to the root each time
    for i in range(cut):
        for k in range(begin[i], begin[i + 1]):
            j = below[k]
            while above[j] >= 0 and above[j] != i:
                following = above[j]
                above[j] = i
                j = following
            if above[j] < 0:
                above[j] = i
                parent[j] = i
    return parent


def longest_way(rows: Rows) -> int:
    """The length of the longest way along these arcs, each to a smaller number; there must be no core."""
    return int(_longest(rows.first, rows.heads, rows.weights))


@kernel
def _longest(first: Any, heads: Any, weights: Any) -> Any:
    longest = np.zeros(len(first), dtype=np.float64)  # a float cannot overflow
    for v in range(len(first) - 1):
        for arc in range(first[v], first[v + 1]):
            longest[v] = max(longest[v], longest[heads[arc]] + weights[arc])
    return longest.max()
