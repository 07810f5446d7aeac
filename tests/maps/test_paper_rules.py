"""Two rules of the AAC paper's appendix, and why they are not used for anything but its replay."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aacbench.labels.exact import distances
from aacbench.maps.atlas import atlas
from aacbench.maps.grid import solve
from aacbench.maps.smooth import smooth_distances
from aacbench.maps.terrain import generate
from aacbench.run.map_paths import corner_paths
from aacbench.search.networks import network


def test_the_papers_edges_lead_to_other_paths_than_the_data_sets_rule():
    maps = generate(12, 42, "test", 300)
    costs = (corner_paths(maps.costs, "paper").astype(int) * maps.costs).sum(axis=(1, 2))
    optima = solve(maps.costs).optima
    assert 0.20 < (costs == optima).mean() < 0.40
    assert 0.02 < (costs / optima - 1).mean() < 0.06


def test_smooth_distances_are_no_lower_bounds_but_far_below_zero():
    graph = atlas(np.full((1, 12, 12), 7), edges="paper")
    exact = distances(network(graph), 0)[-1] / 10
    assert round(float(exact), 2) == 10.89  # 11 diagonal steps of cost 0.7
    tenths = {beta: float(smooth_distances(graph, 0, beta / 10)[-1] / 10) for beta in (1, 5, 30)}
    assert tenths[1] < -100
    assert tenths[5] < 0 < tenths[30] < exact


@given(seed=st.integers(0, 1000), side=st.integers(3, 5), beta=st.sampled_from([1.0, 4.0, 30.0]))
def test_the_differentiable_smooth_distances_are_those_of_the_plain_loop(seed, side, beta):
    import torch

    from aacbench.plugins.encoders.gap_paper.smooth import smooth_distances as differentiable

    rng = np.random.default_rng(seed)
    costs, anchors = rng.integers(1, 20, (2, side, side)), rng.integers(0, side * side, 3)
    tensor = torch.tensor(costs, dtype=torch.float64, requires_grad=True)
    found = differentiable(tensor, torch.from_numpy(anchors), beta)
    for number, one in enumerate(costs):
        graph = atlas(one[None], edges="paper")
        for place, anchor in enumerate(anchors):
            wanted = smooth_distances(graph, int(anchor), beta)
            np.testing.assert_allclose(found[number, place].detach().numpy(), wanted, rtol=1e-9, atol=1e-9)
    found.sum().backward()
    assert torch.isfinite(tensor.grad).all()
    assert (tensor.grad > 0).any()
