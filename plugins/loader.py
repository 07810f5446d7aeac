"""Find plugins (built-ins, entry points, files), import them, and collect and check their records."""

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import pluggy

from aacbench.contract.encoder import Encoder, MapSource
from aacbench.contract.method import Method
from aacbench.plugins import checks, hookspecs
from aacbench.plugins.encoders import BUILT_IN as ENCODERS
from aacbench.plugins.hookspecs import HOOKS, PREFIX, PROJECT
from aacbench.plugins.methods import BUILT_IN
from aacbench.plugins.records import GraphSource, Origin, Plugin, PluginError, Problem, ProtocolFile, Report
from aacbench.util.paths import expanded
from aacbench.util.source_file import SourceFile, package_digest, read_source
from aacbench.util.text import describe, suggestion
from aacbench.version import VERSION

VARIABLE = "AACBENCH_PLUGINS"
MOST_RECORDS = 10_000  # a hook that yields without end must not hang the tool

Record = TypeVar("Record", Method, GraphSource, ProtocolFile, Encoder, MapSource, Report)


@contextmanager
def boundary(failed: str) -> Iterator[None]:
    """Turn whatever a plugin raises into `PluginError`, except the user's own Ctrl-C.

    What the plugin prints goes to the error stream, so that `--json` output stays JSON. The working directory is
    restored, because the user's paths may be relative to it.
    """
    here = Path.cwd()
    try:
        with redirect_stdout(sys.stderr):
            try:
                yield
            finally:
                os.chdir(here)
    except (KeyboardInterrupt, PluginError):
        raise
    except BaseException as error:
        raise PluginError(f"{failed}: {describe(error)}.") from error


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plugin that is not imported yet. `load` imports it; after that, `digest` returns the digest of its source."""

    origin: Origin
    load: Callable[[], object]
    digest: Callable[[], str]
    source: SourceFile | None = None


def candidates(
    files: Iterable[str | Path | SourceFile], environment: Mapping[str, str]
) -> tuple[list[Candidate], list[Problem]]:
    """Return the plugins to load, built-ins first, and the problems with those that cannot be read.

    Each plugin file is read here, once, unless it is given as a `SourceFile`.
    """
    problems: list[Problem] = []
    try:
        with boundary("Installed plugins cannot be listed"):
            entries = [_entry(entry) for entry in entry_points(group=PROJECT)]
            installed = sorted(entries, key=lambda entry: (entry.origin.where, entry.origin.plugin))
    except PluginError as error:
        installed = []
        problems.append(Problem(Origin("entry points", "distribution", "installed packages"), str(error)))
    names, paths = _selected(environment)
    if names is not None:
        problems += _missing(names, installed)
        installed = [entry for entry in installed if names & {entry.origin.plugin, entry.origin.where}]
    sources: dict[Path, SourceFile] = {}
    for file in (*paths, *files):
        try:
            with boundary("It cannot be imported"):
                source = file if isinstance(file, SourceFile) else read_source(file)
                sources.setdefault(source.path, source)
        except PluginError as error:
            path = expanded(str(file)).absolute()
            problems.append(Problem(Origin(path.stem, "file", str(path)), str(error)))
    built_in = [*(_built_in("methods", name) for name in BUILT_IN), *(_built_in("encoders", name) for name in ENCODERS)]
    return [*built_in, *installed, *map(_file, sources.values())], problems


def any_foreign(environment: Mapping[str, str]) -> bool:
    """Return whether there may be plugins besides the built-in ones and those given by file; runs none of them."""
    if VARIABLE in environment:
        return bool(environment[VARIABLE].strip())
    with suppress(Exception):  # a broken installation is told by who loads the plugins
        return bool(entry_points(group=PROJECT))
    return True


def _selected(environment: Mapping[str, str]) -> tuple[set[str] | None, list[str]]:
    """Names and paths in $AACBENCH_PLUGINS; the names are None, which means all, if it is not set."""
    if VARIABLE not in environment:
        return None, []
    words = [word.strip() for word in environment[VARIABLE].split(",") if word.strip()]
    paths = [word for word in words if word.endswith(".py") or "/" in word or "\\" in word]
    return set(words) - set(paths), paths


def _missing(names: set[str], installed: list[Candidate]) -> Iterator[Problem]:
    known = {name: None for entry in installed for name in (entry.origin.plugin, entry.origin.where)}
    for name in sorted(names - set(known) - set(BUILT_IN) - set(ENCODERS)):
        reason = f"No installed plugin has this name{suggestion(name, known)} Unset {VARIABLE} to see all."
        yield Problem(Origin(name, "distribution", f"${VARIABLE}"), reason)


def _built_in(folder: str, name: str) -> Candidate:
    module = f"{__package__}.{folder}.{name}"
    origin = Origin(name, "built-in", PROJECT, VERSION)
    return Candidate(origin, lambda: import_module(module), lambda: package_digest(module, outermost=False))


def _entry(entry: EntryPoint) -> Candidate:
    where, version = (entry.dist.name, entry.dist.version) if entry.dist else ("unknown distribution", "")
    return Candidate(
        Origin(entry.name, "distribution", where, version), entry.load, lambda: package_digest(entry.module)
    )


def _file(source: SourceFile) -> Candidate:
    origin = Origin(source.path.stem, "file", str(source.path))
    return Candidate(origin, source.load, lambda: source.digest, source)


def load(candidate: Candidate) -> Plugin:
    """Import a plugin and return it with all its records; one invalid record refuses the whole plugin."""
    with boundary("It cannot be imported"):
        module = candidate.load()
    with boundary("Its source cannot be read"):
        digest = candidate.digest()
    with boundary("Its hooks cannot be read"):
        hooks = _hooks(module, candidate.origin.plugin)
    return Plugin(
        origin=replace(candidate.origin, version=_version(candidate.origin, module), digest=digest),
        methods=_collect(hooks.aacbench_methods, Method, checks.check_method),
        graphs=_collect(hooks.aacbench_graphs, GraphSource, checks.check_graph),
        protocols=_collect(hooks.aacbench_protocols, ProtocolFile, checks.check_protocol),
        encoders=_collect(hooks.aacbench_encoders, Encoder, checks.check_encoder),
        maps=_collect(hooks.aacbench_maps, MapSource, checks.check_maps),
        reports=_collect(hooks.aacbench_reports, Report, checks.check_report),
        hooks=hooks,
        source=candidate.source,
    )


def _version(origin: Origin, module: object) -> str:
    declared = getattr(module, "__version__", "")
    return origin.version or (declared if isinstance(declared, str) else "")


def _hooks(module: object, name: str) -> Any:
    """Return pluggy's relay to this plugin; a manager per plugin, so that none can wrap or stop another's hooks."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    for attribute in dir(module):
        _check_function(manager, module, attribute)
    manager.register(module, name)
    return manager.hook


