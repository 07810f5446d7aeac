"""What a run is set up with besides its study: the methods and where they come from, limits, and who is told."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from aacbench.contract.composite import part_names
from aacbench.contract.method import Method, Params
from aacbench.graphs.load import load
from aacbench.processes.pool import Limits
from aacbench.run.existing import Existing
from aacbench.run.layout import ARTIFACTS
from aacbench.run.loaded_graph import GraphOf
from aacbench.run.plan import CellPlan


@dataclass(frozen=True, slots=True)
class Source:
    """A method and where it comes from: the digest of its source goes into every cell's key."""

    method: Method
    digest: str
    plugin_file: Path | None = None
    built_in: bool = False  # else its code is run in workers alone, which nobody else's cells then share


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """All a run needs to know besides the study; `method_of` and `graph_of` must be importable by workers.

    `sources` has every method there is: a method of the study may be made of others. `foreign_graphs` are those of
    plugins, with the digest of each one's source: they are loaded in workers alone. With `rebuild` a cell of each
    method is built once more when all are done, and must come out the same. `lock` is the digest of the registration
    that the run is bound to; `before` is told the key of every cell that can be planned ahead, before the first query,
    and may refuse by raising.
    """

    root: Path
    sources: Mapping[str, Source]
    resolve: Callable[[Method, Mapping[str, Any]], Params]
    method_of: Callable[[str], Method]
    graph_of: GraphOf = load
    foreign_graphs: Mapping[str, str] = field(default_factory=dict)
    workers: int = 1
    existing: Existing = "keep"
    limits: Limits = field(default_factory=Limits)
    notify: Callable[[str, Mapping[str, Any]], None] = field(default=lambda *_: None)
    rebuild: bool = False
    lock: str | None = None
    before: Callable[[Sequence[Mapping[str, Any]]], None] = field(default=lambda _: None)

    def defaults(self, method: str) -> dict[str, Any]:
        """What the method's parameters are unless somebody sets them, for tables that leave it out."""
        return {name: parameter.default for name, parameter in self.sources[method].method.parameters.items()}

    def kind(self, cell: CellPlan) -> str:
        """What may share a worker with a cell: of plugins, cells of the same method, and of built-in ones all."""
        origin = self.origin(cell)
        return f"{origin} {cell.method}" if origin else ""

    def origin(self, cell: CellPlan) -> str:
        """The plugins that a cell's method, its parts and its graph come from, empty for built-in ones."""
        sources = [self.sources[name] for name in (cell.method, *part_names(cell.params))]
        found = [source.digest for source in sources if not source.built_in]
        return " ".join([*found, self.foreign_graphs.get(cell.graph, "")]).strip()

    @property
    def shared(self) -> Path:
        """Where pools and references are kept that no plugin's worker writes."""
        return (self.root / ARTIFACTS).absolute()  # a method may leave its worker in another folder

    def artifacts(self, cell: CellPlan) -> Path:
        """Where a cell's pools and references are kept: what a plugin's workers write, no others read."""
        origin = self.origin(cell)
        return self.shared / f"plugin-{sha256(origin.encode()).hexdigest()[:12]}" if origin else self.shared
