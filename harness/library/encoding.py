"""`aacbench.train_encoder`: an encoder trained in this process, to predict the costs of maps and look at them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from aacbench.contract.encoder import Encoder
from aacbench.contract.method import BatchHeuristic, Unsupported
from aacbench.errors import UnsupportedError, UsageError
from aacbench.graphs.record import Array
from aacbench.library.plugins import Plugin, load_files, plugin_paths
from aacbench.maps.load import load_maps
from aacbench.maps.record import MapSet
from aacbench.plugins.settings import resolve
from aacbench.protocols.choices import parse_methods
from aacbench.run.encode import as_leaf, predict, train_context


@dataclass(frozen=True, eq=False, slots=True)
class TrainedEncoder:
    """A trained encoder. `params` are its settings, `arrays` what would be deployed, `facts` are about its training."""

    name: str
    params: Mapping[str, Any]
    side: int
    arrays: Mapping[str, Array]
    facts: Mapping[str, int | float]
    leaf: BatchHeuristic

    def __repr__(self) -> str:
        size = sum(array.nbytes for array in self.arrays.values())
        return f"{self.name} for maps of {self.side} x {self.side} cells, {size:,} bytes"

    def predict(self, images: Array) -> Array:
        """Return the costs (n, side, side) of the cells of images (n, rows, columns, 3), each predicted by itself."""
        pictures = np.asarray(images)
        found = [predict(self.leaf, image, self.side, f"map {number}") for number, image in enumerate(pictures)]
        return np.concatenate(found) if found else np.empty((0, self.side, self.side))


def train_encoder(
    encoder: str | Encoder,
    maps: str | MapSet,
    *,
    seed: int = 42,
    plugins: Plugin | Iterable[Plugin] = (),
) -> TrainedEncoder:
    """Train an encoder, such as "cnn[loss=dbb]" or an `Encoder` of your own, on the training maps of a set.

    `maps` is the name of a map set or a `MapSet`. A study trains in a process of its own and checks what comes out.
    """
    found, params = _resolved(encoder, plugins)
    chosen = load_maps(maps) if isinstance(maps, str) else maps
    context = train_context(chosen, found.sees(params), params, seed, found.claims.oracle, lambda _: None)
    model = found.train(context)
    if isinstance(model, Unsupported):
        raise UnsupportedError(f"{found.name}: {model.reason}.")
    leaf = as_leaf(model)
    if not isinstance(leaf, BatchHeuristic):
        raise UsageError(f"{found.name} predicts nothing: it has the costs of given maps, so use it in a study.")
    return TrainedEncoder(found.name, params, chosen.side, dict(leaf.arrays), dict(model.facts), leaf)


def _resolved(encoder: str | Encoder, plugins: Plugin | Iterable[Plugin]) -> tuple[Encoder, Mapping[str, Any]]:
    if isinstance(encoder, Encoder):
        return encoder, resolve(encoder, {})
    (choice, *more) = parse_methods(encoder)
    if more or choice.grid:
        raise UsageError(f"Give one encoder with one value for each setting, not {encoder!r}.")
    found = load_files(plugin_paths(plugins), to_build=True).encoder(choice.name).encoder
    return found, resolve(found, choice.settings)
