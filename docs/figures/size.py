"""Cost per vertex against the size of a graph: python docs/figures/size.py FOLDER [--largest 1000000]

For each size a road network is written to FOLDER as DIMACS files. Then a process of its own reads it, computes a pool,
labels, an audit and searches, each timed; `aacbench run` runs ALT on the file at 32 and 64 B/v. Measurements stay in
FOLDER, so the command goes on where it stopped. It ends with docs/figures/size.svg and the table in docs/benchmarks.md.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import psutil
from tabulate import tabulate

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 2_000_000, 4_500_000)
BUDGET, LANDMARKS = 64, 8  # two labels of four bytes for each landmark of a directed graph
QUERIES, TARGETS = 30, 3
WARM_UP = 1000  # vertices of a graph that is not measured
FIGURE, DOCUMENT = Path(__file__).with_name("size.svg"), Path(__file__).parents[1] / "benchmarks.md"
BEGIN, END = "<!-- size.py writes the table from here -->", "<!-- to here -->"
FEW_SECONDS = 300_000  # vertices of the largest graph that is measured three times
COLOURS = {"read": "#0072B2", "pool": "#D55E00", "labels": "#009E73", "audit": "#CC79A7", "search": "#000000"}
MARKS = {"read": "o", "pool": "s", "labels": "^", "audit": "D", "search": "v"}
WHAT = {
    "read": "read `.gr` and `.co`",
    "pool": f"pool of {LANDMARKS} farthest points",
    "labels": f"labels at {BUDGET} B/v",
    "audit": f"audit of {TARGETS} targets",
    "search": f"A*, {QUERIES} queries",
}


def write_dimacs(vertices: int, folder: Path) -> Path:
    """Write `road-N` as a `.gr` and a `.co` file, unless they are there; return the first."""
    from aacbench.graphs.load import load

    graph_file = folder / f"road-{vertices}.gr"
    if graph_file.exists():
        return graph_file
    graph = load(f"road-{vertices}")
    assert graph.coords is not None
    arcs = np.stack([graph.sources + 1, graph.indices + 1, graph.weights], axis=1)
    places = np.column_stack([np.arange(1, vertices + 1), np.rint(graph.coords * 100).astype(np.int64)])
    unfinished = graph_file.with_suffix(".unfinished")
    _write_rows(unfinished, f"p sp {vertices} {graph.arcs}", "a", arcs)
    _write_rows(graph_file.with_suffix(".co"), f"p aux sp co {vertices}", "v", places)
    unfinished.replace(graph_file)
    return graph_file


def _write_rows(file: Path, header: str, mark: str, rows: Any) -> None:
    with file.open("w", encoding="ascii") as stream:
        stream.write(header + "\n")
        for start in range(0, len(rows), 100_000):
            some = rows[start : start + 100_000].tolist()
            stream.writelines(f"{mark} {' '.join(map(str, row))}\n" for row in some)


def measure(graph_file: Path) -> dict[str, Any]:
    """Time each step in this process, and note the most memory that it held meanwhile."""
    from aacbench.bundle.deploy import deploy
    from aacbench.graphs.readers.dimacs import read_dimacs
    from aacbench.labels import farthest_points, subset
    from aacbench.processes import rss
    from aacbench.queries.sampling import sample
    from aacbench.run.audit import audit_bounds
    from aacbench.search import network, search

    found: dict[str, Any] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        rss.begin_watch()
        began = time.perf_counter()
        result = work()
        found[name] = {"seconds": time.perf_counter() - began, "peak": rss.peak()}
        return result

    graph = timed("read", lambda: read_dimacs(graph_file, graph_file.with_suffix(".co"), name=graph_file.stem))
    net = timed("renumber", lambda: network(graph))
    pool = timed("pool", lambda: farthest_points(net, LANDMARKS))
    built = timed("labels", lambda: deploy(subset(net, pool, range(LANDMARKS)), net))
    queries = sample(graph, QUERIES)
    audit = timed("audit", lambda: audit_bounds(net, built.many, queries.targets[:TARGETS]))
    assert audit.consistent, audit.counterexamples
    answers = timed("search", lambda: search(net, built.searched, queries.sources, queries.targets))
    found["search"]["expanded"] = int(answers.expanded.sum())
    return {"vertices": graph.vertices, "arcs": graph.arcs, "steps": found}


def best(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Each step as it was in the round in which it took least time."""
    steps = {
        name: min((one["steps"][name] for one in rounds), key=lambda step: step["seconds"])
        for name in rounds[0]["steps"]
    }
    return {**rounds[0], "steps": steps}


def run_study(graph_file: Path) -> dict[str, Any]:
    """Run ALT on the file as a user would; seconds, and the most memory of all its processes together."""
    with tempfile.TemporaryDirectory(dir=graph_file.parent) as scratch:
        command = [
            *(str(Path(sys.executable).with_name("aacbench")), "run", "--methods", "alt", "--budgets", "32,64"),
            *("--graphs", f"city=file:{graph_file}", "--queries", "20/20", "--seeds", "42", "--workers", "2"),
            *("--out", str(Path(scratch) / "study"), "--memory-limit", "16"),
        ]
        began = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8"
        )
        stop, most = Event(), [0]
        watch = Thread(target=_watch, args=(process.pid, stop, most))
        watch.start()
        output, _ = process.communicate()
        seconds = time.perf_counter() - began
        stop.set()
        watch.join()
        return {"seconds": seconds, "peak": most[0], "exit_code": process.returncode, "output": output}


