"""ALT and its controls as a plugin file: the same code as built in, but foreign to the harness."""

from dataclasses import replace

from aacbench.plugins import hookimpl
from aacbench.plugins.methods import alt


@hookimpl
def aacbench_methods():
    for method in alt.aacbench_methods():
        yield replace(method, name=f"plugin-{method.name}")
