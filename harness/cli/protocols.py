"""`aacbench protocols`: which experiments there are, and one of them with everything spelt out."""

import json

import click

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
COLUMNS = ("name", "summary", "graphs", "methods", "budgets")
WIDTHS = (None, 40, 24, 30, None)


@click.group(invoke_without_command=True)
@AS_JSON
@click.pass_context
def protocols(context: click.Context, as_json: bool) -> None:
    """List the protocols there are."""
    if context.invoked_subcommand is not None:
        return
    from aacbench.protocols import known_protocols, read_protocol, spell

    studies = {name: read_protocol(name) for name in known_protocols()}
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
@AS_JSON
def show(protocol: str, as_json: bool) -> None:
    """Print one protocol with every key spelt out, as TOML to start your own from."""
    from aacbench.protocols import protocol_digest, read_protocol, to_toml

    study = read_protocol(protocol)
    digest = protocol_digest(study)
    if as_json:
        click.echo(json.dumps({"digest": digest} | study.record(), indent=2))
        return
    click.echo(f"# digest {digest}\n{to_toml(study)}", nl=False)
