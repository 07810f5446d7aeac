"""`aacbench graphs`: list the graphs and where their files are, and describe one of them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aacbench.cli.shared import PLUGIN_FILES
from aacbench.library.plugins import warn

# Everything else is imported where it is used: numpy and scipy would make `aacbench --help` slow.
if TYPE_CHECKING:
    from aacbench.graphs.catalogue import DataFile
    from aacbench.graphs.record import Graph
    from aacbench.plugins.in_workers import GraphOf
    from aacbench.plugins.manager import PluginManager

LOAD_SECONDS = 3600.0  # the limit for loading a plugin's graph

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


@click.group(invoke_without_command=True)
@AS_JSON
@click.option("--files", "list_files", is_flag=True, help="List the files of the graphs instead.")
@PLUGIN_FILES
@click.pass_context
def graphs(context: click.Context, as_json: bool, list_files: bool, plugin_files: tuple[Path, ...]) -> None:
    """List all graphs, and where their files are."""
    if context.invoked_subcommand is not None:
        return
    rows = [*_catalogue_rows(), *_other_rows(plugin_files)]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    if list_files:
        _print_files(rows)
        return
    from tabulate import tabulate

    columns = ("name", "vertices", "arcs", "where", "licence")
    table = [[_cell(row[column]) for column in columns] for row in rows]
    click.echo(
        tabulate(table, headers=columns, colalign=("left", "right", "right", "left", "left"), disable_numparse=True)
    )
    click.echo(
        "\nAlso file:PATH, or NAME=file:PATH, for .gr, .map, .graphml, .npz, .txt, .csv and .tsv files, plain or .gz; "
        "--files lists the other files."
    )


@graphs.command()
@click.argument("name")
@AS_JSON
@PLUGIN_FILES
@click.pass_context
def show(context: click.Context, name: str, as_json: bool, plugin_files: tuple[Path, ...]) -> None:
    """Load one graph and print its size, components and digest."""
    group_files = context.parent.params.get("plugin_files", ()) if context.parent else ()
    description = _describe(name, (*group_files, *plugin_files))
    if as_json:
        click.echo(json.dumps(description, indent=2))
        return
    from tabulate import tabulate

    rows = [[key, _cell(value)] for key, value in description.items()]
    click.echo(tabulate(rows, tablefmt="plain", disable_numparse=True))


def _print_files(rows: list[dict[str, Any]]) -> None:
    from tabulate import tabulate

    table = [[row["name"], file["file"], file["where"]] for row in rows for file in row["files"]]
    click.echo(tabulate(table, headers=("name", "file", "where"), disable_numparse=True))
    click.echo("\nFiles are searched below $AACBENCH_DATA and in the cache, with and without .gz.")


def _catalogue_rows() -> list[dict[str, Any]]:
    from aacbench.graphs.catalogue import catalogue

    return [
        {
            "name": entry.name,
            "vertices": entry.vertices,
            "arcs": entry.arcs,
            "licence": entry.licence,
            "where": _where(list(entry.files.values())),
            "summary": entry.summary,
            "files": [
                {"file": file.at, "sha256": list(file.sha256), "address": file.address, "where": _where([file])}
                for file in entry.files.values()
            ],
        }
        for entry in catalogue().values()
    ]


def _other_rows(plugin_files: tuple[Path, ...]) -> Iterator[dict[str, Any]]:
    from aacbench.graphs import generators

    rows = [(name, "generated", summary) for name, summary in generators.describe()]
    for name, found in _plugins(plugin_files).graphs().items():
        rows.append((name, f"plugin {found.origin.where}", found.source.summary))
    unknown = {"vertices": None, "arcs": None, "licence": None}
    for name, where, summary in rows:
        yield {"name": name, **unknown, "where": where, "summary": summary, "files": []}


def _plugins(files: tuple[Path, ...]) -> "PluginManager":
    from aacbench.plugins.manager import load_plugins

    manager = load_plugins(files)
    warn(manager)
    return manager


def _where(files: list["DataFile"]) -> str:
    from aacbench.graphs import fetch

    if all(fetch.in_data_folder(file) for file in files):
        return "in $AACBENCH_DATA"
    missing = [file for file in files if not (fetch.in_data_folder(file) or fetch.in_cache(file))]
    if not missing:
        return "cached"
    return "to download" if all(file.address for file in missing) else "to be got by hand"


def _describe(name: str, files: tuple[Path, ...]) -> dict[str, Any]:
    """Describe a graph; a plugin's is loaded in another process, since it may hang or use all memory."""
    from aacbench.graphs.load import load

    plugins = _plugins(files)
    if name not in plugins.graphs():
        return describe(load(name))
    from aacbench.plugins.in_workers import GraphOf, sources_of
    from aacbench.processes.pool import Limits, isolated

    graph_of = GraphOf(sources_of(plugins))
    what = f"The graph {name!r} of a plugin cannot be loaded"
    description: dict[str, Any] = isolated(describe_by_name, (graph_of, name), Limits(LOAD_SECONDS), what)
    return description


def describe_by_name(job: "tuple[GraphOf, str]") -> dict[str, Any]:
    graph_of, name = job
    return describe(graph_of(name))


def describe(graph: "Graph") -> dict[str, Any]:
    import numpy as np

    from aacbench.graphs import components

    strong = np.bincount(components.labels(graph, "strong"))
    weak = np.bincount(components.labels(graph, "weak"))
    return {
        "name": graph.name,
        "vertices": graph.vertices,
        "arcs": graph.arcs,
        "weights": "integral" if graph.integral else "float",
        "symmetric": graph.symmetric,
        "declared directed": graph.declared_directed,
        "coordinates": graph.coords is not None,
        "names of vertices": graph.names is not None,
        "strong components": len(strong),
        "largest strong component": int(strong.max()),
        "weak components": len(weak),
        "largest weak component": int(weak.max()),
        **_scenario(graph.name),
        "digest": graph.digest,
    }


def _scenario(name: str) -> dict[str, int]:
    """Count the problems and buckets of a map's scenario, if its file is on this machine."""
    from aacbench.graphs import fetch
    from aacbench.graphs.catalogue import SCENARIO, catalogue
    from aacbench.graphs.readers.movingai import read_scenario

    entry = catalogue().get(name)
    file = entry.files.get(SCENARIO) if entry else None
    path = file and (fetch.in_data_folder(file) or fetch.in_cache(file))
    if not path:
        return {}
    buckets = read_scenario(path).bucket
    return {"scenario problems": len(buckets), "scenario buckets": len(set(buckets.tolist()))}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
