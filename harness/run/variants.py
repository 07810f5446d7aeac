"""A study under each of its variants: some of its values changed, in cells beside its own."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from aacbench.run.records import BASE as BASE
from aacbench.run.records import QueryPlan, Study, Variant
from aacbench.search.policy import Policy, parse


def every(study: Study) -> Iterator[tuple[Variant, Study]]:
    """Yield the study as it is, and then under each variant."""
    for variant in (Variant(name=BASE), *study.variants):
        yield variant, under(study, variant)


def under(study: Study, variant: Variant) -> Study:
    return replace(
        study,
        queries=_queries(study.queries.record(), variant.record()),
        search=_policy(study.search, variant.record()).name,
        convention=variant.convention or study.convention,
        seeds=variant.seeds or study.seeds,
        variants=(),
    )


def queries_and_policy(study: Mapping[str, Any], name: str) -> tuple[QueryPlan, Policy]:
    """Return the queries and the search of a stored study, given by its record, under the variant of this name."""
    found: Mapping[str, Any] = next((one for one in study.get("variants", ()) if one["name"] == name), {})
    return _queries(study["queries"], found), _policy(study["search"], found)


def _queries(base: Mapping[str, Any], variant: Mapping[str, Any]) -> QueryPlan:
    return QueryPlan(**{**base, **variant.get("queries", {})})


def _policy(base: str, variant: Mapping[str, Any]) -> Policy:
    own = variant.get("search", "")
    return parse(own, parse(base)) if own else parse(base)
