"""The encoder neural-astar: its differentiable search is A*, its gradient lowers the loss, and it never sees a cost."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from aacbench.maps.atlas import whole_costs
from aacbench.maps.grid import solve
from aacbench.maps.load import load_maps
from aacbench.plugins.encoders.cnn.guided import SHARE, expanded_cells
from aacbench.plugins.in_workers import EncoderOf
from aacbench.plugins.settings import resolve
from aacbench.run.encode import train_context
from aacbench.run.map_paths import corner_paths

ENCODER = EncoderOf()("neural-astar")


def plain_search(guide, most):
    """A* from the first cell to the last in plain Python: closed cells stay closed."""
    side = len(guide)
    cost, closed = {(0, 0): 0.0}, []
    while len(closed) < most:
        at = min(
            (cell for cell in cost if cell not in closed),
            key=lambda cell: cost[cell] + guide[cell] + max(side - 1 - cell[0], side - 1 - cell[1]),
        )
        closed.append(at)
        if at == (side - 1, side - 1):
            break
        for row in range(max(0, at[0] - 1), min(side, at[0] + 2)):
            for column in range(max(0, at[1] - 1), min(side, at[1] + 2)):
                through = cost[at] + guide[at]
                if (row, column) not in closed and through < cost.get((row, column), np.inf):
                    cost[row, column] = through
    return closed


@given(seed=st.integers(0, 10_000), side=st.integers(3, 9))
def test_the_differentiable_search_expands_what_a_plain_one_does(seed, side):
    guides = 0.01 + 9.9 * np.random.default_rng(seed).random((3, side, side))
    found = expanded_cells(torch.tensor(guides, dtype=torch.float32)).round()
    for guide, cells in zip(guides, found.numpy(), strict=True):
        wanted = plain_search(guide, max(1, side * side // SHARE))
        assert sorted(map(tuple, np.argwhere(cells == 1).tolist())) == sorted(wanted)


def test_the_gradient_makes_a_path_cheaper_than_what_lies_beside_it():
    path = torch.eye(8)[None]
    guide = torch.full((1, 8, 8), 5.0, requires_grad=True)
    for _ in range(30):
        loss = (expanded_cells(guide) - path).abs().mean()
        (slope,) = torch.autograd.grad(loss, [guide])
        guide = (guide - 200 * slope).clamp(0.01, 10).detach().requires_grad_()
    cells = expanded_cells(guide).round()
    assert torch.equal(cells, path)


def test_it_learns_from_paths_where_cheap_paths_are():
    maps = load_maps("terrain-6", {"train": 120, "validation": 4, "calibration": 4, "test": 40})
    params = resolve(ENCODER, {"epochs": 5, "batch": 20})
    context = train_context(maps, ENCODER.sees(params), params, 1, False, lambda _: None)
    assert context.train.costs is None
    model = ENCODER.train(context)
    test = maps.splits["test"]
    guide = np.concatenate([model.predict(model.arrays, model.settings, image[None]) for image in test.images])
    assert 0 < guide.min() < guide.max() < 10
    least = solve(test.costs).optima.sum()
    found, even = (
        (corner_paths(whole_costs(one)[0], "cells").astype(int) * test.costs).sum() - least
        for one in (guide, np.ones_like(guide))
    )
    assert found < 0.5 * even


def test_a_loss_is_not_its_setting():
    from aacbench.errors import UsageError

    with pytest.raises(UsageError, match="no parameter 'loss'"):
        resolve(ENCODER, {"loss": "mse"})


@pytest.mark.parametrize("start", [0.1, 1.0, 9.9])
def test_guidance_begins_where_it_is_told(start):
    from aacbench.plugins.encoders.cnn.network import guidance, output_for

    assert guidance(torch.full((1, 1, 1, 1), output_for(start))).item() == pytest.approx(start, rel=1e-5)
