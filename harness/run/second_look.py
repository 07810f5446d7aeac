"""What a plugin's worker sends back, held against what a process finds that never ran the plugin's method.

A method runs in its worker beside the audit, and could change the audit. So rows that claim to be right are looked at
once more, elsewhere: against the study's own queries, Dijkstra's costs, and what the command knows of the method. Its
bytes are counted from the arrays that its worker left, and queries are searched again with nothing but those.
"""

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from aacbench.bundle import helper
from aacbench.bundle.inventory import check_budget
from aacbench.bundle.kept import kept_bytes, kept_request, search_again
from aacbench.contract.budget import Budget, convention
from aacbench.contract.method import Claims
from aacbench.errors import AacbenchError, DataError, ReloadError, StoreError
from aacbench.graphs.record import Array
from aacbench.processes.pool import Limits, Workers
from aacbench.processes.worker import Failure
from aacbench.run.audit import audit_answers, smallest
from aacbench.run.cell import Job, Result
from aacbench.run.loaded_graph import World, intact_world
from aacbench.run.reference import references
from aacbench.run.rows import read_queries
from aacbench.search import Answers

QUERIES = "queries.csv"
SOME = 8  # queries that are searched again where that is slow


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A result as it came back, with what it is held against; `artifacts` is where no plugin's worker writes."""

    job: Job
    result: Result
    claims: Claims
    artifacts: Path
    seconds: float


class SecondLook:
    """A process that looks at results; for a graph of a plugin it is one that has loaded this plugin alone."""

    def __init__(self, limits: Limits, foreign_graphs: Mapping[str, str]) -> None:
        self._workers = Workers(look_again, 1, limits, lambda sent: foreign_graphs.get(sent.job.plan.graph, ""))

    def __enter__(self) -> "SecondLook":
        return self

    def __exit__(self, *_: object) -> None:
        self._workers.__exit__()

    def place(self, cell_id: str) -> Path:
        """Where a cell's worker leaves its arrays until they were looked at."""
        return self._workers.folder / cell_id

    def at(self, sent: Sent) -> Result:
        """The result, or what is to be recorded in its place."""
        try:
            return self._looked(sent)
        finally:
            shutil.rmtree(self.place(sent.job.cell_id), ignore_errors=True)

    def _looked(self, sent: Sent) -> Result:
        if not isinstance(sent.result, Result):
            return _refused("its worker sent something that is no result")
        if sent.result.outcome != "ok":
            return sent.result
        ((_, answer),) = list(self._workers.run([sent]))
        if isinstance(answer, Failure):
            return _refused(f"its rows could not be looked at again: {answer.reason}")
        outcome, reason = answer
        if outcome == "wrong":
            return replace(sent.result, outcome=outcome, reason=reason)
        return sent.result if outcome == "ok" else _refused(reason)


def look_again(sent: Sent) -> tuple[str, str]:
    """`ok`, or the outcome that the result should have had, and why."""
    try:
        helper.start()  # it is needed when the rows were read, and takes a while
        world = intact_world(sent.job.plan.graph, sent.job.queries, sent.job.graph_of)
        if {"graph": world.net.graph.digest, **world.digests()} != sent.job.digests:
            raise DataError("the graph or its queries are not those that this run was planned on")
        _check_facts(sent, world.net.graph.vertices)
        return _check_rows(sent, world)
    except StoreError:
        raise
    except ReloadError as error:
        return "error", str(error)
    except AacbenchError as error:
        return "error", f"what its worker sent is not what it should be: {error}"


def _refused(reason: str) -> Result:
    return Result("error", reason, {}, {})


