"""Query sets: how they are drawn, split, stratified and named by digest."""

from aacbench.queries.record import QuerySet

__all__ = ["QuerySet"]
