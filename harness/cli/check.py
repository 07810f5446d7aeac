"""`aacbench check`: run the conformance suite on a method, with a time limit for each check."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aacbench.cli.shared import AS_JSON, PLUGIN_FILES, echo_json, parse_method, positive
from aacbench.errors import UsageError
from aacbench.library.plugins import warn

if TYPE_CHECKING:
    from aacbench.contract.method import Method
    from aacbench.run.store import Cell
    from aacbench.testing.report import Result
    from aacbench.testing.runners import CheckJob

SOME_FAILED = 1


@click.command()
@click.argument("name")
@PLUGIN_FILES
@click.option("--budgets", default="8,32", show_default=True, help="Bytes per vertex, separated by commas.")
@click.option("--only", help="Run only these checks, separated by commas.")
@click.option("--expect", multiple=True, metavar="CHECK=REASON", help="Expect this check to fail; repeatable.")
@click.option(
    "--time-limit", default=120.0, show_default=True, callback=positive, help="Time limit per check in seconds."
)
@AS_JSON
@click.pass_context
def check(
    context: click.Context,
    name: str,
    plugin_files: tuple[Path, ...],
    budgets: str,
    only: str | None,
    expect: tuple[str, ...],
    time_limit: float,
    as_json: bool,
) -> None:
    """Check a method's claims on a zoo of small graphs, or an encoder on small maps. NAME may have settings.

    \b
    aacbench check alt
    aacbench check "hybrid[a=aac,b=alt]" --budgets 16,64
    aacbench check mine --plugin mine.py --only admissible,consistent
    """
    from aacbench.processes.pool import Limits
    from aacbench.testing.runners import check_in_worker

    on_maps = _checked_on_maps(name, plugin_files, time_limit)
    if on_maps is not None:
        context.exit(_print_cells(on_maps, as_json))
    method, job = _prepare(name, plugin_files, _parse_budgets(budgets), dict(map(_parse_expected, expect)))
    report = check_in_worker(
        method,
        job,
        only=[word.strip() for word in only.split(",")] if only else (),
        limits=Limits(time_limit),
        on_result=(lambda _: None) if as_json else _print,
        on_progress=lambda text: click.echo(text, err=True),
    )
    if as_json:
        echo_json(report.record())
    else:
        click.echo("\n".join(report.closing()))
    context.exit(0 if report.ok else SOME_FAILED)


def _checked_on_maps(text: str, files: tuple[Path, ...], time_limit: float) -> "list[Cell] | None":
    """Return the cells of a small study on maps, for an encoder or a method that takes only maps; else None."""
    from aacbench.library.map_check import check_encoder, check_on_maps, only_on_maps
    from aacbench.plugins.manager import load_plugins
    from aacbench.plugins.settings import resolve

    (name, settings), plugins = parse_method(text), load_plugins(files)
    if name in plugins.encoders() and name not in plugins.methods():
        return check_encoder(text, files, time_limit)
    method = plugins.method(name).method
    if method.made_of is None and only_on_maps(method, resolve(method, settings)):
        return check_on_maps(text, files, time_limit)
    return None


def _print_cells(cells: "list[Cell]", as_json: bool) -> int:
    if as_json:
        records = [(cell.key["graph"], cell.outcome, cell.record["reason"]) for cell in cells]
        echo_json([dict(zip(("maps", "outcome", "reason"), record, strict=True)) for record in records])
    for cell in cells if not as_json else ():
        reason = cell.record["reason"] or "no fault found"
        click.echo(f"{cell.outcome:<12} {cell.key['label']} on {cell.key['graph']}: {reason}")
    return 0 if all(cell.outcome == "ok" for cell in cells) else SOME_FAILED


def _prepare(
    text: str, files: tuple[Path, ...], budgets: tuple[float, ...], expected: Mapping[str, str]
) -> "tuple[Method, CheckJob]":
    from aacbench.plugins.in_workers import WholeMethodOf, sources_of
    from aacbench.plugins.manager import load_plugins
    from aacbench.plugins.settings import resolve
    from aacbench.testing.runners import CheckJob

    name, given = parse_method(text)
    plugins = load_plugins(files)
    warn(plugins)
    sources = sources_of(plugins)
    settings = resolve(plugins.method(name).method, given)
    locate = WholeMethodOf(sources, name, settings)
    return locate(), CheckJob(locate, budgets=budgets, settings=settings, expected=expected)


def _parse_budgets(text: str) -> tuple[float, ...]:
    from aacbench.contract.budget import Budget

    try:
        budgets = tuple(float(word) for word in text.split(","))
    except ValueError:
        raise UsageError(f"Budgets must be numbers of bytes per vertex such as 8,32, not {text!r}.") from None
    for budget in budgets:
        Budget(budget)
    return budgets


def _parse_expected(text: str) -> tuple[str, str]:
    name, _, reason = text.partition("=")
    return name.strip(), reason.strip()


def _print(result: "Result") -> None:
    if not result.ran_nowhere:  # the closing lines have these together
        click.echo("\n".join(result.lines()))