def forget_graphs(cache: Path) -> None:
    """Remove graphs from the cache, so that the next command reads its file; compiled kernels stay."""
    for kept in ("graphs", "networks"):
        shutil.rmtree(cache / kept, ignore_errors=True)


def _watch(pid: int, stop: Event, most: list[int]) -> None:
    """Note the most memory of a process and its children; a page that several share counts once."""
    while not stop.wait(0.5):
        total = 0
        with suppress(psutil.Error):
            total = sum(map(_pss, [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]))
        most[0] = max(most[0], total)


def _pss(process: psutil.Process) -> int:
    with suppress(psutil.Error):
        return int(process.memory_full_info().pss)
    return 0


def slope(records: Mapping[int, Any], step: str) -> float:
    """The exponent b of seconds = a N^b, by least squares over the sizes from 10^5 on, or over all if these are few."""
    sizes = [size for size in records if size >= 100_000]
    sizes = sizes if len(sizes) > 2 else list(records)
    seconds = [records[size]["steps"][step]["seconds"] for size in sizes]
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def table(records: Mapping[int, Any]) -> str:
    rows = []
    for size, record in records.items():
        steps = record["steps"]
        cost = [f"{steps[name]['seconds'] / size * 1e6:.2f}" for name in WHAT]
        rate = steps["search"]["seconds"] / steps["search"]["expanded"] * 1e9
        peak = max(step["peak"] for step in steps.values())
        run = record["run"]
        rows.append(
            [
                f"{size:,}",
                *cost,
                f"{rate:.0f}",
                f"{peak / 1e9:.2f}",
                f"{run['seconds']:.0f}",
                f"{run['peak'] / 1e9:.2f}",
            ]
        )
    if len(records) > 1:
        rows.append(["slope", *(f"{slope(records, name):.2f}" for name in WHAT), "", "", "", ""])
    heads = ["vertices", *WHAT, "ns per expansion", "GB", "run, s", "run, GB"]
    return tabulate(rows, headers=heads, tablefmt="github", disable_numparse=True, colalign=["right"] * len(heads))


def draw(records: Mapping[int, Any], out: Path) -> None:
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 11, "svg.hashsalt": "aacbench"})
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name, colour in COLOURS.items():
        x = list(records)
        y = [records[size]["steps"][name]["seconds"] / size * 1e6 for size in x]
        label = f"{WHAT[name].replace('`', '')}: slope {slope(records, name):.2f}"
        axes.plot(x, y, color=colour, marker=MARKS[name], label=label)
    axes.set(xscale="log", yscale="log", xlabel="vertices", ylabel="microseconds per vertex")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right upper", frameon=False, fontsize=9)
    axes.set_title("road-N, one process, two cores", fontsize=11, loc="left")
    figure.savefig(out, metadata={"Date": None})


def measured(size: int, folder: Path, cache: Path) -> dict[str, Any]:
    graph_file = write_dimacs(size, folder.absolute())
    rounds = str(3 if size <= FEW_SECONDS else 1)
    alone = [sys.executable, __file__, str(folder), "--measure", str(graph_file), "--rounds", rounds]
    answer = subprocess.run(alone, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8").stdout
    run_study(write_dimacs(WARM_UP, folder.absolute()))  # compiles what only a run uses
    forget_graphs(cache)
    run = run_study(graph_file)
    forget_graphs(cache)
    if run["exit_code"] != 0:
        sys.exit(f"aacbench run on {graph_file} ended with {run['exit_code']}:\n{run['output']}")
    return {**json.loads(answer), "run": run}


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where files and measurements are kept, some 600 MB for all sizes")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="the largest size to measure")
    parser.add_argument("--out", type=Path, default=FIGURE, help="the figure")
    parser.add_argument("--document", type=Path, default=DOCUMENT, help="where the table goes, between two marks")
    parser.add_argument("--rounds", type=int, default=1, help="with --measure: how often; the least of each is kept")
    parser.add_argument("--measure", type=Path, help="measure this file only, and print JSON")
    options = parser.parse_args()
    if options.measure:
        measure(write_dimacs(WARM_UP, options.folder))  # compiles every kernel, so that no measurement includes it
        print(json.dumps(best([measure(options.measure) for _ in range(options.rounds)])))
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    cache = options.folder.absolute() / "cache"
    os.environ["AACBENCH_CACHE"] = str(cache)
    records = {}
    for size in (size for size in SIZES if size <= options.largest):
        kept = options.folder / f"size-{size}.json"
        if not kept.exists():
            print(f"road-{size} ...", file=sys.stderr, flush=True)
            kept.write_text(json.dumps(measured(size, options.folder, cache), indent=1), encoding="utf-8")
        records[size] = json.loads(kept.read_text(encoding="utf-8"))
    draw(records, options.out)
    text = table(records)
    before, begin, rest = options.document.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    if not begin or not after:
        sys.exit(f"{options.document} does not have the lines {BEGIN} and {END}.")
    options.document.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
