"""One landmark in NumPy."""

import numpy as np

from aacbench.contract.method import BatchHeuristic
from aacbench.labels import label_rows, of_landmarks


def many(arrays, us, t):
    """The triangle inequality for many vertices."""
    print("this must not reach whoever waits for an answer")
    return np.abs(arrays["rows"][us, 0] - arrays["rows"][t, 0])


def build(network):
    """The labels of vertex 0."""
    return BatchHeuristic({"rows": label_rows(of_landmarks(network, [0]))}, many)
