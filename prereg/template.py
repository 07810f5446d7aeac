"""A new registration to fill in: the study of a protocol as TOML, with a comment on each decision."""

from aacbench.prereg.schema import TAG
from aacbench.protocols.reader import method_table, toml_lines, toml_value
from aacbench.run.records import BASELINE, CONTEXT, MAP_KEYS, Study

ALT_AGAIN = "alt-pool"  # chooses alt's landmarks, so a prediction about the two says nothing

HEAD = """\
# A registration. Fill in every TODO, check everything else, then: aacbench prereg plan, lock, run, verify.
# After the lock, comments, white space and the order of keys may change, but no value.

schema = {schema}
id = {id}
title = {title}

# confirmatory: predicted before any result was seen; exploratory: after; replication: somebody else's prediction.
status = "confirmatory"

# Which results of these methods on these graphs you have seen already. "None" is a valid answer if it is true.
prior_exposure = "TODO"

[accounting]
# measured/1 charges every deployed byte; directionality-aware/1 is the paper's accounting.
convention = {convention}

[protocol]
name = {protocol}
{places}budgets = {budgets}  # bytes per vertex
seeds = {seeds}
search = {search}
selection = {selection}  # how one setting of a grid is selected
measure = {measure}
{traffic}exclusions = "unanswered"  # queries that one side did not answer are left out and counted
# "lock" draws the queries from the lock's digest and a public text given to `run`, such as the value of a beacon.
seed_source = "fixed"

[protocol.queries]
{queries}"""
PREDICTIONS = """\

# Kinds: band (low to high), equivalence (within a margin), ordering (which is best), count (violations of a claim).
# Rules: "interval" needs the whole 95 % interval inside (90 % for equivalence), "point" only the estimate.
[[prediction]]
id = "first"
kind = "band"
why = "TODO"
cell = {cell}
contrast = {{ a = {a}, b = {b} }}
estimand = "reduction_of_means_pp"  # reduction of a minus that of b in percentage points; above 0, a is ahead
low = 0
high = 5
direction = "a"
rule = "interval"

[[prediction]]
id = "admissible"
kind = "count"
of = "admissibility"
equals = 0

[analysis]
profile = {analysis}
# families = {{ main = ["first"] }}  # p-values are corrected within each family
# sensitivity = ["ratio_of_means"]  # also reported, but decides nothing

[power]
# sd = 1.0  # of the effect over seeds, if known; else use `aacbench prereg plan --pilot STUDY`
# sd_queries = 10.0  # of the effect over queries, which counts where both methods are deterministic
target = 0.8

[anchors]
# required = ["rfc3161"]  # ssh, git-tag or rfc3161; needed before the run
"""


def new_registration(study: Study, name: str, title: str) -> str:
    """Return the text of a registration of this study."""
    a, *others = (choice.label for choice in study.methods if choice.name != BASELINE)
    b = next((label for label in others if label != ALT_AGAIN), BASELINE)
    values = {
        **study.record(),
        "budgets": [int(budget) if budget == int(budget) else budget for budget in study.budgets],
        "schema": TAG,
        "id": name,
        "title": title,
        "a": a,
        "b": b,
    }
    written = {key: toml_value(value) for key, value in values.items()}
    budget = values["budgets"][0]
    if study.kind == CONTEXT:
        places = {key: values[key] for key in MAP_KEYS if key in values and key != "encoders"}
        places["encoders"] = [method_table(choice) for choice in study.encoders]
        encoder = study.encoders[0].settled()[0].label
        cell = {"maps": study.maps[0], "encoder": encoder, "budget": budget}
    else:
        places = {"graphs": values["graphs"]}
        cell = {"graph": study.searched_graphs()[0].name, "budget": budget}
    traffic = toml_lines({"traffic": study.traffic}) if study.traffic else ""
    head = HEAD.format(
        **{**written, "queries": toml_lines(values["queries"]), "traffic": traffic, "places": toml_lines(places)}
    )
    methods = "".join("\n[[method]]\n" + toml_lines(method_table(choice)) for choice in study.methods)
    return head + methods + PREDICTIONS.format(**written, cell=toml_value(cell))
