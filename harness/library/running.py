"""A run as it is asked for, from a command line or a notebook: decide everything, run the study, keep its tables."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

import click

from aacbench.errors import DamagedCellError, StoreError, UsageError
from aacbench.library.options import RunOptions
from aacbench.library.plugins import load_files, protocol_files, warn
from aacbench.library.run_output import Progress, plan_text
from aacbench.plugins.in_workers import EncoderOf, GraphOf, MapsOf, MethodOf, sources_of
from aacbench.plugins.manager import PluginManager
from aacbench.plugins.settings import resolve
from aacbench.prereg.binding import Bound, BoundRun, bind
from aacbench.prereg.files import files_of
from aacbench.processes.dask_client import check_installed
from aacbench.protocols.choices import override
from aacbench.protocols.reader import read_protocol
from aacbench.reports import latency, tables
from aacbench.reports.study_text import study_text
from aacbench.run.driver import Before, prepare, run_study
from aacbench.run.exit_codes import exit_code
from aacbench.run.layout import DERIVED, STUDIES
from aacbench.run.records import BASELINE, CONTEXT, Study
from aacbench.run.run_config import DASK, EncoderSource, MethodSource, RunConfig, named
from aacbench.run.store import outcomes, read_cell
from aacbench.run.study import StudyContents, check_folder, protocol_digest, read_plan, read_study
from aacbench.run.timing import check_place, time_study
from aacbench.util import array_store as artifacts
from aacbench.util.atomic_io import make_folder, remove, replace_file, storing
from aacbench.util.cleanup import UNFINISHED, scratch_name
from aacbench.util.compiling import tell_within
from aacbench.util.paths import cache_folder
from aacbench.util.text import describe

Show = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A run with everything decided, of which nothing is on disk yet."""

    study: Study
    config: RunConfig
    plugins: PluginManager
    progress: Progress
    repetitions: int
    bound: Bound | None = None

    def plan_text(self) -> str:
        """What would be run, as a table."""
        with tell_within(self.progress.compiling):
            planned, graphs = prepare(self.study, self.config)
        cells = named(self.study, self.config, graphs, planned.cells)
        found = outcomes(self.config.root, remember=False)
        there = {name for name, outcome in found.items() if not isinstance(outcome, DamagedCellError)}
        infos = {name: graph.info for name, graph in graphs.items()}
        defaults = {name: self.config.defaults(name) for name in self.config.methods}
        return plan_text(self.study, self.config.root, cells, infos, there, defaults)


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """What a run left on disk, and how it went."""

    root: Path
    contents: StudyContents
    exit_code: int


def prepare_run(options: RunOptions, *, to_build: bool = False) -> PreparedRun:
    """Read the protocol and the plugins, and refuse what can be refused before anything is written.

    `to_build` says that this process may itself build with the plugins, as a notebook does.
    """
    if options.executor == DASK:
        check_installed()
    plugins = load_files(options.plugin_files, to_build=to_build)
    changes = options.changes
    bound = _bound(options, plugins) if options.prereg else None
    study = (
        bound.study
        if bound
        else override(read_protocol(options.protocol or "quick", protocol_files(plugins)), **changes)
    )
    if options.scheduler and study.kind == CONTEXT:
        raise UsageError("Studies on maps run on this machine only; leave out --scheduler.")
    for kept in ("graphs", "networks"):
        artifacts.remove_abandoned(cache_folder() / kept)
    progress = Progress()
    config = config_of(
        options.out or (bound.files.study if bound else default_folder(study, changed=bool(changes))),
        plugins,
        workers=options.workers,
        executor=options.executor,
        scheduler=options.scheduler or "",
        existing=options.existing,
        rebuild=options.rebuild,
        limits=options.limits,
        notify=progress.notify,
        lock=bound.lock.digest if bound else None,
    )
    for choice in study.methods:
        plugins.method(choice.name)  # an unknown one is named here, before anything is written
    for choice in study.encoders:
        plugins.encoder(choice.name)
    check_folder(config.root, study)
    repetitions = options.repetitions if options.time or "time" in study.measure else 0
    return PreparedRun(study, config, plugins, progress, repetitions, bound)


def carry_out(run: PreparedRun, show: Show = lambda _: None) -> FinishedRun:
    """Run what is missing, and keep the tables beside the cells; `show` gets them as text."""
    if run.bound is None:
        return _run(run, run.config, show)
    return run_bound(run.bound, run.config, lambda config: _run(run, config, show))


