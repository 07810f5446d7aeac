"""The cell of an encoder: train it and save its model as a bundle; in another process, predict with that alone."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.bundle import store
from aacbench.bundle.arrays import read_only
from aacbench.bundle.evidence import Sample
from aacbench.bundle.inventory import inventory
from aacbench.contract.encoder import COSTS, NOTHING, PATHS, Encoder, EncoderClaims, Model, TrainContext, TrainMaps
from aacbench.contract.method import BatchHeuristic, LabelHeuristic, Unsupported
from aacbench.errors import DataError, DisagreementError, UsageError
from aacbench.graphs.record import Array, frozen
from aacbench.maps.atlas import SCALE, largest_cost, whole_costs
from aacbench.maps.calibration import MOST_VALUES
from aacbench.maps.grid import solve
from aacbench.maps.record import CALIBRATION, TEST, TRAIN, VALIDATION, Maps, MapSet
from aacbench.processes import rss
from aacbench.processes.worker import report_progress
from aacbench.run.build import Built, Result, bundle_info
from aacbench.run.map_paths import corner_paths
from aacbench.run.plan import CellPlan
from aacbench.run.predicted import COSTS_FILE, IMAGE_FILE, MAP_COLUMNS, MAPS_FILE, PREDICTED, TRUTH_FILE
from aacbench.run.predictions import wanted
from aacbench.run.rows import write_table
from aacbench.util.array_store import npy_bytes, sha256_of, trust
from aacbench.util.atomic_io import storing
from aacbench.util.source_file import SourceFile

COMPARED = 32  # maps that are predicted where the encoder was trained, too
AGAIN = 8  # maps that are predicted twice, in the reverse order
TELL_SECONDS = 2.0
TABLE = "table"  # the kernel of a model that has its predictions as an array


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodeJob:
    """A cell of an encoder with all that a process needs for it; the fields are those of a `CellJob` where it has them.

    `counts` are the maps of each split, `digest` that of the map set the run was planned on.
    """

    cell_id: str
    plan: CellPlan
    counts: Mapping[str, int]
    digest: str
    claims: EncoderClaims
    encoder_of: Callable[[str], Encoder]
    maps_of: Callable[[str, Mapping[str, int]], MapSet]
    bundles: Path
    sources: tuple[SourceFile, ...] = ()
    origin: str = ""

    def maps(self) -> MapSet:
        """The maps, which must be those the run was planned on."""
        maps = self.maps_of(self.plan.graph, self.counts)
        if maps.digest != self.digest:
            raise DataError(
                f"The map set {self.plan.graph} is not the one that this run was planned on; it must be the same each "
                "time it is loaded. Run again once it is."
            )
        return maps

    def rebuilt(self, seed: int) -> "EncodeJob":
        """The same cell with this seed."""
        return replace(self, plan=replace(self.plan, seed=seed))


def build(job: EncodeJob) -> Built | Result:
    """Train the encoder and save its model as a bundle."""
    began = time.perf_counter()
    maps, encoder = job.maps(), job.encoder_of(job.plan.method)
    sees = encoder.sees(job.plan.params)
    if sees == PATHS and not maps.labelled:
        return Result("unsupported", f"The map set has no shortest paths, and {encoder.name} learns from them", {}, {})
    context = train_context(maps, sees, job.plan.params, job.plan.seed, encoder.claims.oracle, report_progress)
    before, began_training = rss.begin_watch(), time.perf_counter()
    model = encoder.train(context)
    if isinstance(model, Unsupported):
        return Result("unsupported", model.reason, {}, {})
    cost = {
        "seconds": time.perf_counter() - began_training,
        "pool_seconds": 0.0,
        "rss_before": before,
        "peak_rss": rss.peak(),
        "facts": _facts(model),
    }
    leaf = as_leaf(model)
    info = bundle_info(job.plan, asdict(job.claims), cost)
    with storing(job.bundles.parents[1]):
        bundle = store.save_for(job.bundles, leaf, {"maps": maps.digest}, info)
    some = whole_costs(_predicted(leaf, maps, most=COMPARED))[0]
    cost["predicted_sha256"] = sha256_of(some)
    seconds = time.perf_counter() - began
    return Built(bundle.digest, bundle.array_digests, cost, "compiled", seconds, Sample(1), (), bundle.versions())


def measure(job: EncodeJob, built: Built) -> Result:
    """Predict with the saved model, in a process that never trained, and compare the paths of both costs."""
    maps = job.maps()
    trust(built.versions)
    bundle = store.open_bundle(store.bundle_folder(job.bundles, built.bundle))
    leaf = store.load(bundle, job.sources)
    assert isinstance(leaf, LabelHeuristic | BatchHeuristic)
    predicted = _predicted(leaf, maps)
    costs, clipped = whole_costs(predicted)
    _check_same(leaf, maps, costs, built)
    counts = _counts(maps, len(costs))
    truth = np.concatenate([maps.splits[split].costs for split in (TEST, CALIBRATION)])
    cost = {key: value for key, value in built.cost.items() if key != "predicted_sha256"}
    facts = {
        "bundle": built.bundle,
        "bytes": inventory(leaf, maps.cells, bundle.array_digests).record(),
        "build": cost,
        "tier": "model",
        "claims": asdict(job.claims),
        "learns_from": job.encoder_of(job.plan.method).sees(job.plan.params),
        "unit": maps.unit,
        "side": maps.side,
        "edges": job.plan.edges,
        "predicted": counts,
        "clipped": clipped,
        "costs_sha256": sha256_of(costs),
        "training_costs": _distinct(maps.splits[TRAIN].costs),
    }
    columns = _map_columns(maps, costs, job.plan.edges)
    facts["shown_map"] = shown = _worst(columns)
    files = {
        IMAGE_FILE: npy_bytes(maps.splits[TEST].images[shown]),
        COSTS_FILE: npy_bytes(costs),
        TRUTH_FILE: npy_bytes(frozen(truth, np.int32)),
        MAPS_FILE: write_table(MAP_COLUMNS, columns, MAPS_FILE),
    }
    if clipped and not job.origin:
        most = largest_cost(maps.side) / SCALE
        reason = (
            f"{clipped} predicted costs are not from 1/{SCALE} to {most:.4g}, so labels of 4 bytes cannot hold paths"
        )
        return Result("error", reason, facts, files)
    return Result("ok", "", facts, files)


def train_context(
    maps: MapSet, sees: str, params: Mapping[str, Any], seed: int, oracle: bool, progress: Callable[[str], None]
) -> TrainContext:
    """All that training may see: maps with the labels it learns from, and no test map, except for an oracle."""
    counts = wanted(maps.counts())
    true = [maps.splits[split].costs[: counts[split]] * maps.unit for split in PREDICTED] if oracle else None
    return TrainContext(
        train=_shown(maps.splits[TRAIN], sees, maps.unit),
        validation=_shown(maps.splits[VALIDATION], sees, maps.unit),
        side=maps.side,
        pixels=maps.pixels,
        params=dict(params),
        seed=seed,
        wanted=counts,
        oracle_costs=None if true is None else np.concatenate(true),
        progress=progress,
    )


def as_leaf(model: Model) -> LabelHeuristic | BatchHeuristic:
    """A model in the form in which bundles hold arrays and a function."""
    if not isinstance(model, Model):
        raise UsageError(f"train must return a Model, not a {type(model).__name__}.")
    if model.predict is None:
        if set(model.arrays) != {"costs"}:
            raise UsageError("A Model without predict must have its predictions as the array 'costs', and no other.")
        return LabelHeuristic(model.arrays, TABLE, model.settings)
    function: Any = model.predict  # of other arguments than a heuristic's, which a bundle does not call
    return BatchHeuristic(read_only(model.arrays), function, settings=model.settings)


def predict(leaf: LabelHeuristic | BatchHeuristic, image: Array, side: int, where: str) -> Array:
    """The costs of one map, checked."""
    assert isinstance(leaf, BatchHeuristic)
    function: Any = leaf.many
    costs = np.asarray(function(leaf.arrays, dict(leaf.settings), image[None]))
    if costs.shape != (1, side, side) or costs.dtype.kind not in "iuf":
        told = f"{costs.dtype} of shape {costs.shape}"
        raise DataError(f"predict returned {told} for one image; it must return numbers of shape {(1, side, side)}.")
    return checked_costs(costs, where)


def checked_costs(costs: Array, where: str) -> Array:
    """Costs as floats; refuse what no cell can cost."""
    values = costs.astype(np.float64)
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        at, *cell = (int(k) for k in np.argwhere(wrong)[0])
        place = where or f"map {at}"
        raise DataError(f"The predicted cost of cell {tuple(cell)} of {place} is {values[at, *cell]}, not positive.")
    return values


def _predicted(leaf: LabelHeuristic | BatchHeuristic, maps: MapSet, most: int | None = None) -> Array:
    """The costs of all wanted maps, each predicted by itself; with `most`, of the first ones."""
    if isinstance(leaf, LabelHeuristic):
        return checked_costs(leaf.arrays["costs"][:most], "")
    found = []
    spoke = time.monotonic()
    images = _images(maps)
    count = len(images) if most is None else min(most, len(images))
    for number in range(count):
        found.append(predict(leaf, images[number], maps.side, f"map {number}"))
        if time.monotonic() - spoke > TELL_SECONDS:
            report_progress(f"predicted {number + 1} of {count} maps")
            spoke = time.monotonic()
    return np.concatenate(found)


def _images(maps: MapSet) -> list[Array]:
    counts = wanted(maps.counts())
    return [image for split in PREDICTED for image in maps.splits[split].images[: counts[split]]]


def _check_same(leaf: LabelHeuristic | BatchHeuristic, maps: MapSet, costs: Array, built: Built) -> None:
    """Refuse a model that predicts otherwise where it was trained, or when it is asked again."""
    if sha256_of(costs[:COMPARED]) != built.cost["predicted_sha256"]:
        raise DisagreementError(
            "The saved model predicts other costs than the process that trained it; all it needs must be in its "
            "arrays and settings."
        )
    images = _images(maps)
    for number in reversed(range(min(AGAIN, len(images)) if isinstance(leaf, BatchHeuristic) else 0)):
        again = whole_costs(predict(leaf, images[number], maps.side, f"map {number}"))[0]
        if not np.array_equal(again[0], costs[number]):
            raise DisagreementError(
                f"Map {number} was predicted twice, with other costs; predict must be deterministic."
            )


def _counts(maps: MapSet, found: int) -> dict[str, int]:
    """How many maps of each split were predicted: all that are wanted, or those for tests and calibration alone."""
    counts = wanted(maps.counts())
    if found == sum(counts.values()):
        return counts
    short = {split: count if split in (TEST, CALIBRATION) else 0 for split, count in counts.items()}
    if found != sum(short.values()):
        raise DataError(f"There are predictions of {found} maps; this study needs {sum(counts.values())}.")
    return short


def _map_columns(maps: MapSet, costs: Array, edges: str) -> dict[str, Array]:
    """The corner path of each test and calibration map: what it costs, and how it compares with the label."""
    tables = []
    begin = 0
    for split in (TEST, CALIBRATION):
        found = maps.splits[split]
        tables.append(_split_columns(split, found, corner_paths(costs[begin : begin + len(found)], edges)))
        begin += len(found)
    return {name: np.concatenate([table[name] for table in tables]) for name in MAP_COLUMNS}


def _worst(columns: Mapping[str, Array]) -> int:
    """Return the test map with the largest regret, which pictures show; the first of equals."""
    tests = columns["split"] == TEST
    return int(np.argmax(columns["true_cost"][tests] / columns["true_optimum"][tests]))


def _split_columns(split: str, maps: Maps, paths: Array) -> dict[str, Array]:
    count = len(maps)
    match, jaccard = np.full(count, -1), np.full(count, math.nan)
    if maps.paths is not None:
        match = (paths == maps.paths).all(axis=(1, 2)).astype(np.int64)
        shared, either = (paths & maps.paths).sum(axis=(1, 2)), (paths | maps.paths).sum(axis=(1, 2))
        jaccard = shared / either
    return {
        "split": np.full(count, split, dtype=object),
        "map": np.arange(count),
        "true_optimum": solve(maps.costs).optima,
        "true_cost": (paths.astype(np.int64) * maps.costs).sum(axis=(1, 2)),
        "match": match,
        "jaccard": jaccard,
    }


def _shown(maps: Maps, sees: str, unit: float) -> TrainMaps:
    costs = maps.costs * unit if sees == COSTS else None
    return TrainMaps(maps.images, costs, None if sees == NOTHING else maps.paths)


def _distinct(costs: Array) -> list[int]:
    """The distinct costs of the training maps, or none where there are too many to be classes."""
    found = np.unique(costs).tolist()
    return found if 1 < len(found) <= MOST_VALUES else []


def _facts(model: Any) -> dict[str, int | float]:
    facts = dict(model.facts) if isinstance(model, Model) else {}
    for name, value in facts.items():
        if type(value) not in (int, float) or not math.isfinite(value):
            raise UsageError(f"The model's fact {name!r} must be a finite int or float, not {value!r}.")
    return facts
