"""Search: compiled Dijkstra and A*, search policies, and A* in plain Python."""

from aacbench.search.astar import Answers
from aacbench.search.batch import dijkstra, search
from aacbench.search.networks import Network, network
from aacbench.search.policy import POLICIES, Policy, parse

__all__ = ["POLICIES", "Answers", "Network", "Policy", "dijkstra", "network", "parse", "search"]
