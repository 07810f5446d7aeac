"""What `aacbench run` does: read the protocol, load plugins, run the study, time it, print and write its tables."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from aacbench.cli.plugins import warn
from aacbench.cli.protocols import of_plugins
from aacbench.cli.run_output import Progress, plan_text
from aacbench.cli.shared import ALL_OK, exit_code, limits_of, report_damage
from aacbench.errors import DamagedCellError, StoreError, UsageError
from aacbench.plugins.in_workers import GraphOf, MethodOf, sources_of
from aacbench.plugins.manager import PluginManager, load_plugins
from aacbench.plugins.settings import resolve
from aacbench.prereg.binding import Bound, BoundRun, bind
from aacbench.prereg.files import files_of
from aacbench.protocols.choices import override
from aacbench.protocols.reader import read_protocol
from aacbench.reports import latency, tables
from aacbench.reports.formatting import study_notes
from aacbench.run.driver import prepare, run_study
from aacbench.run.layout import DERIVED
from aacbench.run.records import BASELINE, Study
from aacbench.run.run_config import MethodSource, RunConfig, named
from aacbench.run.store import read_cell, scan
from aacbench.run.study import StudyContents, check_folder, protocol_digest, read_study
from aacbench.run.timing import time_study
from aacbench.util import array_store as artifacts
from aacbench.util.atomic_io import make_folder, remove, replace_file, storing
from aacbench.util.cleanup import UNFINISHED, scratch_name
from aacbench.util.paths import cache_folder
from aacbench.util.text import describe

OVERRIDES = ("methods", "graphs", "budgets", "seeds", "queries", "search", "convention")


def carry_out(protocol: str | None, options: Mapping[str, Any]) -> int:
    """Run, or with --dry-run only plan, and return the exit code."""
    plugins = load_plugins(options["plugin_files"])
    warn(plugins)
    changes = {name: options[name] for name in OVERRIDES if options[name] is not None}
    bound = _bound(protocol, changes, options, plugins) if options["prereg"] else None
    study = bound.study if bound else override(read_protocol(protocol or "quick", of_plugins(plugins)), **changes)
    for kept in ("graphs", "networks"):
        artifacts.remove_abandoned(cache_folder() / kept)
    progress = Progress()
    config = config_of(
        options["out"] or (bound.files.study if bound else default_folder(study, changed=bool(changes))),
        plugins,
        workers=options["workers"],
        existing=options["existing"],
        rebuild=options["rebuild"],
        limits=limits_of(options["time_limit"], options["memory_limit"]),
        notify=progress.notify,
        lock=bound.lock.digest if bound else None,
    )
    for choice in study.methods:
        plugins.method(choice.name)  # an unknown one is named here, before anything is written
    check_folder(config.root, study)
    if options["dry_run"]:
        click.echo(_dry_run(study, config))
        return ALL_OK
    repetitions = options["repetitions"] if options["time"] or "time" in study.measure else 0

    def run(config: RunConfig) -> int:
        return _run(study, config, plugins, progress, repetitions)

    return run_bound(bound, config, run) if bound else run(config)


def run_bound(bound: Bound, config: RunConfig, run: Callable[[RunConfig], int]) -> int:
    """Run under a lock: a line in the ledger before the first query, before each cell is stored, and at the end."""
    click.echo("This run is bound to its registration: landmark pools and references are computed anew.", err=True)
    binding, own = BoundRun(bound, config.root), config.root / scratch_name(UNFINISHED)
    try:
        code = run(replace(config, binding=binding, artifacts=own))
    except BaseException as error:
        with suppress(StoreError):  # the disk may be full; without this line, the run is one that did not end
            told = "stopped by a signal" if isinstance(error, KeyboardInterrupt) else describe(error)
            binding.abort(told.partition(";")[0])  # what to do about it is for now, not for the ledger
        raise
    finally:
        remove(own)
    binding.end()
    return code


def config_of(root: Path, plugins: PluginManager, **options: Any) -> RunConfig:
    """What a run with these plugins needs; workers run the plugin sources that were read here."""
    sources = sources_of(plugins)
    files = {str(source.path): source for source in sources.files}
    methods = {
        name: MethodSource(
            found.method, found.origin.digest, files.get(found.origin.where), found.origin.kind == "built-in"
        )
        for name, found in plugins.methods().items()
    }
    return RunConfig(
        root=root,
        methods=methods,
        resolve=resolve,
        method_of=MethodOf(sources),
        graph_of=GraphOf(sources),
        foreign_graphs={name: found.origin.digest for name, found in plugins.graphs().items()},
        **options,
    )


def _bound(
    protocol: str | None, changes: Mapping[str, Any], options: Mapping[str, Any], plugins: PluginManager
) -> Bound:
    given = [f"--{name}" for name in (*(["protocol"] if protocol else []), *changes)]
    if given:
        raise UsageError(f"Option {given[0]} cannot be used with --prereg: a bound run is what was locked.")
    if options["existing"] == "replace":
        raise UsageError("Option --existing replace cannot be used with --prereg: a bound run keeps its results.")
    return bind(files_of(options["prereg"]), options["public"], plugins.foreign_digests())


def default_folder(study: Study, changed: bool) -> Path:
    """Where a study goes unless told: a protocol's own folder, or one named by digest where options changed it."""
    name = f"{study.protocol}-{protocol_digest(study)[:8]}" if changed else study.protocol
    return Path("studies") / name


def _run(study: Study, config: RunConfig, plugins: PluginManager, progress: Progress, repetitions: int) -> int:
    known = len(plugins.problems())
    observed = replace(config, notify=observing(config.root, plugins, progress.notify))
    with progress:
        cells = [name for _, name in run_study(study, observed)]
        if repetitions and config.existing != "verify":
            time_study(config, cells, repetitions=repetitions, again=config.existing == "replace")
    contents = read_study(config.root)
    rows = tables.rows_of(contents.planned_cells())
    code = finish(config.root, contents, rows, keep=config.existing != "verify")
    outcomes = Counter(row.outcome for row in rows)
    plugins.run_finished({"study": str(config.root), "cells": cells, "outcomes": dict(outcomes), "exit_code": code})
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
    # The baseline comes with every study, so it counts only where it failed, or was all that was asked for.
    asked = [row.outcome for row in rows if row.method != BASELINE or row.outcome != "ok"]
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


def _dry_run(study: Study, config: RunConfig) -> str:
    planned, graphs = prepare(study, config)
    cells = named(study, config, graphs, planned.cells)
    there = {name for name, found in scan(config.root) if not isinstance(found, DamagedCellError)}
    infos = {name: graph.info for name, graph in graphs.items()}
    return plan_text(study, config.root, cells, infos, there, {name: config.defaults(name) for name in config.methods})
