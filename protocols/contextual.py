"""What a protocol of the kind `context` implies, and what it cannot have."""

from dataclasses import replace

from aacbench.errors import UsageError
from aacbench.run.records import CONTEXT, FILE, SCENARIO, STRATA, Study

RANDOM_QUERIES = 8  # on each map, unless told


def on_maps(study: Study) -> Study:
    """Return the study with queries on each map, and with every setting of a grid reported."""
    if study.kind != CONTEXT:
        raise UsageError(f'maps, encoders and edges need kind = "{CONTEXT}"; a study of graphs has none of them.')
    if study.graphs:
        raise UsageError(f'graphs cannot be given with kind = "{CONTEXT}"; it has maps in their place.')
    for key in ("maps", "encoders"):
        if not getattr(study, key):
            raise UsageError(f"{key} is missing.")
    if study.selection == "retrospective":
        raise UsageError('selection cannot be "retrospective" on maps; every setting of a grid is reported.')
    if study.queries.mode in (STRATA, SCENARIO, FILE):
        raise UsageError(f"queries.mode cannot be {study.queries.mode!r} on maps; use uniform or hotspot.")
    for key in ("variants", "traffic"):
        if getattr(study, key):
            raise UsageError(f"{key} cannot be used on maps; graphs can have it.")
    random = RANDOM_QUERIES if study.queries.random is None else study.queries.random
    return replace(study, selection="none", queries=replace(study.queries, random=random))
