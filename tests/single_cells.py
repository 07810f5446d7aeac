"""A single cell for tests of its two steps, built and measured in the process of the test."""

from pathlib import Path

from aacbench.contract.composite import assemble
from aacbench.run.build import CellJob
from aacbench.run.plan import CellPlan
from aacbench.run.records import QueryPlan


def cell_job(
    folder: Path, method_of, name: str, params=None, *, graph: str, queries: QueryPlan, seed=1, budget=32, **changes
) -> CellJob:
    """The job of a cell of this method, searched on validation and test queries."""
    plan = CellPlan(
        graph=graph,
        method=name,
        label=name,
        params=params or {},
        budget=budget,
        convention="measured/1",
        seed=seed,
        policy="modern",
        splits=("validation", "test"),
    )
    return CellJob(
        cell_id="a" * 24,
        plan=plan,
        queries=queries,
        claims=assemble(method_of(name), plan.params, method_of).claims,
        method_of=method_of,
        reference_policy="modern",
        artifacts=folder / "artifacts",
        bundles=folder / "artifacts" / "bundles",
        **changes,
    )
