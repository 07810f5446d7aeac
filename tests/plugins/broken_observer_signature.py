"""Wants more than an observer is told."""

from aacbench.plugins import hookimpl


@hookimpl
def aacbench_cell_finished(cell, *, store):
    store.clear()
