"""Checking what works on maps alone, encoders and methods: a small study with it, built twice."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from aacbench.contract.budget import Budget
from aacbench.contract.method import Unsupported
from aacbench.library.options import RunOptions
from aacbench.library.running import carry_out, prepare_run
from aacbench.processes.pool import start_server
from aacbench.run.predictions import map_info
from aacbench.run.records import BASELINE

if TYPE_CHECKING:
    from aacbench.contract.method import Method, Params
    from aacbench.run.store import Cell
    from aacbench.run.study import StudyContents

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
    return _run(files, time_limit, encoders=text).encode_cells()


def check_on_maps(text: str, files: Sequence[Path], time_limit: float) -> list["Cell"]:
    """Build a method for families of small maps, twice, search and audit it; return its cells."""
    contents = _run(files, time_limit, encoders="true,constant", methods=text)
    return [cell for cell in contents.planned_cells() if cell.key["method"] != BASELINE]


def only_on_maps(method: "Method", params: "Params") -> bool:
    """Return whether a method refuses graphs that are not maps."""
    if method.build_maps is None:
        return False
    graph, budget = map_info("map", 6), Budget(8)
    on_graph, on_map = method.fit(budget, replace(graph, side=0), params), method.fit(budget, graph, params)
    return isinstance(on_graph, Unsupported) and not isinstance(on_map, Unsupported)


def _run(files: Sequence[Path], time_limit: float, **changes: Any) -> "StudyContents":
    start_server()
    with TemporaryDirectory(prefix="aacbench-") as folder:
        protocol = Path(folder) / "check.toml"
        protocol.write_text(PROTOCOL, encoding="utf-8")
        options = RunOptions(
            protocol=str(protocol),
            plugin_files=tuple(files),
            workers=1,
            out=Path(folder) / "study",
            time_limit=time_limit,
            rebuild=True,
            **changes,
        )
        return carry_out(prepare_run(options)).contents
