"""Yields something that is no record."""

from aacbench.plugins import hookimpl


@hookimpl
def aacbench_methods():
    yield {"name": "junk"}
