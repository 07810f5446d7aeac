"""From a study to cells: every combination, with its parameters resolved against its budget."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from aacbench.contract.budget import Budget, GraphInfo, convention
from aacbench.contract.composite import Resolve, assemble, resolve_parts
from aacbench.contract.method import Claims, Method, Params, Unsupported
from aacbench.contract.parameters import SEARCH_SWITCHES
from aacbench.errors import UsageError
from aacbench.graphs.catalogue import name_and_file
from aacbench.maps.names import CELLS
from aacbench.processes.pool import Limits
from aacbench.processes.worker import Failure
from aacbench.run.fitting import Answer, Fitted, Question, ask_all
from aacbench.run.records import (
    ATLAS,
    BASELINE,
    CANDIDATE,
    CHOSEN,
    ENCODE,
    SINGLE,
    TEST,
    VALIDATION,
    MethodChoice,
    QueryPlan,
    Study,
    Variant,
    without_traffic,
)
from aacbench.run.store import Cell, read_or_damage
from aacbench.run.variants import BASE, every, queries_and_policy
from aacbench.search.policy import Policy, parse, switch
from aacbench.util.canonical import canonical
from aacbench.util.text import suggestion

# On which queries the candidates of a grid are compared; with "none" all of them are reported.
CHOSEN_ON = {"mean-expansions": VALIDATION, "retrospective": TEST}


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPlan:
    """One cell to be run: a method with resolved parameters on one graph, at one budget, with one seed.

    `splits` says on which queries, `variant` under which changes of the study. Of several settings in a grid each is a
    `candidate`, and one more cell, known only once they are done, is the `chosen` one on the test queries; `setting`
    tells them apart, as a user would write each of them, where `label` is the same for all. A cell that is
    `unsupported`, or whose method `failed` to say what fits (with the outcome `failure`), has the reason and is not
    run. `graph_file` is the file of a graph with a short name, or says whose predictions the graph is made of. With
    `traffic`, which is the end of the name `graph`, the weights are raised after the build. A cell of an encoder has
    the role `encode`, a map set as its graph, the rule of `edges`, and the digests of its `inputs`, which are files.
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
    failure: str = "error"
    group: str = ""
    role: str = SINGLE
    setting: str = ""
    graph_file: str = ""
    variant: str = ""
    traffic: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    edges: str = CELLS

    @property
    def on_maps(self) -> bool:
        """Whether the graph is made of maps with predicted costs."""
        return self.graph_file.startswith(ATLAS)

    @property
    def graph_key(self) -> str:
        """By what a run finds the graph's metadata: maps with other predictions have the same name."""
        return self.graph_file if self.on_maps else self.built_graph

    @property
    def built_graph(self) -> str:
        """The name of the graph that the heuristic is built on, without the traffic that it is searched under."""
        return without_traffic(self.graph, self.traffic)

    def without_traffic(self) -> "CellPlan":
        """The cell that builds the same heuristic and searches the graph as it was built on."""
        return replace(self, graph=self.built_graph, traffic="")

    @property
    def graph_source(self) -> str:
        """What the graph is loaded by: its name, with its file where the name is a short one."""
        return f"{self.built_graph}={self.graph_file}" if self.graph_file else self.built_graph


@dataclass(frozen=True, slots=True)
class Plan:
    """All cells that can be planned ahead; the test cells of chosen candidates follow later."""

    cells: tuple[CellPlan, ...]

    def groups(self) -> dict[str, list[CellPlan]]:
        found: dict[str, list[CellPlan]] = {}
        for cell in self.cells:
            if cell.group:
                found.setdefault(cell.group, []).append(cell)
        return found


@dataclass(frozen=True, slots=True)
class _Setting:
    """A method, its parts put in, with one combination of settings, before any graph or budget."""

    method: Method
    label: str
    params: Params
    switches: Mapping[str, Any]


_Wanted = tuple[CellPlan, _Setting, Question]
_AS_IS = Variant(name=BASE)


def check_methods(study: Study, methods: Mapping[str, Method], resolve: Resolve) -> None:
    """Refuse unknown names, settings and parts, before any graph is loaded."""
    for variant, _ in every(study):
        for choice in study.methods:
            for _ in _settings(choice, methods, resolve, variant):
                pass


def labels_claiming(
    claim: Callable[[Claims], bool], study: Study, methods: Mapping[str, Method], resolve: Resolve
) -> frozenset[str]:
    """Return the labels of the methods that make a claim with all of their settings; the baseline makes every one."""
    found = []
    for choice in study.methods:
        settings = list(_settings(choice, methods, resolve))
        labels = [choice.label, *(setting.label for setting in settings)]
        found += labels if all(claim(setting.method.claims) for setting in settings) else []
    return frozenset([*found, BASELINE])


