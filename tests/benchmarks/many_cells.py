"""Time the commands on a study of very many cells: python many_cells.py FOLDER --cells 100000

The first cell of each graph is run; all others are written with the store's own functions and its rows, as if they had
been run, each with times, digests and bytes of its own. Files are not synced while this study is written, so that it
takes minutes and not an hour. CPU seconds are those of all processes of a command, user and system; they depend less
than seconds on what else the machine does.
"""

import os
import random
import resource
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Mapping
from multiprocessing import Process, SimpleQueue
from pathlib import Path
from typing import Any

from tabulate import tabulate

from aacbench.library.running import config_of
from aacbench.plugins.manager import load_plugins
from aacbench.protocols.reader import read_protocol
from aacbench.run.driver import prepare, run_study
from aacbench.run.layout import cell_folder, cell_id
from aacbench.run.records import Study
from aacbench.run.run_config import key_of
from aacbench.run.store import Cell, commit, read_cell
from aacbench.run.study import protocol_digest, write_plan

GRAPHS, BUDGETS, SEEDS = 5, 10, 100  # in a study; the number of methods follows from that of cells
PROTOCOL = """protocol = "many-cells"
summary = "simulated cells"
graphs = {graphs}
budgets = {budgets}
seeds = {seeds}

[queries]
validation = 10
test = 20
"""
METHOD = """
[[methods]]
name = "random-subset"
settings = {{ K = 1, K0 = {pool} }}
"""


def protocol(cells: int) -> str:
    """A protocol of at least so many cells, besides Dijkstra's."""
    methods = -(-cells // (GRAPHS * BUDGETS * SEEDS))
    lists = {
        "graphs": [f"road-{100 + k}" for k in range(GRAPHS)],
        "budgets": [8 * (k + 1) for k in range(BUDGETS)],
        "seeds": list(range(SEEDS)),
    }
    text = PROTOCOL.format(**{name: str(values).replace("'", '"') for name, values in lists.items()})
    return text + "".join(METHOD.format(pool=k + 2) for k in range(methods))


def write_study(study: Study, root: Path) -> int:
    """Write every cell of a study, with rows of another cell on the same graph; return how many there are."""
    first = config_of(root.with_name(root.name + "-first"), load_plugins(), workers=1)
    small = Study(**{**_fields(study), "methods": study.methods[:1], "budgets": study.budgets[:1], "seeds": (0,)})
    templates: dict[tuple[str, bool], Cell] = {}
    for plan, name in run_study(small, first):
        found = read_cell(first.root, name)
        assert found is not None
        templates[plan.graph, plan.method == "dijkstra"] = found
    config = config_of(root, load_plugins())
    planned, graphs = prepare(study, config)
    names = []
    for plan in planned.cells:
        template = templates[plan.graph, plan.method == "dijkstra"]
        key = key_of(study, config, graphs, plan)
        names.append(cell_id(key))
        if not cell_folder(root, names[-1]).exists():  # so that the script goes on where it was stopped
            commit(root, names[-1], {**_varied(template.record, len(names)), "key": key}, template.files)
    write_plan(root, {"protocol_digest": protocol_digest(study), "study": study.record(), "cells": names})
    return len(names)


def _varied(record: Mapping[str, Any], number: int) -> dict[str, Any]:
    """A record with facts of its own, as no two cells have the same: no reader may profit from equal texts."""
    draw = random.Random(number)
    digests = [{**array, "sha256": f"{draw.getrandbits(256):064x}"} for array in record["bytes"]["arrays"]]
    build = {name: draw.random() for name in ("seconds", "pool_seconds")}
    memory = {name: draw.randrange(10**8, 2 * 10**8) for name in ("peak_rss", "rss_before")}
    return {
        **record,
        "audit": {**record["audit"], "pairs": draw.randrange(300, 400)},
        "build": {**record["build"], **build, **memory},
        "bundle": f"{draw.getrandbits(256):064x}",
        "bytes": {**record["bytes"], "arrays": digests},
        "means": {split: mean + draw.random() for split, mean in record["means"].items()},
    }


def _fields(study: Study) -> dict[str, object]:
    return {name: getattr(study, name) for name in study.__dataclass_fields__}


def _measured(command: list[str], answer: "SimpleQueue[tuple[float, ...]]") -> None:
    began = time.perf_counter()
    quiet = subprocess.DEVNULL
    code = subprocess.run(command, stdout=quiet, stderr=quiet, check=False).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer.put((time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, code))


def measured(*command: str) -> tuple[float, ...]:
    """Seconds and CPU seconds of a command, the most MiB that one of its processes held, and its exit code."""
    answer: SimpleQueue[tuple[float, ...]] = SimpleQueue()
    process = Process(target=_measured, args=([str(Path(sys.executable).with_name("aacbench")), *command], answer))
    process.start()
    found = answer.get()
    process.join()
    return found


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write the study, some 2 GB for 100,000 cells")
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--only", help="one of the commands, by its name in the table")
    options = parser.parse_args()
    root: Path = options.folder / f"many-{options.cells}"
    file = options.folder / f"many-{options.cells}.toml"
    options.folder.mkdir(parents=True, exist_ok=True)
    if not (root / "plan.json").exists():
        file.write_text(protocol(options.cells), encoding="utf-8")
        os.fsync = lambda _: None  # type: ignore[assignment]
        began = time.perf_counter()
        count = write_study(read_protocol(str(file)), root)
        print(f"{count} cells written in {time.perf_counter() - began:.0f} s", flush=True)
    commands = {
        "status": ("status", str(root)),
        "plan": ("run", "--protocol", str(file), "--out", str(root), "--dry-run"),
        "resume": ("run", "--protocol", str(file), "--out", str(root), "--workers", "1"),
        "report": ("report", str(root), "--csv"),
        "page": ("report", str(root)),
        "studies": ("studies", str(root)),
        "export": ("export", "--parquet", str(options.folder / "rows.parquet"), "--study", str(root)),
    }
    rows = []
    for name, command in commands.items():
        if options.only in (None, name):
            seconds, cpu, mib, code = measured(*command)
            rows.append((name, f"{seconds:.1f}", f"{cpu:.1f}", f"{mib:.0f}", int(code)))
            print(tabulate(rows[-1:], tablefmt="plain"), flush=True)
    print(tabulate(rows, headers=("command", "seconds", "CPU seconds", "MiB", "exit code"), tablefmt="github"))


if __name__ == "__main__":
    main()
