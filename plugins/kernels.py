"""What an author's compiled functions import: the scratch of a query, and its count of work."""

from aacbench.search.scratch import add_work, get, is_set, put

__all__ = ["add_work", "get", "is_set", "put"]
