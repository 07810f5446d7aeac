"""The encoder gap-paper: the paper's recipe, which learns, stops when it stalls, and follows from its seed."""

import numpy as np

from aacbench.maps.load import load_maps
from aacbench.plugins.encoders import gap_paper
from aacbench.plugins.in_workers import EncoderOf
from aacbench.plugins.settings import resolve
from aacbench.run.encode import train_context

ENCODER = EncoderOf()("gap-paper")
MAPS = load_maps("terrain-4", {"train": 8, "validation": 2, "calibration": 2, "test": 2})


def context_of(seed=1, **settings):
    params = resolve(ENCODER, {"epochs": 6, "batch": 4, **settings})
    return train_context(MAPS, ENCODER.sees(params), params, seed, False, lambda _: None)


def test_the_defaults_are_those_of_the_recipe():
    wanted = {"alpha": 1.0, "epochs": 100, "batch": 24, "patience": 15, "lr": 1e-3, "K": 5, "m": 8}
    assert resolve(ENCODER, {}) == wanted


def test_it_predicts_positive_costs_and_follows_from_its_seed():
    one, same, other = (ENCODER.train(context_of(seed)) for seed in (3, 3, 4))
    images = MAPS.splits["test"].images
    costs = one.predict(one.arrays, one.settings, images)
    assert costs.shape == (2, 4, 4)
    assert (costs > 0).all()
    assert all(np.array_equal(one.arrays[name], same.arrays[name]) for name in one.arrays)
    assert any(not np.array_equal(one.arrays[name], other.arrays[name]) for name in one.arrays)
    assert one.facts["parameters"] == 93_377
    np.testing.assert_allclose(one.predict(one.arrays, one.settings, images[1:])[0], costs[1], rtol=1e-5)


def test_the_loss_falls_and_training_stops_when_it_stalls():
    short, long = (ENCODER.train(context_of(epochs=epochs, patience=100)).facts["loss"] for epochs in (1, 40))
    assert long < short
    stalled = ENCODER.train(context_of(epochs=40, lr=0.0, patience=3, alpha=1e6)).facts
    assert stalled["steps"] < 40


def test_true_distances_are_by_the_papers_edges():
    from aacbench.plugins.encoders.gap_paper.recipe import _true_distances

    costs = np.ones((2, 4, 4))
    costs[1] *= 3
    found = _true_distances(costs, np.array([[[0, 0], [0, 5]], [[15, 3], [15, 5]]]))
    np.testing.assert_allclose(found, [[3 * 2**0.5, 3.0], [9 * 2**0.5, 0.0]])


def test_more_anchors_than_cells_and_no_torch_are_unsupported(monkeypatch):
    assert "17 anchors cannot be chosen from the 16 cells" in ENCODER.train(context_of(K=17)).reason
    monkeypatch.setattr(gap_paper, "torch_missing", lambda: True)
    assert "torch is not installed" in gap_paper.train(context_of()).reason


def test_progress_is_told(monkeypatch):
    from dataclasses import replace

    from aacbench.plugins.encoders.gap_paper import recipe

    told = []
    monkeypatch.setattr(recipe, "TELL_SECONDS", 0.0)
    recipe.train(replace(context_of(epochs=2), progress=told.append))
    assert len(told) == 2
    assert "step 1 of 2" in told[0]
