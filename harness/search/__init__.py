"""Search: compiled Dijkstra and A*, their policies, and the plain-Python tier."""

from aacbench.search.answers import Answers
from aacbench.search.batch import dijkstra, search
from aacbench.search.networks import Network, network
from aacbench.search.policy import POLICIES, Policy, parse

__all__ = ["POLICIES", "Answers", "Network", "Policy", "dijkstra", "network", "parse", "search"]
