"""best: builds several methods and deploys the one with the fewest expansions on the validation queries."""

from collections.abc import Iterator
from dataclasses import replace

from aacbench.contract.method import (
    BuildContext,
    Heuristic,
    LabelHeuristic,
    MaxHeuristic,
    Method,
    Parameter,
    Params,
    Part,
    Unsupported,
)
from aacbench.errors import UsageError
from aacbench.plugins import Budget, GraphInfo, hookimpl, read_part

SEPARATOR = ";"
# `alt` is the first: where others only equal it, it is deployed.
CANDIDATES = (
    "alt",
    "alt[pool=avoid]",
    "alt[labels=for16]",
    "alt[labels=packed]",
    "greedy-train",
    "greedy-train[labels=for16]",
    "greedy-train[labels=packed]",
    "greedy-train[labels=u8]",
    "greedy-train[labels=u8,K0=768]",
    "greedy-train[labels=u8,K0=768,pool=degree]",
    "alt[labels=u6]",
    "greedy-train[labels=u6,K0=768]",
    "greedy-train[labels=u6,K0=768,pool=degree]",
    "ch",
    "ch-core",
)
EXPANDED, TOTAL = "expanded", "total"


@hookimpl
def aacbench_methods() -> Iterator[Method]:
    yield Method(
        "best",
        "of several methods the one with the fewest expansions on the validation queries",
        fit,
        build,
        parameters={
            "candidates": Parameter(SEPARATOR.join(CANDIDATES), f"methods to try, separated by {SEPARATOR}"),
            "by": Parameter(
                EXPANDED,
                "what is compared: expansions, or expansions and the heuristic's own work",
                choices=(EXPANDED, TOTAL),
            ),
        },
        made_of=parts,
        chooses=True,
        docs="docs/methods/best.md",
    )


def parts(params: Params) -> tuple[Part, ...]:
    named = [text for text in str(params["candidates"]).split(SEPARATOR) if text.strip()]
    if not named:
        raise UsageError("best needs candidates, such as best[candidates=alt;greedy-train].")
    return tuple(read_part(text) for text in named)


def fit(budget: Budget, info: GraphInfo, params: Params) -> Params:
    """Return the params: each candidate is fitted to the whole budget, of which one is deployed."""
    return params


def build(context: BuildContext) -> Heuristic | Unsupported:
    """Return the candidate with the least mean on the validation queries (`modern`), and all means as facts."""
    if not len(context.validation):
        raise UsageError("best needs validation queries, and the protocol has none.")
    facts: dict[str, int | float] = {}
    best: Heuristic | None = None
    least, reasons = 0.0, list[str]()
    for number in range(len(context.alternatives)):
        context.progress(f"candidate {number + 1} of {len(context.alternatives)}")
        candidate = context.alternatives[number]
        if isinstance(candidate, Unsupported):
            reasons.append(candidate.reason)
            continue
        expanded, work = _means(context, candidate)
        facts[f"expanded_{number}"] = expanded
        facts |= {f"h_work_{number}": work} if work else {}
        score = expanded + (work if context.params["by"] == TOTAL else 0.0)
        if best is None or score < least:
            best, least = candidate, score
            facts["chosen"] = number
    if best is None:
        return Unsupported(f"none of its candidates fits; {reasons[0]}")
    return _with_facts(best, facts)


def _means(context: BuildContext, candidate: Heuristic) -> tuple[float, float]:
    """Return the mean expansions and work of a candidate on the validation queries."""
    from aacbench.bundle.deploy import deploy
    from aacbench.search import search

    queries = context.validation
    answers = search(context.network, deploy(candidate, context.network).searched, queries.sources, queries.targets)
    return float(answers.expanded.mean()), float(answers.h_work.mean())


def _with_facts(heuristic: Heuristic, facts: dict[str, int | float]) -> Heuristic:
    if isinstance(heuristic, LabelHeuristic):
        return replace(heuristic, facts={**heuristic.facts, **facts})
    if isinstance(heuristic, MaxHeuristic):
        first, *others = heuristic.parts
        return MaxHeuristic((_with_facts(first, facts), *others))
    return heuristic  # other forms report no facts
