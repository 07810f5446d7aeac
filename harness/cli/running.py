"""What `aacbench run` does: read the protocol, load plugins, run the study, time it, print and write its tables."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from aacbench.cli.methods import GraphOf, method_in_worker, usable
from aacbench.cli.planning import plan_text
from aacbench.cli.plugins import warn
from aacbench.cli.progress import Progress
from aacbench.cli.protocols import of_plugins
from aacbench.cli.studies import ALL_OK, exit_code, report_damage
from aacbench.errors import DamagedCellError, UsageError
from aacbench.plugins.manager import PluginManager, load_plugins
from aacbench.plugins.settings import resolve
from aacbench.prereg.binding import Bound, bind
from aacbench.prereg.files import files_of
from aacbench.prereg.ledger import Entry
from aacbench.processes.pool import GIB, Limits
from aacbench.protocols.choices import override
from aacbench.protocols.reader import read_protocol
from aacbench.reports import latency, tables
from aacbench.reports.formatting import study_notes
from aacbench.run.driver import prepare, run_study
from aacbench.run.keys import named
from aacbench.run.layout import DERIVED
from aacbench.run.records import BASELINE, Study
from aacbench.run.run_config import Setup, Source
from aacbench.run.store import read_cell, scan
from aacbench.run.study import StudyContents, check_folder, protocol_digest, read_study
from aacbench.run.timing import time_study
from aacbench.util import array_store as artifacts
from aacbench.util.atomic_io import make_folder, replace_file, storing
from aacbench.util.paths import cache_folder

OVERRIDES = ("methods", "graphs", "budgets", "seeds", "queries", "search", "convention")


def carry_out(protocol: str | None, options: Mapping[str, Any]) -> int:
    """Run, or with --dry-run only plan, and return the exit code."""
    files = tuple(Path(path).resolve() for path in options["plugin_files"])
    plugins = load_plugins(files)
    warn(plugins)
    changes = {name: options[name] for name in OVERRIDES if options[name] is not None}
    bound = _bound(protocol, changes, options) if options["prereg"] else None
    study = bound.study if bound else override(read_protocol(protocol or "quick", of_plugins(plugins)), **changes)
    for kept in ("graphs", "networks"):
        artifacts.remove_abandoned(cache_folder() / kept)
    progress = Progress()
    setup = setup_of(
        options["out"] or (bound.files.study if bound else default_folder(study, changed=bool(changes))),
        study,
        plugins,
        files,
        workers=options["workers"],
        existing=options["existing"],
        rebuild=options["rebuild"],
        limits=Limits(options["time_limit"], int(options["memory_limit"] * GIB)),
        notify=progress.notify,
        lock=bound.lock.digest if bound else None,
    )
    check_folder(setup.root)
    if options["dry_run"]:
        click.echo(_dry_run(study, setup))
        return ALL_OK
    repetitions = options["repetitions"] if options["time"] or "time" in study.measure else 0

    def run(setup: Setup) -> int:
        return _run(study, setup, plugins, progress, repetitions)

    return run_bound(bound, setup, run) if bound else run(setup)


def run_bound(bound: Bound, setup: Setup, run: Callable[[Setup], int]) -> int:
    """Run under a lock: a line in the ledger before the first query, and one after the last."""
    begun: list[Entry] = []
    try:
        code = run(replace(setup, before=lambda keys: begun.append(bound.begin(setup.root, keys))))
    except BaseException as error:
        if begun:
            bound.abort(setup.root, begun[0], type(error).__name__)
        raise
    bound.end(setup.root, begun[0])
    return code


def setup_of(root: Path, study: Study, plugins: PluginManager, files: tuple[Path, ...], **options: Any) -> Setup:
    """What a run of these plugins needs to know; each plugin file is found again by the workers."""
    sound, others = usable(plugins, files)
    return Setup(
        root=root,
        sources=_sources(plugins, study),
        resolve=resolve,
        method_of=partial(method_in_worker, sound, others=others),
        graph_of=GraphOf(sound, others),
        foreign_graphs={name: found.origin.digest for name, found in plugins.graphs().items()},
        **options,
    )


def _bound(protocol: str | None, changes: Mapping[str, Any], options: Mapping[str, Any]) -> Bound:
    given = [f"--{name}" for name in (*(["protocol"] if protocol else []), *changes)]
    if given:
        raise UsageError(f"{given[0]} has no place beside --prereg: what is run is what was locked.")
    if options["existing"] == "replace":
        raise UsageError("a bound run keeps its results: --existing replace has no place beside --prereg.")
    return bind(files_of(options["prereg"]), options["public"])


def default_folder(study: Study, changed: bool) -> Path:
    """Where a study goes unless told: a protocol's own folder, or one named by digest where options changed it."""
    name = f"{study.protocol}-{protocol_digest(study)[:8]}" if changed else study.protocol
    return Path("studies") / name


