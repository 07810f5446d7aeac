"""A registration to fill in: a protocol's study as TOML, with a comment on what has to be decided."""

import json
from typing import Any

from aacbench.prereg.canonical import TAG
from aacbench.run.records import BASELINE, MethodChoice, Study

HEAD = """\
# A registration. Fill in what says TODO, look at everything else, then: aacbench prereg plan, lock, run, verify.
# Comments, white space and the order of keys may change after the lock; no value may.

schema = {schema}
id = {id}
title = {title}

# confirmatory: predicted before any result was seen. exploratory: not. replication: somebody else's prediction.
status = "confirmatory"

# What you have already seen of these methods on these graphs, in words. "Nothing" is an answer, if it is true.
prior_exposure = "TODO"

[accounting]
# measured/1 charges every byte that is deployed; directionality-aware/1 is the paper's accounting.
convention = {convention}

[protocol]
name = {protocol}
graphs = {graphs}
budgets = {budgets}  # bytes per vertex
seeds = {seeds}
search = {search}
selection = {selection}  # how one setting of a grid is chosen
measure = {measure}
exclusions = "unanswered"  # queries that one side did not answer are left out, and counted
# "lock" draws the queries from the lock's digest and a public text given when it is run, such as a beacon's value.
seed_source = "fixed"

[protocol.queries]
mode = {mode}
seed = {query_seed}
validation = {validation}
test = {test}
train = {train}
strict = {strict}
"""
PREDICTIONS = """\

# Kinds: band (low to high), equivalence (within a margin), ordering (which is best), count (violations).
# The rule decides: "interval" wants the whole 95 % interval inside (90 % for equivalence), "point" only the estimate.
[[prediction]]
id = "first"
kind = "band"
why = "TODO"
cell = {{ graph = {graph}, budget = {budget} }}
contrast = {{ a = {a}, b = {b} }}
estimand = "reduction_of_means_pp"  # percentage points of reduction that a has over b; above 0, a is ahead
low = 0
high = 5
direction = "a"
rule = "interval"

[[prediction]]
id = "admissible"
kind = "count"
of = "violations"
equals = 0

[analysis]
profile = {analysis}
# families = {{ main = ["first"] }}  # p-values are corrected within each
# sensitivity = ["ratio_of_means"]  # reported too, and decides nothing

[power]
# sd = 1.0  # of the effect over seeds, if you know it; or give earlier rows to `aacbench prereg plan --pilot`
target = 0.8

[anchors]
# required = ["rfc3161"]  # ssh, git-tag, rfc3161: must be there before the run
"""


def new_registration(study: Study, name: str, title: str) -> str:
    """The text of a registration of this study, with a first prediction about two of its methods."""
    queries, values = study.queries, study.record()
    text = HEAD.format(
        **{key: _value(values[key]) for key in ("protocol", "graphs", "seeds", "search", "selection", "measure")},
        budgets=_value([int(budget) if budget == int(budget) else budget for budget in study.budgets]),
        convention=_value(study.convention),
        schema=_value(TAG),
        id=_value(name),
        title=_value(title),
        mode=_value(queries.mode),
        query_seed=queries.seed,
        validation=queries.validation,
        test=queries.test,
        train=queries.train,
        strict=_value(queries.strict),
    )
    labels = [choice.label for choice in study.methods if choice.name != BASELINE]
    a, b = (*labels, BASELINE)[:2]
    return (
        text
        + "".join(_method(choice) for choice in study.methods)
        + PREDICTIONS.format(
            graph=_value(study.graphs[0]),
            budget=f"{study.budgets[0]:g}",
            a=_value(a),
            b=_value(b),
            analysis=_value(study.analysis),
        )
    )


def _method(choice: MethodChoice) -> str:
    tables = {"settings": dict(choice.settings), "grid": dict(choice.grid)}
    lines = [f"{key} = {_value(table)}\n" for key, table in tables.items() if table]
    return f"\n[[method]]\nname = {_value(choice.name)}\n{''.join(lines)}"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
