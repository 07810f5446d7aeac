"""Imported by the server that workers are forked from, so that none of them pays for it."""

from numba.core.registry import cpu_target

import aacbench.run.shipping  # noqa: F401
from aacbench.processes.worker import report_progress
from aacbench.util.compiling import tell_always

# Numba fills its tables when it first loads or compiles a function, which takes as long as a small cell.
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()

tell_always(report_progress)
