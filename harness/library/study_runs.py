"""`aacbench.run_study`: a study from Python, by the path that `aacbench run` takes."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aacbench.contract.method import Method
from aacbench.errors import UsageError
from aacbench.graphs.catalogue import FILE_PREFIX, comes_with_us, name_and_file
from aacbench.graphs.load import load
from aacbench.graphs.readers.npz import save_graph
from aacbench.library.graphs import as_graph
from aacbench.library.heuristic import GraphHeuristic
from aacbench.library.options import MEMORY_GIB, REPETITIONS, TIME_SECONDS, RunOptions, default_workers
from aacbench.library.plugins import Plugin, no_source, plugin_paths
from aacbench.library.running import carry_out, prepare_run
from aacbench.library.study import OpenStudy
from aacbench.processes.pool import start_server
from aacbench.run.exit_codes import ALL_OK
from aacbench.run.layout import STUDIES
from aacbench.run.records import QueryPlan
from aacbench.run.store import Existing
from aacbench.util.atomic_io import make_folder, storing
from aacbench.util.paths import expanded

SAVED_GRAPHS = "graphs"  # the folder beside studies for graphs that came from Python


def run_study(
    protocol: str | Path = "quick",
    *,
    methods: str | Sequence[str] | None = None,
    graphs: Any = None,
    budgets: str | npt.ArrayLike | None = None,
    seeds: str | npt.ArrayLike | None = None,
    queries: str | int | Path | QueryPlan | None = None,
    search: str | None = None,
    convention: str | None = None,
    maps: str | Sequence[str] | None = None,
    encoders: str | None = None,
    traffic: str | Sequence[str] | None = None,
    plugins: Plugin | Iterable[Plugin] = (),
    workers: int | None = None,
    executor: str = "local",
    scheduler: str | None = None,
    out: str | Path | None = None,
    existing: Existing = "keep",
    time_limit: float = TIME_SECONDS,
    memory_limit: float = MEMORY_GIB,
    rebuild: bool = False,
    time: bool = False,
    repetitions: int = REPETITIONS,
) -> OpenStudy:
    """Run a protocol as `aacbench run` does with the options of these names, and return the study.

    `methods`, `graphs`, `budgets` and `seeds` are texts as on the command line, or lists. `graphs` may also be a
    mapping from names to anything `as_graph` takes; such graphs are saved beside the study, where workers find them.
    What is finished is kept: after an interrupt the same call goes on. A cell that fails does not raise; it is in
    `cells` of the study, with its outcome and reason.
    """
    if not scheduler:
        start_server()
    folder = None if out is None else expanded(out)
    options = RunOptions(
        protocol=str(protocol),
        methods=_methods(methods),
        graphs=_graphs(graphs, STUDIES if folder is None else folder.parent),
        budgets=_numbers(budgets),
        seeds=_numbers(seeds),
        queries=str(queries) if isinstance(queries, Path) else queries,
        search=search,
        convention=convention,
        maps=maps,
        encoders=encoders,
        traffic=traffic,
        plugin_files=plugin_paths(plugins),
        workers=default_workers() if workers is None else workers,
        executor=executor,
        scheduler=scheduler,
        out=folder,
        existing=existing,
        time_limit=time_limit,
        memory_limit=memory_limit,
        rebuild=rebuild,
        time=time,
        repetitions=repetitions,
    )
    try:
        finished = carry_out(prepare_run(options, to_build=True))
    except KeyboardInterrupt:
        print("Stopped; what is finished is kept, and the same call goes on from there.", file=sys.stderr)
        raise
    study = OpenStudy(finished.root, finished.contents)
    if finished.exit_code != ALL_OK:
        print(study, file=sys.stderr)
    return study


def _methods(methods: Any) -> str | None:
    if methods is None or isinstance(methods, str):
        return methods
    listed = [methods] if isinstance(methods, Method | GraphHeuristic) else methods
    for method in listed:
        if isinstance(method, Method):
            raise no_source(method)
        if isinstance(method, GraphHeuristic):
            raise UsageError(
                f"methods takes names of methods, not a built heuristic; give {method.info.get('label', 'alt')!r}, and "
                "the file of a method of your own as plugins=['my_method.py']."
            )
    return ",".join(map(str, listed))


def _numbers(values: Any) -> Any:
    return values if values is None or isinstance(values, str) else np.atleast_1d(values).tolist()


def _graphs(graphs: Any, folder: Path) -> str | list[str] | None:
    """The graphs as the command takes them; those that are not names are saved below `folder`."""
    if graphs is None or isinstance(graphs, str):
        return graphs
    if isinstance(graphs, Mapping):
        return [_saved(name, data, folder) for name, data in graphs.items()]
    listed = list(graphs) if isinstance(graphs, list | tuple) else [graphs]
    return [each if isinstance(each, str) else _saved("", each, folder) for each in listed]


def _saved(name: str, data: Any, folder: Path) -> str:
    if isinstance(data, str):
        return f"{name}={data}" if data.startswith(FILE_PREFIX) else data
    graph = as_graph(data)
    if not name and comes_with_us(graph.name) and load(graph.name).digest == graph.digest:
        return graph.name
    short = name or graph.name or "graph"
    file = folder / SAVED_GRAPHS / f"{short}-{graph.digest[:8]}.npz"
    named = f"{short}={FILE_PREFIX}{file}"
    name_and_file(named)  # refuses a name that cannot be one, before it is that of a file
    if not file.exists():
        with storing(file.parent):
            make_folder(file.parent)
        save_graph(graph, file)
    return named