def plan(
    study: Study,
    methods: Mapping[str, Method],
    infos: Mapping[str, GraphInfo],
    resolve: Resolve,
    fit: Callable[[Sequence[Question]], Sequence[Answer]] | None = None,
) -> Plan:
    """Every cell of a study, by variant, graph, traffic, method, budget and seed; the baseline comes once a graph.

    A method whose claim is that the seed changes nothing is run with the first seed only. What fits the budgets is
    asked all at once, through `fit`, or of the methods here and now.
    """
    wanted: list[list[_Wanted]] = []
    for variant, varied in every(study):
        wanted += _wanted(varied, variant, methods, infos, resolve)
    questions = [question for cells in wanted for _, _, question in cells]
    answers = iter(fit(questions) if fit else ask_all(questions, methods, {}, methods.__getitem__, 1, Limits()))
    policies: dict[tuple[str, int, int], str] = {}
    found = [[_fitted(cell, setting, next(answers), policies) for cell, setting, _ in cells] for cells in wanted]
    return Plan(tuple(cell for cells in found for cell in _distinct(cells)))


def _wanted(
    study: Study,
    variant: Variant,
    methods: Mapping[str, Method],
    infos: Mapping[str, GraphInfo],
    resolve: Resolve,
) -> Iterator[list[_Wanted]]:
    baseline = MethodChoice(name=BASELINE)
    choices = [baseline, *(choice for choice in study.methods if choice != baseline)]
    settled = [(choice, list(_settings(choice, methods, resolve, variant))) for choice in choices]
    everywhere = itertools.product(study.searched_graphs(), settled, study.budgets, study.seeds)
    for searched, (choice, settings), budget, seed in everywhere:
        if choice is baseline and budget != study.budgets[0]:
            continue
        charged = Budget(budget, convention(study.convention))
        name, file = name_and_file(searched.graph)
        traffic = searched.traffic if searched.changed else ""
        where: dict[str, Any] = {"graph": searched.name, "graph_file": file, "traffic": traffic}
        yield _cells(study, choice, settings, infos[name], charged, seed, variant.name, where)


def estimated_work(study: Study, cells: Iterable[CellPlan], infos: Mapping[str, GraphInfo]) -> list[int]:
    """Return how many vertices the searches of each cell expand at most; builds are not counted."""
    record, drawn = study.record(), dict[str, QueryPlan]()

    def most(cell: CellPlan) -> int:
        if cell.role == ENCODE or cell.unsupported or cell.failed:
            return 0
        if cell.variant not in drawn:
            drawn[cell.variant], _ = queries_and_policy(record, cell.variant)
        vertices = infos[cell.graph_key].vertices
        return vertices * sum(drawn[cell.variant].most(split, vertices) for split in cell.splits)

    return [most(cell) for cell in cells]


def chosen(candidate: CellPlan) -> CellPlan:
    return replace(candidate, splits=(TEST,), group="", role=CHOSEN)


def _settings(
    choice: MethodChoice, methods: Mapping[str, Method], resolve: Resolve, variant: Variant = _AS_IS
) -> Iterator[_Setting]:
    """Yield each combination of settings; the label is without those of the variant, so that it is the same in all."""

    def method_of(name: str) -> Method:
        return _method(methods, name, choice.label)

    method = method_of(choice.name)
    grid = {key: values for key, values in choice.grid.items() if key not in choice.settings}
    for values in itertools.product(*grid.values()):
        candidate = {**choice.settings, **dict(zip(grid, values, strict=True))}
        label = replace(choice, settings=candidate).label
        switches, settings = _split_settings({**candidate, **_varied(variant, method)}, label)
        params = resolve_parts(method, resolve(method, settings), method_of, resolve)
        yield _Setting(assemble(method, params, method_of), label, params, switches)


def _varied(variant: Variant, method: Method) -> dict[str, Any]:
    """Return the settings of a variant that this method has."""
    if method.name == BASELINE or (variant.methods and method.name not in variant.methods):
        return {}
    known = (*method.parameters, *SEARCH_SWITCHES)
    return {key: value for key, value in variant.settings.items() if key in known}


def _method(methods: Mapping[str, Method], name: str, label: str) -> Method:
    if name in methods:
        return methods[name]
    near, known = suggestion(name, methods), ", ".join(methods)
    raise UsageError(f"Unknown method {name!r} in {label}{near} Known methods: {known}.")