def _check_facts(sent: Sent, vertices: int) -> None:
    """The claims are those that the command knows, and the bytes are those of the arrays, and within the budget."""
    plan, facts = sent.job.plan, sent.result.facts
    try:
        if facts["claims"] != asdict(sent.claims):
            raise DataError("the method's claims are other ones in its worker than in the command")
        told, charged = facts["bytes"], convention(plan.convention)
        if told["measured"]:
            assert sent.job.keep is not None
            counted = kept_bytes(sent.job.keep, kept_request(sent.job.keep), vertices)
            true = counted.record()
            if any(told[name] != true[name] for name in true if name != "scratch"):
                raise DataError("its bytes are not those of the arrays it kept")
            if sent.claims.matched:
                check_budget(counted, Budget(plan.budget, charged))
        elif charged.enforced and sent.claims.matched:
            declared = told["total"] - told["settings"]
            if declared > Fraction(plan.budget) * vertices:
                raise DataError(f"it declares {declared} bytes, which is more than its budget")
    except (LookupError, TypeError, ValueError) as error:
        raise DataError(f"its record lacks something ({type(error).__name__}: {error})") from error


def _check_rows(sent: Sent, world: World) -> tuple[str, str]:
    if QUERIES not in sent.result.files:
        raise DataError(f"there is no {QUERIES}")
    parts = {name: world.part(name) for name in sent.job.plan.splits}
    known = references(sent.artifacts, world, parts, sent.job.reference_policy)
    true = {
        "query": np.concatenate([np.arange(len(part)) for part in parts.values()]),
        "split": np.concatenate([np.full(len(part), name, dtype=object) for name, part in parts.items()]),
        "source": np.concatenate([part.sources for part in parts.values()]),
        "target": np.concatenate([part.targets for part in parts.values()]),
        "reference_cost": np.concatenate([known[name].cost for name in parts]),
    }
    rows = read_queries(sent.result.files[QUERIES])
    for column, values in true.items():
        if not np.array_equal(rows[column], values):
            raise DataError(f"the column {column} of {QUERIES} is not that of the study's queries")
    outcome, reason = _check_answers(rows, true, sent.claims)
    if outcome == "ok" and sent.result.facts["bytes"]["measured"]:
        _check_searches(sent, world, rows)
    return outcome, reason


def _check_searches(sent: Sent, world: World, rows: Mapping[str, Array]) -> None:
    """Search again with the arrays alone: every query where that is compiled, else some that nobody could know of."""
    assert sent.job.keep is not None
    count = len(rows["query"])
    at = np.arange(count)
    if sent.result.facts["tier"] != "compiled":
        at = np.sort(np.random.default_rng().permutation(count)[:SOME])
    sources, targets = rows["source"][at], rows["target"][at]
    again = search_again(
        sent.job.keep, kept_request(sent.job.keep), world.net, sources, targets, sent.job.plan.policy, sent.seconds
    )
    for name in NAMES:
        apart = np.flatnonzero(rows[name][at] != again[name])
        if len(apart):
            query = at[apart[0]]
            raise ReloadError(
                f"{name} from {rows['source'][query]} to {rows['target'][query]} is {rows[name][query]} as built but "
                f"{again[name][apart[0]]} when searched with the heuristic rebuilt from its arrays alone: "
                f"it depends on something that is not in them."
            )


def _check_answers(rows: Mapping[str, Array], true: Mapping[str, Array], claims: Claims) -> tuple[str, str]:
    reference = true["reference_cost"]
    answers = Answers(**{name: _typed(rows[name], name, reference) for name in NAMES}, paths=None)
    if not np.array_equal(rows["outcome"] == "unreachable", answers.cost < 0):
        raise DataError("the outcomes of its rows are not those of their costs")
    # Each vertex of a path was expanded, its end included.
    if np.any(answers.expanded < answers.path_edges + (answers.path_edges > 0)):
        raise DataError("it expanded fewer vertices than its paths have")
    if not claims.admissible:
        return "ok", ""
    _, cases = audit_answers(true["source"], true["target"], answers, reference)
    worst = smallest(cases)
    return ("wrong", f"not {worst[0].claim}: {worst[0].sentence}") if worst else ("ok", "")


NAMES = tuple(name for name in Answers.__slots__ if name != "paths")


def _typed(column: Array, name: str, reference: Array) -> Array:
    """A column as the search gave it: a cost has the type of the weights, which a file of whole numbers cannot say."""
    if name not in ("cost", "path_cost", "h_source"):
        return column
    if column.dtype.kind == "f" and reference.dtype.kind == "i":
        raise DataError(f"the column {name} of {QUERIES} must be of whole numbers on this graph")
    return column.astype(reference.dtype)
