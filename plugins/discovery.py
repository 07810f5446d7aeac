"""Where plugins are looked for: built-ins, entry points, files, and the named set in `$AACBENCH_PLUGINS`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from aacbench.plugins.boundary import PluginError, boundary
from aacbench.plugins.hookspecs import PROJECT
from aacbench.plugins.methods import BUILT_IN
from aacbench.plugins.records import Origin, Problem
from aacbench.util.source_file import SourceFile, package_digest, read_source
from aacbench.util.text import suggestion
from aacbench.version import VERSION

VARIABLE = "AACBENCH_PLUGINS"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plugin not yet imported: `load` gives the module or object, `digest` then that of its source."""

    origin: Origin
    load: Callable[[], object]
    digest: Callable[[], str]
    source: SourceFile | None = None


def candidates(
    files: Iterable[str | Path | SourceFile], environment: Mapping[str, str]
) -> tuple[list[Candidate], list[Problem]]:
    """Every plugin to load, built-ins first, and problems with those that cannot be read.

    A plugin file is read here, once; a SourceFile was read before.
    """
    problems: list[Problem] = []
    try:
        with boundary("Installed plugins cannot be listed"):
            installed = sorted(_installed(), key=lambda found: (found.origin.where, found.origin.plugin))
    except PluginError as error:
        installed = []
        problems.append(Problem(Origin("entry points", "distribution", "installed packages"), str(error)))
    named, paths = _named_set(environment)
    if named is not None:
        problems += _missing(named, installed)
        installed = [found for found in installed if named & {found.origin.plugin, found.origin.where}]
    sources: dict[Path, SourceFile] = {}
    for file in (*paths, *files):
        try:
            with boundary("It cannot be imported"):
                source = file if isinstance(file, SourceFile) else read_source(file)
                sources.setdefault(source.path, source)
        except PluginError as error:
            path = Path(str(file)).expanduser().resolve()
            problems.append(Problem(Origin(path.stem, "file", str(path)), str(error)))
    return [*map(_built_in, BUILT_IN), *installed, *map(_file, sources.values())], problems


def _named_set(environment: Mapping[str, str]) -> tuple[set[str] | None, list[str]]:
    """Names and paths in the variable; None for names where it is not set, which means all."""
    if VARIABLE not in environment:
        return None, []
    words = [word.strip() for word in environment[VARIABLE].split(",") if word.strip()]
    paths = [word for word in words if word.endswith(".py") or "/" in word or "\\" in word]
    return set(words) - set(paths), paths


def _missing(named: set[str], installed: list[Candidate]) -> Iterator[Problem]:
    known = {name: None for found in installed for name in (found.origin.plugin, found.origin.where)}
    for name in sorted(named - set(known) - set(BUILT_IN)):
        reason = f"no installed plugin has this name; {suggestion(name, known)}unset {VARIABLE} to see them all."
        yield Problem(Origin(name, "distribution", f"${VARIABLE}"), reason)


def _built_in(name: str) -> Candidate:
    module = f"{__package__}.methods.{name}"
    origin = Origin(name, "built-in", PROJECT, VERSION)
    return Candidate(origin, lambda: import_module(module), lambda: package_digest(module, outermost=False))


def _installed() -> Iterator[Candidate]:
    for entry in entry_points(group=PROJECT):
        yield _entry(entry)


def _entry(entry: EntryPoint) -> Candidate:
    where, version = (entry.dist.name, entry.dist.version) if entry.dist else ("unknown distribution", "")
    return Candidate(
        Origin(entry.name, "distribution", where, version), entry.load, lambda: package_digest(entry.module)
    )


def _file(source: SourceFile) -> Candidate:
    origin = Origin(source.path.stem, "file", str(source.path))
    return Candidate(origin, source.load, lambda: source.digest, source)
