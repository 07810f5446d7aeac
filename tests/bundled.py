"""Heuristics through a bundle: saved here, and loaded by a process that never built them."""

from pathlib import Path

import numpy as np

from aacbench.bundle import store
from aacbench.bundle.deploy import deploy
from aacbench.bundle.evidence import Sample
from aacbench.contract.method import Heuristic
from aacbench.processes.pool import Limits, isolated
from aacbench.search import Network, network


def is_the_same_from_its_bundle(folder: Path, heuristic: Heuristic, net: Network) -> bool:
    """Return whether the bundle gives, in another process, the bounds that the heuristic gives here."""
    bundle = store.save(folder, heuristic, net.graph)
    theirs = isolated(_bounds, (bundle.folder, net.graph), Limits(600), "The bundle cannot be loaded")
    return np.array_equal(theirs, Sample(net.graph.vertices).bounds(deploy(heuristic, net)))


def _bounds(job):
    folder, graph = job
    deployed = deploy(store.load(store.open_bundle(folder)), network(graph))
    return Sample(graph.vertices).bounds(deployed)
