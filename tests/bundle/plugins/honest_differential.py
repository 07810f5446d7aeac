"""ALT with the built-in kernel: nothing but its rows."""

from aacbench.contract.method import LabelHeuristic
from aacbench.labels import label_rows, of_landmarks


def build(network):
    """Two landmarks, one table for both directions."""
    rows = label_rows(of_landmarks(network, [0, network.graph.vertices - 1]))
    return LabelHeuristic({"rows": rows}, "differential", {"both": 2})