def _run(study: Study, setup: Setup, plugins: PluginManager, progress: Progress, repetitions: int) -> int:
    known = len(plugins.problems())
    observed = replace(setup, notify=observing(setup.root, plugins, progress.notify))
    with progress:
        cells = [name for _, name in run_study(study, observed)]
        if repetitions:
            again = setup.existing == "replace"
            time_study(
                setup.root,
                cells,
                setup.method_of,
                graph_of=setup.graph_of,
                limits=setup.limits,
                repetitions=repetitions,
                again=again,
                notify=progress.notify,
            )
    contents = read_study(setup.root)
    rows = tables.rows_of(contents.planned_cells())
    code = finish(setup.root, contents, rows, keep=setup.existing != "verify")
    outcomes = Counter(row.outcome for row in rows)
    plugins.run_finished({"study": str(setup.root), "cells": cells, "outcomes": dict(outcomes), "exit_code": code})
    warn(plugins, known)
    return code


def finish(root: Path, contents: StudyContents, rows: list[tables.Row], keep: bool = True) -> int:
    """Print the tables of a study, `keep` them beside the cells, and say by the exit code how it went."""
    times = latency.latencies(contents.planned_cells())
    text = tables.markdown(rows, study_notes(contents.plan))
    if times:
        text += "\n\n" + latency.markdown(times)
    click.echo(text)
    if keep:
        _keep(root, text, rows)
    report_damage(contents)
    asked = [row.outcome for row in rows if row.method != BASELINE]  # the baseline comes with every study
    return exit_code(asked or [row.outcome for row in rows], bool(contents.damaged))


def _keep(root: Path, text: str, rows: list[tables.Row]) -> None:
    derived = root / DERIVED
    with storing(root):
        make_folder(derived)
        replace_file(derived / "results.md", (text + "\n").encode())
        replace_file(derived / "results.csv", tables.csv_text(rows).encode())
    click.echo(f"\nAlso in {derived / 'results.md'} and results.csv.")


def observing(
    root: Path, plugins: PluginManager, notify: Callable[[str, Mapping[str, Any]], None]
) -> Callable[[str, Mapping[str, Any]], None]:
    """A listener that also tells the plugins of each cell that is on disk."""

    def tell(event: str, facts: Mapping[str, Any]) -> None:
        notify(event, facts)
        if event != "cell":
            return
        try:
            cell = read_cell(root, facts["cell"])
        except DamagedCellError:
            return
        if cell is not None:
            plugins.cell_finished(cell.record)

    return tell


def _dry_run(study: Study, setup: Setup) -> str:
    planned, facts = prepare(study, setup)
    cells = named(study, setup, facts, planned.cells)
    there = {name for name, found in scan(setup.root) if not isinstance(found, DamagedCellError)}
    infos = {name: fact.info for name, fact in facts.items()}
    return plan_text(study, setup.root, cells, infos, there, {name: setup.defaults(name) for name in setup.sources})


def _sources(plugins: PluginManager, study: Study) -> dict[str, Source]:
    """Every method there is, since one may be made of others; those that the study names must be among them."""
    for choice in study.methods:
        plugins.method(choice.name)
    found = {}
    for name, loaded in plugins.methods().items():
        file = Path(loaded.origin.where) if loaded.origin.kind == "file" else None
        found[name] = Source(loaded.method, loaded.origin.digest, file, built_in=loaded.origin.kind == "built-in")
    return found
