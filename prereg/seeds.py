"""Queries drawn after the lock: their seed follows from the lock and from a public text given later."""

import hashlib
from dataclasses import replace

from aacbench.run.loaded_graph import loaded_graph
from aacbench.run.records import Study


def seed_from(lock: str, public: str) -> int:
    """The first 32 bits of sha256(lock digest || public text)."""
    return int.from_bytes(hashlib.sha256(bytes.fromhex(lock) + public.encode()).digest()[:4], "big")


def seeded(study: Study, lock: str, public: str) -> Study:
    """The study with its queries drawn from the lock and the public text."""
    return replace(study, queries=replace(study.queries, seed=seed_from(lock, public)))


def query_digests(study: Study) -> dict[str, dict[str, str]]:
    """The digests of the queries of each graph, drawn again."""
    return {name: loaded_graph(name, study.queries).digests() for name in study.graphs}
