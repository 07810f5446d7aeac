"""`aacbench protocols`: which experiments there are, and one of them with everything spelt out."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aacbench.cli.options import PLUGIN_FILES
from aacbench.cli.plugins import warn
from aacbench.errors import UsageError

if TYPE_CHECKING:
    from aacbench.plugins.manager import PluginManager
    from aacbench.run.records import Study

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
COLUMNS = ("name", "summary", "graphs", "methods", "budgets")
WIDTHS = (None, 40, 24, 30, None)


def of_plugins(manager: "PluginManager") -> dict[str, Path]:
    """The files of the protocols that plugins bring; one with a shipped protocol's name is left out, and that told."""
    from aacbench.protocols import known_protocols

    found = {name: record.path for name, record in manager.protocols().items()}
    for name in set(found) & set(known_protocols()):
        click.echo(f"aacbench: {found.pop(name)}: a protocol named {name!r} comes with aacbench; rename it.", err=True)
    return found


@click.group(invoke_without_command=True)
@PLUGIN_FILES
@AS_JSON
@click.pass_context
def protocols(context: click.Context, plugin_files: tuple[Path, ...], as_json: bool) -> None:
    """List the protocols there are, those of plugins included."""
    context.obj = plugin_files
    if context.invoked_subcommand is not None:
        return
    from aacbench.protocols import spell

    studies = _readable(_extra(plugin_files))
    if as_json:
        click.echo(json.dumps({name: study.record() for name, study in studies.items()}, indent=2))
        return
    from tabulate import tabulate

    rows = [
        [
            name,
            study.summary,
            ", ".join(study.graphs),
            ", ".join(spell(choice) for choice in study.methods),
            ", ".join(f"{budget:g}" for budget in study.budgets),
        ]
        for name, study in studies.items()
    ]
    click.echo(tabulate(rows, headers=COLUMNS, maxcolwidths=list(WIDTHS), disable_numparse=True))
    click.echo("\nBudgets are bytes per vertex. A protocol of your own is given by the path of its file.")


@protocols.command()
@click.argument("protocol", metavar="NAME|PATH")
@PLUGIN_FILES
@AS_JSON
@click.pass_obj
def show(before: tuple[Path, ...], /, protocol: str, plugin_files: tuple[Path, ...], as_json: bool) -> None:
    """Print one protocol with every key spelt out, as TOML to start your own from."""
    from aacbench.protocols import protocol_digest, read_protocol, to_toml

    study = read_protocol(protocol, _extra((*before, *plugin_files)))
    digest = protocol_digest(study)
    if as_json:
        click.echo(json.dumps({"digest": digest} | study.record(), indent=2))
        return
    click.echo(f"# digest {digest}\n{to_toml(study)}", nl=False)


def _extra(plugin_files: tuple[Path, ...]) -> dict[str, Path]:
    from aacbench.plugins.manager import load_plugins

    manager = load_plugins(plugin_files)
    warn(manager)
    return of_plugins(manager)


def _readable(extra: Mapping[str, Path]) -> dict[str, "Study"]:
    """Every protocol by name; one of a plugin that cannot be read is told and left out."""
    from aacbench.protocols import known_protocols, read_protocol

    studies = {}
    for name in known_protocols(extra):
        try:
            studies[name] = read_protocol(name, extra)
        except UsageError as error:
            if name not in extra:
                raise
            click.echo(f"aacbench: {error}", err=True)
    return studies
