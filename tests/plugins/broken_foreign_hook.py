"""Marks a function that is no hook of ours."""

from aacbench.plugins import hookimpl


@hookimpl
def methods():
    return []
