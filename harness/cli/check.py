"""`aacbench check`: put a method to the conformance suite, with a limit of time for each check."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aacbench.cli.plugins import warn
from aacbench.cli.shared import AS_JSON, PLUGIN_FILES, echo_json, positive
from aacbench.errors import UsageError

if TYPE_CHECKING:
    from aacbench.contract.method import Method
    from aacbench.testing.limited import Examiner
    from aacbench.testing.report import Result

SOME_FAILED = 1


@click.command()
@click.argument("name")
@PLUGIN_FILES
@click.option("--budgets", default="8,32", show_default=True, help="Bytes per vertex, separated by commas.")
@click.option("--only", help="Run only these checks, separated by commas.")
@click.option("--expect", multiple=True, metavar="CHECK=REASON", help="A check that is expected to fail; repeatable.")
@click.option("--time-limit", default=120.0, show_default=True, callback=positive, help="Seconds a check may take.")
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
    """Check that a method keeps its claims on a zoo of small graphs; NAME may have settings.

    \b
    aacbench check alt
    aacbench check "hybrid[a=aac,b=alt]" --budgets 16,64
    aacbench check mine --plugin mine.py --only admissible,consistent
    """
    from aacbench.processes.pool import Limits
    from aacbench.testing.limited import check_limited

    method, examiner = _subject(name, plugin_files, _numbers(budgets), dict(map(_expected, expect)))
    report = check_limited(
        method,
        examiner,
        only=[word.strip() for word in only.split(",")] if only else (),
        limits=Limits(time_limit),
        tell=(lambda _: None) if as_json else _tell,
    )
    if as_json:
        echo_json(report.record())
    else:
        click.echo("\n".join(report.closing()))
    context.exit(0 if report.ok else SOME_FAILED)


def _subject(
    text: str, files: tuple[Path, ...], budgets: tuple[float, ...], expected: Mapping[str, str]
) -> "tuple[Method, Examiner]":
    from aacbench.plugins.in_workers import WholeMethodOf, sources_of
    from aacbench.plugins.manager import load_plugins
    from aacbench.plugins.settings import resolve
    from aacbench.testing.limited import Examiner

    name, given = _chosen(text)
    plugins = load_plugins(files)
    warn(plugins)
    sources = sources_of(plugins)
    settings = resolve(plugins.method(name).method, given)
    locate = WholeMethodOf(sources, name, settings)
    examiner = Examiner(locate, budgets=budgets, settings=settings, expected=expected)
    return locate(), examiner


def _chosen(text: str) -> tuple[str, Mapping[str, Any]]:
    from aacbench.protocols.choices import parse_methods

    (choice, *more) = parse_methods(text)
    if more or choice.grid:
        raise UsageError(f"one method is checked at a time, with one value for each setting, not {text!r}.")
    return choice.name, choice.settings


def _numbers(text: str) -> tuple[float, ...]:
    from aacbench.contract.budget import Budget

    try:
        found = tuple(float(word) for word in text.split(","))
    except ValueError:
        raise UsageError(f"budgets are numbers of bytes per vertex such as 8,32, not {text!r}.") from None
    for budget in found:
        Budget(budget)
    return found


def _expected(text: str) -> tuple[str, str]:
    name, _, reason = text.partition("=")
    return name.strip(), reason.strip()


def _tell(result: "Result") -> None:
    click.echo("\n".join(result.lines()))
