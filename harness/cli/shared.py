"""What several commands share: options, the folder of a study, damage, and output as JSON."""

import json
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aacbench.errors import UsageError
from aacbench.library.options import LEAST_MEMORY, MANY_WORKERS, MEMORY_GIB, MOST_MEMORY, TIME_SECONDS, default_workers
from aacbench.library.plugins import check_readable
from aacbench.run.layout import STUDIES
from aacbench.util.canonical import finite

if TYPE_CHECKING:
    from aacbench.run.study import StudyContents


def stop_by_signals() -> None:
    """Let a scheduler's signal and a closed terminal stop a run as Ctrl-C does, unless `nohup` ignores them."""
    for way in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(way) != signal.SIG_IGN:
            signal.signal(way, signal.default_int_handler)


def positive(_: click.Context, __: click.Parameter, value: float) -> float:
    if not 0 < value < float("inf"):  # refuses nan too
        raise click.BadParameter(f"{value} is not a positive number.")
    return value


def _readable_files(_: click.Context, __: click.Parameter, files: tuple[Path, ...]) -> tuple[Path, ...]:
    check_readable(files)
    return files


FOLDER = click.Path(path_type=Path)
STUDY = click.argument("study", required=False, type=FOLDER)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
PLUGIN_FILES = click.option(
    "--plugin",
    "plugin_files",
    multiple=True,
    metavar="FILE",
    type=FOLDER,
    callback=_readable_files,
    help="Load a plugin from a Python file; may be given several times.",
)
WORKERS = click.option(
    "--workers",
    default=default_workers,
    show_default="as many as cores, up to 4",
    type=click.IntRange(1, MANY_WORKERS),
    help="Worker processes.",
)
TIME_LIMIT = click.option(
    "--time-limit", default=TIME_SECONDS, show_default=True, callback=positive, help="Seconds a cell may take."
)
MEMORY_LIMIT = click.option(
    "--memory-limit",
    default=MEMORY_GIB,
    show_default=True,
    type=click.FloatRange(LEAST_MEMORY, MOST_MEMORY),
    callback=positive,
    help="GiB a worker may hold.",
)


def study_folder(given: Path | None) -> Path:
    from aacbench.run.layout import PLAN

    if given is not None:
        if not (given / PLAN).is_file():
            raise UsageError(f"{given} is not a study: it has no {PLAN}. Give the folder of a study.")
        return given
    folders = sorted(path.parent for path in STUDIES.glob(f"*/{PLAN}"))
    if len(folders) == 1:
        return folders[0]
    if not folders:
        raise UsageError(f"No study in ./{STUDIES}. Give the folder of one, or start one with `aacbench run`.")
    raise UsageError(f"Several studies in ./{STUDIES}. Choose one: {', '.join(map(str, folders))}.")


def report_damage(contents: "StudyContents") -> None:
    for sentence in contents.damaged.values():
        click.echo(f"aacbench: {sentence}", err=True)


def report_missing(contents: "StudyContents") -> bool:
    """Report how many planned cells are missing, and return whether any is."""
    count = len(contents.summary().missing)
    if count:
        cells = "1 planned cell is" if count == 1 else f"{count} planned cells are"
        click.echo(f"aacbench: {cells} missing; run the study again.", err=True)
    return count > 0


def last_run_text(record: Mapping[str, Any] | None) -> str:
    if record is None:
        return "never run"
    if record["started"] is None:
        return f"the log of the last run, {record['run']}, cannot be read; the cells are not affected"
    unfinished = "running now" if record["working"] else "stopped before its end, or still loading graphs"
    end = f"finished {record['finished']}" if record["finished"] else unfinished
    return f"last run started {record['started']}, {end}"


def echo_json(value: Any) -> None:
    """Print a value as JSON; what is not a number is null."""
    click.echo(json.dumps(finite(value), indent=2, allow_nan=False))


def parse_method(text: str) -> tuple[str, Mapping[str, Any]]:
    """Return the name of one method, and its settings: `alt[K=8]`."""
    from aacbench.protocols.choices import parse_methods

    (choice, *more) = parse_methods(text)
    if more or choice.grid:
        raise UsageError(f"Give one method with one value for each setting, not {text!r}.")
    return choice.name, choice.settings
