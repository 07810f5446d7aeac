"""Dijkstra's answers, the reference for every cell: searched once per graph, queries and policy."""

from collections.abc import Mapping
from pathlib import Path

from aacbench.queries.record import QuerySet
from aacbench.run.loaded_graph import LoadedGraph
from aacbench.search import Answers, Network, dijkstra, parse
from aacbench.util import array_store as artifacts
from aacbench.util.atomic_io import storing
from aacbench.util.compiled import kernel_digest
from aacbench.util.file_lock import file_lock


def references(folder: Path, loaded: LoadedGraph, parts: Mapping[str, QuerySet], policy: str) -> dict[str, Answers]:
    """Dijkstra's answers to the queries of each split, from disk or searched now.

    Workers that need the same parts share them out: each searches what nobody is searching yet, then waits.
    """
    found: dict[str, Answers] = {}
    for wait in (False, True):
        for name, queries in parts.items():
            if name not in found:
                answers = _reference(folder, loaded, queries, policy, wait)
                found |= {} if answers is None else {name: answers}
    return found


def _reference(folder: Path, loaded: LoadedGraph, queries: QuerySet, policy: str, wait: bool) -> Answers | None:
    net = loaded.net
    key = _key(net, queries, policy)
    kept = artifacts.read(folder, key)
    if kept is None:
        with file_lock(folder, f"reference-{key[:24]}", wait=wait) as mine:
            kept = artifacts.read(folder, key)  # another worker may have searched it meanwhile
            if kept is None and not mine:
                return None
            if kept is None:
                answers = dijkstra(net, queries.sources, queries.targets, policy=parse(policy))
                loaded.check()  # what a method has changed, even now in a thread of its own, must not be kept
                queries.check_optima(answers.cost)
                with storing(folder.parent):
                    artifacts.write(folder, key, answers.columns(), {})
                return answers
    return Answers(**kept.arrays, paths=None)


def _key(net: Network, queries: QuerySet, policy: str) -> str:
    made_from = {"graph": net.graph.digest, "queries": queries.digest, "policy": policy, "engine": kernel_digest()}
    return artifacts.key_of({"reference": "dijkstra/2", **made_from})
