"""Fails whenever it is told something."""

import sys

from aacbench.plugins import hookimpl


@hookimpl
def aacbench_cell_finished(cell):
    raise ValueError(cell["cell_id"])


@hookimpl
def aacbench_run_finished(summary):
    sys.exit(3)
