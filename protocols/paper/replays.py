"""From an exhibit to studies: one for each run and graph, so that a graph that is missing stops no other."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aacbench.protocols.choices import parse_methods
from aacbench.protocols.paper.records import Paper, PaperRun
from aacbench.protocols.reader import method_table, study_of
from aacbench.run.records import Study

MODERN = {"search": "modern", "convention": "measured/1"}


@dataclass(frozen=True, slots=True)
class Replay:
    """A study that replays a run on one graph; `graph` is the paper's name, and `seed` only given where each draws."""

    run: PaperRun
    graph: str
    stand_in: bool
    modern: bool
    seed: int | None = None

    def folder(self, root: Path) -> Path:
        name = folder_name(self.graph) + ("-modern" if self.modern else "")
        place = root / self.run.name / name
        return place if self.seed is None else place / f"seed-{self.seed}"

    def study(self, graph: str | None = None) -> Study:
        """Return the study; `graph` names the file to use for the paper's graph."""
        table: dict[str, Any] = dict(self.run.protocol)
        table["seeds"] = list(self.run.seeds_of.get(self.graph, table["seeds"]))
        if self.seed is not None:
            table |= {"seeds": [self.seed], "queries": {**table["queries"], "seed": self.seed}}
        if self.modern:
            table |= MODERN
        table["methods"] = [method_table(choice) for choice in parse_methods(",".join(table["methods"]))]
        table |= {
            "protocol": f"paper-{self.run.name}",
            "summary": f"rows of the AAC paper: {self.run.name}",
            "graphs": [graph or self.graph],
        }
        return study_of(table, {key: f"{self.run.name}: {key}" for key in table})


def replays(paper: Paper, label: str, modern: bool = False) -> Iterator[Replay]:
    """Yield the studies of an exhibit: the paper's graphs, then stand-ins, which belong to the run's first exhibit."""
    for run in paper.runs_of(label):
        own = next(iter(run.exhibits)) == label
        for graph in (*run.exhibits[label], *(run.stand_in if own else ())):
            replay = Replay(run, graph, graph not in run.exhibits[label], modern)
            yield from [replace(replay, seed=seed) for seed in run.protocol["seeds"]] if run.seed_draws else [replay]


def folder_name(graph: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", graph)
