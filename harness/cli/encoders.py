"""`aacbench encoders`: list the encoders, or describe one: what it learns from, its parameters, where to read more."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aacbench.cli.methods import origin_text, parameter_lines, parameter_records, plugin_option, with_a_setting
from aacbench.cli.shared import AS_JSON, PLUGIN_FILES, echo_json
from aacbench.library.plugins import warn

if TYPE_CHECKING:
    from aacbench.contract.encoder import Encoder
    from aacbench.plugins.records import LoadedEncoder

ORACLE = "It is an oracle: it sees the true costs of the test maps, so it cannot be deployed."
SEEDS = {
    True: "The seed changes nothing, so it is trained with one seed only.",
    False: "It depends on the seed, so it is trained with every seed of the protocol.",
}


@click.command()
@click.argument("name", required=False)
@PLUGIN_FILES
@AS_JSON
def encoders(name: str | None, plugin_files: tuple[Path, ...], as_json: bool) -> None:
    """List all encoders, which predict the costs of cells from images of maps, or describe the one called NAME.

    \b
    aacbench encoders                          name, summary, what it learns from, and origin of each
    aacbench encoders cnn                      parameters, an example
    aacbench encoders mine --plugin mine.py    an encoder of your own
    """
    from aacbench.plugins.manager import load_plugins

    manager = load_plugins(plugin_files)
    warn(manager)
    if name is not None:
        record = description(manager.encoder(name))
        if as_json:
            echo_json(record)
        else:
            click.echo(_text(record))
        return
    records = [description(found) for found in manager.encoders().values()]
    if as_json:
        echo_json(records)
        return
    from tabulate import tabulate

    rows = [[record["name"], record["summary"], record["learns_from"], record["from"]] for record in records]
    click.echo(tabulate(rows, headers=("encoder", "summary", "learns from", "from"), maxcolwidths=[None, 60, 20, None]))
    click.echo("\n`aacbench encoders NAME` shows parameters and an example; docs/contextual.md has them in a study.")


def description(found: "LoadedEncoder") -> dict[str, Any]:
    """Return everything there is to say about an encoder, as plain values."""
    encoder = found.encoder
    chosen = with_a_setting(encoder.name, encoder.parameters)
    return {
        "name": encoder.name,
        "summary": encoder.summary,
        "learns_from": " or ".join(_labels(encoder)),
        "claims": {"deterministic": encoder.claims.deterministic, "oracle": encoder.claims.oracle},
        "parameters": parameter_records(encoder.parameters),
        "docs": encoder.docs,
        "from": origin_text(found.origin),
        "example": f'aacbench run --protocol context-quick --encoders "{chosen}" --methods hops,cells'
        + plugin_option(found.origin),
    }


def _labels(encoder: "Encoder") -> list[str]:
    """Return what the training maps have with the defaults, or with another choice of one parameter."""
    defaults = {key: parameter.default for key, parameter in encoder.parameters.items()}
    others = [{key: value} for key, parameter in encoder.parameters.items() for value in parameter.choices]
    try:
        return list(dict.fromkeys(encoder.sees({**defaults, **other}) for other in ({}, *others)))
    except (Exception, SystemExit):  # foreign code; `aacbench check` says what is wrong with it
        return ["unknown"]


def _text(record: Mapping[str, Any]) -> str:
    lines = [f"{record['name']}: {record['summary']}", f"From: {record['from']}"]
    lines += ["", f"Learns from: {record['learns_from']}", SEEDS[record["claims"]["deterministic"]]]
    lines += [ORACLE] if record["claims"]["oracle"] else []
    lines += ["", *parameter_lines(record["parameters"]), ""]
    lines += [f"Documented in: {record['docs']}"] if record["docs"] else []
    return "\n".join([*lines, f"Example: {record['example']}"])