def run_bound(bound: Bound, config: RunConfig, run: Callable[[RunConfig], FinishedRun]) -> FinishedRun:
    """Run under a lock: a line in the ledger before the first query, before each cell is stored, and at the end."""
    click.echo("This run is bound to its registration: landmark pools and references are computed anew.", err=True)
    binding, own = BoundRun(bound, config.root), config.root / scratch_name(UNFINISHED)
    try:
        finished = run(replace(config, binding=binding, artifacts=own))
    except BaseException as error:
        with suppress(StoreError):  # the disk may be full; without this line, the run is one that did not end
            told = "stopped by a signal" if isinstance(error, KeyboardInterrupt) else describe(error)
            binding.abort(told.partition(";")[0])  # what to do about it is for now, not for the ledger
        raise
    finally:
        remove(own)
    binding.end()
    return finished


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
        foreign_graphs={name: found.origin.digest for name, found in plugins.graphs().items()}
        | {name: found.origin.digest for name, found in plugins.map_sets().items()},
        encoders={
            name: EncoderSource(
                found.encoder, found.origin.digest, files.get(found.origin.where), found.origin.kind == "built-in"
            )
            for name, found in plugins.encoders().items()
        },
        encoder_of=EncoderOf(sources),
        maps_of=MapsOf(sources),
        **options,
    )


def _bound(options: RunOptions, plugins: PluginManager) -> Bound:
    assert options.prereg is not None
    given = [f"--{name}" for name in (*(["protocol"] if options.protocol else []), *options.changes)]
    if given:
        raise UsageError(f"Option {given[0]} cannot be used with --prereg: a bound run is what was locked.")
    if options.existing == "replace":
        raise UsageError("Option --existing replace cannot be used with --prereg: a bound run keeps its results.")
    return bind(files_of(options.prereg), options.public, plugins.foreign_digests())


def default_folder(study: Study, changed: bool) -> Path:
    """Where a study goes unless told: a protocol's own folder, or one named by digest where options changed it."""
    name = f"{study.protocol}-{protocol_digest(study)[:8]}" if changed else study.protocol
    return STUDIES / name


def _run(run: PreparedRun, config: RunConfig, show: Show) -> FinishedRun:
    plugins, progress = run.plugins, run.progress
    known = len(plugins.problems())
    observed = replace(config, notify=observing(config.root, plugins, progress.notify))
    timing = run.repetitions and config.existing != "verify"
    before = Before()
    with progress:
        if timing:
            check_place(observed)
        elif config.existing != "replace" and config.root.is_dir():  # else writing says what is there instead
            before.contents = _read(config)
        cells = [name for _, name in run_study(run.study, observed, before)]
        if timing:
            time_study(config, cells, repetitions=run.repetitions, again=config.existing == "replace")
    contents = replace(before.contents, plan=read_plan(config.root)) if before.contents else _read(config)
    rows = tables.rows_of(contents.planned_cells())
    _finish(config, contents, rows, show)
    code = _exit_code(contents, rows)
    counts = Counter(row.outcome for row in rows)
    plugins.run_finished({"study": str(config.root), "cells": cells, "outcomes": dict(counts), "exit_code": code})
    warn(plugins, known)
    return FinishedRun(config.root, contents, code)


def _read(config: RunConfig) -> StudyContents:
    return read_study(config.root, remember=config.existing != "verify")


def _finish(config: RunConfig, contents: StudyContents, rows: list[tables.Row], show: Show) -> None:
    """Show the tables of a study and keep them beside its cells; `verify` writes nothing."""
    times = latency.latencies(contents.own_cells())
    show(study_text(contents, rows, times, plain_reasons=True))
    if config.existing == "verify":
        return
    derived = config.root / DERIVED
    with storing(config.root):
        make_folder(derived)
        replace_file(derived / "results.md", (study_text(contents, rows, times) + "\n").encode())
        replace_file(derived / "results.csv", tables.csv_text(rows).encode())
    show(f"\nAlso in {derived / 'results.md'} and results.csv.")
    if any(row.outcome == "ok" for row in _asked_for(rows)):
        show("\n".join(["Next:", *(f"  {command}" for command in _next_commands(config.root, rows))]))


def _next_commands(root: Path, rows: list[tables.Row]) -> Iterator[str]:
    """Yield what a user may do with a study, ready to be pasted into a shell."""
    study = quote(str(root))
    yield f"aacbench report {study} --open  # the page {quote(str(root / DERIVED / 'report.html'))}, with figures"
    yield f"aacbench status {study} --cells"
    places: dict[tuple[str, float], list[str]] = {}
    for row in rows:
        if row.outcome == "ok" and row.method != BASELINE and not row.variant:
            places.setdefault((row.graph, row.budget), []).append(quote(row.method))
    if pair := next((methods[:2] for methods in places.values() if len(methods) > 1), None):
        yield f"aacbench compare {' '.join(pair)} --study {study}"


def _exit_code(contents: StudyContents, rows: list[tables.Row]) -> int:
    return exit_code([row.outcome for row in _asked_for(rows)], bool(contents.damaged))


def _asked_for(rows: list[tables.Row]) -> list[tables.Row]:
    """The baseline comes with every study, so it counts only where it failed, or was all that was asked for."""
    return [row for row in rows if row.method != BASELINE or row.outcome != "ok"] or rows


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
