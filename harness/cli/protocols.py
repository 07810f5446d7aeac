"""`aacbench protocols`: list the protocols, and print one with every key."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aacbench.cli.shared import AS_JSON, PLUGIN_FILES, echo_json
from aacbench.errors import UsageError
from aacbench.library.plugins import protocol_files, warn

if TYPE_CHECKING:
    from aacbench.run.records import Study

COLUMNS = ("name", "summary", "graphs", "methods", "budgets")
WIDTHS = (None, 40, 24, 30, None)


@click.group(invoke_without_command=True)
@PLUGIN_FILES
@AS_JSON
@click.pass_context
def protocols(context: click.Context, plugin_files: tuple[Path, ...], as_json: bool) -> None:
    """List all protocols, including those of plugins."""
    context.obj = plugin_files
    if context.invoked_subcommand is not None:
        return
    from aacbench.protocols import spell

    studies = _readable(_extra(plugin_files))
    if as_json:
        echo_json({name: study.record() for name, study in studies.items()})
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
    click.echo("\nBudgets are bytes per vertex. Give a protocol of your own by the path of its file.")


@protocols.command()
@click.argument("protocol", metavar="NAME|PATH")
@PLUGIN_FILES
@AS_JSON
@click.pass_obj
def show(group_files: tuple[Path, ...], /, protocol: str, plugin_files: tuple[Path, ...], as_json: bool) -> None:
    """Print one protocol with every key, as TOML to start your own from."""
    from aacbench.protocols import protocol_digest, read_protocol, to_toml

    study = read_protocol(protocol, _extra((*group_files, *plugin_files)))
    digest = protocol_digest(study)
    if as_json:
        echo_json({"digest": digest} | study.record())
        return
    click.echo(f"# digest {digest}\n{to_toml(study)}", nl=False)


def _extra(plugin_files: tuple[Path, ...]) -> dict[str, Path]:
    from aacbench.plugins.manager import load_plugins

    manager = load_plugins(plugin_files)
    warn(manager)
    return protocol_files(manager)


def _readable(extra: Mapping[str, Path]) -> dict[str, "Study"]:
    """Return every protocol by name; warn of a plugin's protocol that cannot be read, and leave it out."""
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
