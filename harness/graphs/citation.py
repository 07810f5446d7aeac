"""Citation lists made into weighted undirected graphs by the paper's recipe.

The weights are drawn edge by edge in the order in which networkx lists the edges of a graph that was filled line by
line. That order depends on the order of the lines, and a paper that cites itself draws too, so the recipe starts from
the file: a `Graph` has forgotten both.
"""

import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from aacbench.errors import DataError
from aacbench.graphs.readers.source import open_source
from aacbench.graphs.record import Array, Graph, from_arcs

WEIGHT_SEED = 42


def read_citations(path: Path, *, name: str = "") -> Graph:
    """Read lines of two vertex numbers (blanks or a comma between, `#` comments) and apply the recipe."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # an empty list is refused below, in our words
            pairs = np.loadtxt(_lines(path), dtype=np.int64, usecols=(0, 1), ndmin=2)
    except ValueError as error:
        raise DataError(f"{path} is no list of citations, two whole numbers a line: {error}.") from error
    if not len(pairs):
        raise DataError(f"{path} holds no citation.")
    return weighted_citations(pairs[:, 0], pairs[:, 1], name=name)


def weighted_citations(citing: npt.ArrayLike, cited: npt.ArrayLike, *, name: str = "") -> Graph:
    """Symmetrise, keep the largest component, number it in ascending order, draw uniform(1, 10) per edge."""
    ids, ends = np.unique(np.stack([citing, cited]), return_inverse=True)
    vertices, tail, head = _largest_component(len(ids), *ends.reshape(2, -1))
    low, high = _edges_as_networkx_lists_them(vertices, tail, head)
    weights = np.random.RandomState(WEIGHT_SEED).uniform(1, 10, len(low))
    return from_arcs(
        vertices,
        np.concatenate([low, high]),
        np.concatenate([high, low]),
        np.concatenate([weights, weights]),
        name=name,
        declared_directed=False,
    )


def _largest_component(vertices: int, tail: Array, head: Array) -> tuple[int, Array, Array]:
    pattern = coo_array((np.ones(len(tail)), (tail, head)), shape=(vertices, vertices))
    component = connected_components(pattern, directed=True, connection="weak")[1]
    _, lowest, sizes = np.unique(component, return_index=True, return_counts=True)
    chosen = component == np.lexsort((lowest, -sizes))[0]  # of equals, the one with the lowest vertex
    place = np.cumsum(chosen) - 1
    inside = chosen[tail]
    return int(chosen.sum()), place[tail[inside]], place[head[inside]]


def _edges_as_networkx_lists_them(vertices: int, tail: Array, head: Array) -> tuple[Array, Array]:
    """Each edge once: by its lower end, and there in the order in which the lines first name them."""
    low, high = np.minimum(tail, head), np.maximum(tail, head)
    first = np.sort(np.unique(low * vertices + high, return_index=True)[1])
    order = first[np.argsort(low[first], kind="stable")]
    return low[order], high[order]


def _lines(path: Path) -> list[str]:
    return open_source(path).text.replace(",", " ").splitlines()
