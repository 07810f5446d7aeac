"""Has a report with nothing to say of itself."""

from aacbench.plugins import Report, hookimpl


@hookimpl
def aacbench_reports():
    return [Report("mute", "", str)]
