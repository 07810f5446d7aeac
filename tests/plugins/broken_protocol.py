"""Names a protocol file that is not there."""

from pathlib import Path

from aacbench.plugins import ProtocolFile, hookimpl


@hookimpl
def aacbench_protocols():
    return [ProtocolFile("lost", Path(__file__).parent / "lost.toml")]