def _cells(
    study: Study,
    choice: MethodChoice,
    settings: list[_Setting],
    info: GraphInfo,
    budget: Budget,
    seed: int,
    variant: str = BASE,
    where: Mapping[str, Any] | None = None,
) -> list[_Wanted]:
    """The cells of a method at a budget with a seed; `where` has what names the graph, unless that is its own name."""
    several = len(settings) > 1 and study.selection in CHOSEN_ON
    again = seed != study.seeds[0]
    if several and again and all(setting.method.claims.deterministic for setting in settings):
        return []
    made = []
    for setting in settings:
        method = setting.method
        if not several and again and method.claims.deterministic:
            continue
        cell = CellPlan(
            **(where or {"graph": info.name}),
            method=method.name,
            label=choice.label if several else setting.label,
            params=setting.params,
            budget=budget.bytes_per_vertex,
            convention=budget.convention.label,
            seed=seed,
            policy=study.search,
            splits=(CHOSEN_ON[study.selection],) if several else (VALIDATION, TEST),
            group=f"{info.name}|{choice.label}|{choice.grid}|{budget.bytes_per_vertex!r}|{seed}|{variant}"
            if several
            else "",
            role=CANDIDATE if several else SINGLE,
            setting=setting.label,
            variant=variant,
        )
        made.append((cell, setting, Question(method.name, budget, info, setting.params)))
    return made


def _fitted(cell: CellPlan, setting: _Setting, answer: Answer, policies: dict[tuple[str, int, int], str]) -> CellPlan:
    """The cell with what fits; `policies` remembers the search of cells that differ in their seed alone."""
    same = cell.policy, id(setting), id(answer)  # the caller holds both
    if same not in policies:
        preferred = answer.search if isinstance(answer, Fitted) else {}
        policies[same] = _policy(parse(cell.policy), setting.method, preferred, setting.switches).name
    policy = policies[same]
    if isinstance(answer, Unsupported):
        return replace(cell, policy=policy, unsupported=answer.reason)
    if isinstance(answer, Failure):
        return replace(cell, policy=policy, failed=answer.reason, failure=answer.outcome)
    return replace(cell, policy=policy, params=answer.params)


def _distinct(cells: list[CellPlan]) -> list[CellPlan]:
    """Drop cells whose settings are equal once fitted, such as more landmarks than there are vertices."""
    first: dict[bytes, CellPlan] = {}
    if len(cells) == 1:
        return cells
    for cell in cells:
        first.setdefault(canonical([cell.params, cell.label, cell.policy]), cell)
    return list(first.values())


def _split_settings(settings: Mapping[str, Any], label: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Separate the search's switches from a method's settings: `alt[tie=fifo]` is alt, searched first-in-first-out."""
    try:
        switches = {key: switch(key, settings[key]) for key in SEARCH_SWITCHES if key in settings}
    except UsageError as error:
        raise UsageError(f"{label}: {error}") from error
    return switches, {key: value for key, value in settings.items() if key not in switches}


def _policy(policy: Policy, method: Method, preferred: Mapping[str, Any], asked: Mapping[str, Any]) -> Policy:
    """The study's search with the switches that the method prefers; those that a user sets come first.

    A closed set needs a consistent bound: a method that does not claim one is searched with reopening, unless a user
    asks for a closed set by name.
    """
    wanted = dict(preferred) if method.claims.consistent else {**preferred, "reopen": True}
    if "reopen" in asked and not switch("reopen", asked["reopen"]):
        wanted.pop("bpmx", None)  # a preference that cannot be met
    switches: dict[str, Any] = {key: switch(key, value) for key, value in {**wanted, **asked}.items()}
    return replace(policy, **switches)


Choice = tuple[CellPlan, dict[str, Any], Cell]  # the cell to be run, what it was chosen from, and the winner's own cell


def choose(root: Path, groups: Iterable[list[tuple[CellPlan, str]]], selection: str) -> list[Choice]:
    """Choose from each group the candidate with the fewest mean expansions; of equals, the first."""
    cells = []
    for candidates in groups:
        found = [(cell, name, read_or_damage(root, name)) for cell, name in candidates]
        sound = [(cell, name, stored) for cell, name, stored in found if isinstance(stored, Cell)]
        scored = [(_mean_expansions(stored), cell, stored) for cell, _, stored in sound if stored.outcome == "ok"]
        if not scored or len(sound) < len(found):
            continue  # a choice made without a damaged cell could be another one
        note = {
            "selection": selection,
            "split": CHOSEN_ON[selection],
            "retrospective": CHOSEN_ON[selection] == TEST,
            "candidates": [_candidate(name, stored) for _, name, stored in sound],
        }
        _, best, winner = min(scored, key=lambda one: one[0])
        cells.append((chosen(best), {"chosen_from": note}, winner))
    return cells


def _candidate(name: str, cell: Cell) -> dict[str, Any]:
    return {"cell": name, "outcome": cell.outcome, "queries_sha256": cell.record["files"].get("queries.csv")}


def _mean_expansions(cell: Cell) -> float:
    return float(np.mean(cell.queries["expanded"]))
