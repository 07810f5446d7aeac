"""`aacbench graphs`: which graphs there are, where their files lie, and what one of them looks like."""

import json
from typing import TYPE_CHECKING, Any

import click

# Everything else is imported where it is used: numpy and scipy would make `aacbench --help` slow.
if TYPE_CHECKING:
    from aacbench.graphs.catalogue import DataFile

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


@click.group(invoke_without_command=True)
@AS_JSON
@click.option("--files", "list_files", is_flag=True, help="List the files that are looked for instead.")
@click.pass_context
def graphs(context: click.Context, as_json: bool, list_files: bool) -> None:
    """List the graphs there are, and where their files lie."""
    if context.invoked_subcommand is not None:
        return
    rows = [*_catalogue_rows(), *_generator_rows()]
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
        "\nAlso file:PATH, for .gr, .map, .graphml, .npz, .txt, .csv and .tsv files; --files lists the others' files."
    )


@graphs.command()
@click.argument("name")
@AS_JSON
def show(name: str, as_json: bool) -> None:
    """Load one graph and say what it is."""
    facts = _facts(name)
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    from tabulate import tabulate

    click.echo(
        tabulate([[fact, _cell(value)] for fact, value in facts.items()], tablefmt="plain", disable_numparse=True)
    )


def _print_files(rows: list[dict[str, Any]]) -> None:
    from tabulate import tabulate

    table = [[row["name"], file["file"], file["where"]] for row in rows for file in row["files"]]
    click.echo(tabulate(table, headers=("name", "file", "where"), disable_numparse=True))
    click.echo("\nFiles are looked for below $AACBENCH_DATA and in the cache, with and without .gz.")


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


def _generator_rows() -> list[dict[str, Any]]:
    from importlib import import_module

    return [
        {
            "name": name,
            "vertices": None,
            "arcs": None,
            "licence": None,
            "where": "generated",
            "summary": summary,
            "files": [],
        }
        for name, summary in import_module("aacbench.graphs.generators").describe()
    ]


def _where(files: list["DataFile"]) -> str:
    from aacbench.graphs import fetch

    if all(fetch.in_data_folder(file) for file in files):
        return "in $AACBENCH_DATA"
    missing = [file for file in files if not (fetch.in_data_folder(file) or fetch.in_cache(file))]
    if not missing:
        return "cached"
    return "to download" if all(file.address for file in missing) else "to be got by hand"


def _facts(name: str) -> dict[str, Any]:
    import numpy as np

    from aacbench.graphs import components
    from aacbench.graphs.load import load

    graph = load(name)
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
        "strong components": len(strong),
        "largest strong component": int(strong.max()),
        "weak components": len(weak),
        "largest weak component": int(weak.max()),
        "digest": graph.digest,
    }


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
