"""The conformance of every built-in method; several files share them out, so that they can be run side by side."""

from functools import cache

from aacbench.plugins.in_workers import PluginSources, WholeMethodOf
from aacbench.plugins.manager import load_plugins
from aacbench.plugins.methods import BUILT_IN
from aacbench.testing import check_method

SHARES = 3
PARTS = {"a": "alt", "b": "alt-pool[K0=12]"}  # of whatever is made of two others
SETTINGS = {"hybrid": PARTS, "hybrid-half": PARTS, "hybrid-double": PARTS}


@cache
def methods() -> dict[str, str]:
    """The plugin of every built-in method."""
    plugins = load_plugins(environment={"AACBENCH_PLUGINS": ""})
    assert plugins.problems() == []
    return {name: loaded.origin.plugin for name, loaded in plugins.methods().items()}


def share(number: int) -> list[str]:
    """The methods of every third plugin: those of one plugin share what is compiled for them."""
    plugins = BUILT_IN[number::SHARES]
    return [name for name, plugin in methods().items() if plugin in plugins]


def check_conformance(name: str) -> None:
    """Check one method, with cheap settings or parts where it has any here."""
    settings = SETTINGS.get(name, {})
    locate = WholeMethodOf(PluginSources(), name, settings)
    report = check_method(locate(), settings=settings, locate=locate)
    assert report.ok, report.text()
    assert report.ran == report.due, report.text()
