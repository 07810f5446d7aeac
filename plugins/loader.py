"""Load one plugin: import it, find its hooks, collect and check its records. All of it counts, or none."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

import pluggy

from aacbench.contract.method import Method
from aacbench.plugins import checks, hookspecs
from aacbench.plugins.boundary import PluginError, boundary
from aacbench.plugins.discovery import Candidate
from aacbench.plugins.hookspecs import HOOKS, PREFIX, PROJECT
from aacbench.plugins.records import GraphSource, Origin, Plugin, ProtocolFile, Report
from aacbench.util.text import suggestion

MOST_RECORDS = 10_000  # a hook that yields without end must not hang the tool

Record = TypeVar("Record", Method, GraphSource, ProtocolFile, Report)


def load(candidate: Candidate) -> Plugin:
    """The plugin with its records; `PluginError` with the reason where anything at all is wrong with it."""
    with boundary("it cannot be imported"):
        module = candidate.load()
    with boundary("its source cannot be read"):
        digest = candidate.digest()
    with boundary("its hooks cannot be read"):
        hooks = _hooks(module, candidate.origin.plugin)
    return Plugin(
        origin=replace(candidate.origin, version=_version(candidate.origin, module), digest=digest),
        methods=_collect(hooks.aacbench_methods, Method, checks.check_method),
        graphs=_collect(hooks.aacbench_graphs, GraphSource, checks.check_graph),
        protocols=_collect(hooks.aacbench_protocols, ProtocolFile, checks.check_protocol),
        reports=_collect(hooks.aacbench_reports, Report, checks.check_report),
        hooks=hooks,
        source=candidate.source,
    )


def _version(origin: Origin, module: object) -> str:
    declared = getattr(module, "__version__", "")
    return origin.version or (declared if isinstance(declared, str) else "")


def _hooks(module: object, name: str) -> Any:
    """pluggy's relay to this plugin alone: a manager each, so that none can wrap or stop another's hooks."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    for attribute in dir(module):
        _check_function(manager, module, attribute)
    manager.register(module, name)
    return manager.hook


def _check_function(manager: pluggy.PluginManager, module: object, name: str) -> None:
    """Refuse what pluggy would pass over in silence: misspelt hooks and hooks without their marker."""
    options = manager.parse_hookimpl_opts(module, name)
    function = inspect.getattr_static(module, name)
    if options is None and not (name.startswith(PREFIX) and callable(function)):
        return
    hook = (options.get("specname") if options else None) or name
    if hook not in HOOKS:
        hint = suggestion(hook, HOOKS) + f"there are {', '.join(HOOKS)}"
        raise PluginError(f"it has a function {name}, and there is no such hook; {hint}.")
    if options is None:
        raise PluginError(f"its function {name} is not marked as a hook; write @hookimpl above it.")
    signature = inspect.signature(getattr(module, name))
    if not _required(signature) <= set(HOOKS[hook]):
        raise PluginError(f"{name} must take ({', '.join(HOOKS[hook])}), and takes {signature}.")


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
            raise PluginError(f"{hook} must yield {kind.__name__} records, and yields {type(record).__name__}.")
    return records