def _check_function(manager: pluggy.PluginManager, module: object, name: str) -> None:
    """Refuse what pluggy would ignore silently: misspelt hooks and hooks without their marker."""
    options = manager.parse_hookimpl_opts(module, name)
    function = inspect.getattr_static(module, name)
    if options is None and not (name.startswith(PREFIX) and callable(function)):
        return
    hook = (options.get("specname") if options else None) or name
    if hook not in HOOKS:
        known = ", ".join(HOOKS)
        raise PluginError(f"The function {name} is no known hook{suggestion(hook, HOOKS)} Known hooks: {known}.")
    if options is None:
        raise PluginError(f"The function {name} is not marked as a hook; write @hookimpl above it.")
    signature = inspect.signature(getattr(module, name))
    if not _required(signature) <= set(HOOKS[hook]):
        raise PluginError(f"{name} must take ({', '.join(HOOKS[hook])}), but takes {signature}.")


def _required(signature: inspect.Signature) -> set[str]:
    collecting = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {
        name
        for name, argument in signature.parameters.items()
        if argument.default is argument.empty and argument.kind not in collecting
    }


def _collect(hook: pluggy.HookCaller, kind: type[Record], check: Callable[[Record], None]) -> tuple[Record, ...]:
    if not hook.get_hookimpls():
        return ()
    with boundary(f"{hook.name} failed"):
        results = hook()
        records = _records(hook.name, kind, results[0] if results else None)  # pluggy leaves None out
        for record in records:
            check(record)
    return records


def _records(hook: str, kind: type[Record], result: Any) -> tuple[Record, ...]:
    if not isinstance(result, Iterable) or isinstance(result, str | bytes | dict):
        got = "nothing" if result is None else type(result).__name__
        raise PluginError(f"{hook} must yield {kind.__name__} records or return a list of them, not {got}.")
    records = tuple(islice(result, MOST_RECORDS + 1))
    if len(records) > MOST_RECORDS:
        raise PluginError(f"{hook} yields more than {MOST_RECORDS} records.")
    for record in records:
        if type(record) is not kind:
            raise PluginError(f"{hook} must yield {kind.__name__} records, but yields {type(record).__name__}.")
    return records
