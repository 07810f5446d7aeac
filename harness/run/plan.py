"""From a study to cells: every combination, with its parameters resolved against its budget."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from aacbench.errors import UsageError
from aacbench.memory.conventions import Budget, GraphInfo, convention
from aacbench.method import Method, Params, Unsupported
from aacbench.run.canonical import canonical, plain
from aacbench.run.records import MethodChoice, Study
from aacbench.search.policy import TIES, Policy, parse

SEARCH_SWITCHES = ("tie", "reopen", "bpmx")
VALIDATION, TEST = "validation", "test"
SINGLE, CANDIDATE, CHOSEN = "single", "candidate", "chosen"
# On which queries the candidates of a grid are compared; with "none" all of them are reported.
CHOSEN_ON = {"mean-expansions": VALIDATION, "retrospective": TEST}
BASELINE = "dijkstra"  # what reductions are measured against; it holds no labels, so one budget stands for all


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPlan:
    """One cell to be run: a method with resolved parameters on one graph, at one budget, with one seed.

    `splits` says on which queries. Of several settings in a grid each is a `candidate`, and one more cell, known only
    once they are done, is the `chosen` one on the test queries. A cell that is `unsupported`, or whose method `failed`
    to say what fits, has the reason and is not run.
    """

    graph: str
    method: str
    label: str
    params: Params
    budget: float
    convention: str
    seed: int
    policy: str
    splits: tuple[str, ...]
    unsupported: str = ""
    failed: str = ""
    group: str = ""
    role: str = SINGLE


@dataclass(frozen=True, slots=True)
class Plan:
    """All that can be planned ahead: cells, and groups of candidates whose test cell awaits the choice."""

    cells: tuple[CellPlan, ...]

    def groups(self) -> dict[str, list[CellPlan]]:
        """Candidates by group."""
        found: dict[str, list[CellPlan]] = {}
        for cell in self.cells:
            if cell.group:
                found.setdefault(cell.group, []).append(cell)
        return found


def plan(
    study: Study,
    methods: Mapping[str, Method],
    infos: Mapping[str, GraphInfo],
    resolve: Callable[[Method, Mapping[str, Any]], Params],
) -> Plan:
    """Every cell of a study, in the order graphs, methods, budgets, seeds; the baseline comes once a graph.

    A method whose claim is that the seed changes nothing is run with the first seed only.
    """
    cells: list[CellPlan] = []
    baseline = MethodChoice(name=BASELINE)
    choices = [baseline, *(choice for choice in study.methods if choice != baseline)]
    for graph, choice, budget, seed in itertools.product(study.graphs, choices, study.budgets, study.seeds):
        if seed != study.seeds[0] and methods[choice.name].claims.deterministic:
            continue
        if choice is baseline and budget != study.budgets[0]:
            continue
        charged = Budget(budget, convention(study.convention))
        cells += _cells(study, methods[choice.name], choice, infos[graph], charged, seed, resolve)
    return Plan(tuple(cells))


def chosen(candidate: CellPlan) -> CellPlan:
    """The test cell of the candidate that won."""
    return replace(candidate, splits=(TEST,), group="", role=CHOSEN)


def _cells(
    study: Study,
    method: Method,
    choice: MethodChoice,
    info: GraphInfo,
    budget: Budget,
    seed: int,
    resolve: Callable[[Method, Mapping[str, Any]], Params],
) -> list[CellPlan]:
    switches, settings = _split_settings(choice.settings)
    grid = {key: values for key, values in choice.grid.items() if key not in settings}
    candidates = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    several = len(candidates) > 1 and study.selection in CHOSEN_ON
    base = CellPlan(
        graph=info.name,
        method=method.name,
        label=choice.label,
        params={},
        budget=budget.bytes_per_vertex,
        convention=budget.convention.label,
        seed=seed,
        policy=study.search,
        splits=(CHOSEN_ON[study.selection],) if several else (VALIDATION, TEST),
        group=f"{info.name}|{choice.label}|{budget.bytes_per_vertex:g}|{seed}" if several else "",
        role=CANDIDATE if several else SINGLE,
    )
    made = []
    for candidate in candidates:
        wanted = resolve(method, {**settings, **candidate})
        label = choice.label if several else replace(choice, settings={**choice.settings, **candidate}).label
        cell = _fitted(replace(base, label=label), method, budget, info, wanted)
        made.append(_searched(cell, study, method, wanted, switches))
    return _distinct(made)


def _fitted(cell: CellPlan, method: Method, budget: Budget, info: GraphInfo, wanted: Params) -> CellPlan:
    """The cell with what fits its budget. A method's own code runs here, so anything may come of it."""
    try:
        fitted = method.fit(budget, info, dict(wanted))
        if isinstance(fitted, Unsupported):
            return replace(cell, params=dict(wanted), unsupported=str(fitted.reason))
        return replace(cell, params=_plain(fitted))
    except (Exception, SystemExit) as error:
        reason = error if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
        return replace(cell, params=dict(wanted), failed=f"fit failed with {reason}")


def _searched(cell: CellPlan, study: Study, method: Method, params: Params, asked: Mapping[str, Any]) -> CellPlan:
    """The cell with its search policy; what a method prefers is its own code again."""
    try:
        preferred = {key: _value(key, value) for key, value in dict(method.search(dict(params))).items()}
    except (Exception, SystemExit) as error:
        return cell if cell.failed else replace(cell, failed=f"search failed with {type(error).__name__}: {error}")
    return replace(cell, policy=_policy(parse(study.search), method, preferred, asked).name)


def _plain(fitted: Any) -> Params:
    if not isinstance(fitted, Mapping):
        raise UsageError(f"a {type(fitted).__name__} instead of parameters or Unsupported")
    canonical(fitted)  # text that has no UTF-8 form is found only when it is spelt
    values: Params = plain(fitted, "the answer")
    return values


def _distinct(cells: list[CellPlan]) -> list[CellPlan]:
    """Settings that come to the same once fitted, such as more landmarks than there are vertices, are one cell."""
    first: dict[bytes, CellPlan] = {}
    for cell in cells:
        first.setdefault(canonical([cell.params, cell.label]), cell)
    return list(first.values())


def _split_settings(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell the search's switches from a method's settings: `alt[tie=fifo]` is alt, searched first-in-first-out."""
    switches = {key: settings[key] for key in SEARCH_SWITCHES if key in settings}
    return switches, {key: value for key, value in settings.items() if key not in switches}


def _policy(policy: Policy, method: Method, preferred: Mapping[str, Any], asked: Mapping[str, Any]) -> Policy:
    """The study's search, with the switches that the method prefers, and above all those that a user asked for.

    A closed set needs a consistent bound: a method that does not claim one is searched with reopening, unless a user
    asks for a closed set by name.
    """
    wanted = dict(preferred) if method.claims.consistent else {**preferred, "reopen": True}
    if "reopen" in asked and not _value("reopen", asked["reopen"]):
        wanted.pop("bpmx", None)  # a preference that cannot be met
    return replace(policy, **{key: _value(key, value) for key, value in {**wanted, **asked}.items()})


def _value(switch: str, written: Any) -> Any:
    return getattr(parse(f"{switch}={_word(written)}"), switch)


def _word(value: Any) -> str:
    if value in TIES:
        return str(value)
    return {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)
