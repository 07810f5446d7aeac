"""Checking an encoder: a small study with it alone, trained twice, in processes of its own."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from aacbench.library.options import RunOptions
from aacbench.library.running import carry_out, prepare_run
from aacbench.processes.pool import start_server

if TYPE_CHECKING:
    from aacbench.run.store import Cell

# Small, and of two sizes, so that nothing can depend on one.
PROTOCOL = """
protocol = "check"
summary = "an encoder on a few small maps"
kind = "context"
maps = ["terrain-6-s1", "terrain-8-s2"]
budgets = [8]
seeds = [1]
[splits]
train = 40
validation = 5
calibration = 10
test = 10
[queries]
random = 2
[[encoders]]
name = "true"
[[methods]]
name = "hops"
"""


def check_encoder(text: str, files: Sequence[Path], time_limit: float) -> list["Cell"]:
    """Train an encoder on small maps and again with the same seed; return its cells, whose outcomes say how it went.

    `text` may have settings. A fresh process predicts with what was saved; costs must be positive, finite and the same
    as where it was trained, and the same bytes must come out when it is trained again.
    """
    start_server()
    with TemporaryDirectory(prefix="aacbench-") as folder:
        protocol = Path(folder) / "check.toml"
        protocol.write_text(PROTOCOL, encoding="utf-8")
        options = RunOptions(
            protocol=str(protocol),
            encoders=text,
            plugin_files=tuple(files),
            workers=1,
            out=Path(folder) / "study",
            time_limit=time_limit,
            rebuild=True,
        )
        return carry_out(prepare_run(options)).contents.encode_cells()
