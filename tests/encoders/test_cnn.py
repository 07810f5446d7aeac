"""The encoder cnn: the gradients of its losses, what it may see, and that it learns, the same way each time."""

from dataclasses import replace

import numpy as np
import pytest

from aacbench.contract.method import Unsupported
from aacbench.maps.grid import solve
from aacbench.maps.load import load_maps
from aacbench.plugins.encoders import cnn
from aacbench.plugins.in_workers import EncoderOf
from aacbench.plugins.settings import resolve
from aacbench.run.encode import train_context

COUNTS = {"train": 60, "validation": 4, "calibration": 4, "test": 20}
ENCODER = EncoderOf()("cnn")


def context_of(seed=1, maps=None, **settings):
    params = resolve(ENCODER, {"epochs": 1, "batch": 20, **settings})
    found = maps or load_maps("terrain-6", COUNTS)
    return train_context(found, ENCODER.sees(params), params, seed, False, lambda _: None)


def predicted(model, images):
    return np.concatenate([model.predict(model.arrays, model.settings, image[None]) for image in images])


@pytest.mark.parametrize("loss", cnn.LOSSES)
def test_each_loss_sees_only_the_labels_it_learns_from(loss):
    context = context_of(loss=loss)
    assert (context.train.costs is None) == (loss in ("dbb", "fy"))
    assert context.train.paths is not None
    assert context.oracle_costs is None
    model = cnn.train(context)
    costs = predicted(model, context.validation.images)
    assert costs.shape == (4, 6, 6)
    assert (costs > 0).all()
    assert model.facts["parameters"] == (6373 if loss == "classes" else 6241)


def test_a_model_follows_from_its_seed():
    one, same, other = (cnn.train(context_of(seed)).arrays for seed in (3, 3, 4))
    assert all(np.array_equal(one[name], same[name]) for name in one)
    assert any(not np.array_equal(one[name], other[name]) for name in one)


def test_training_leaves_torch_as_it_was():
    import torch

    torch.manual_seed(5)
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    cnn.train(context_of())
    assert torch.equal(state, torch.get_rng_state())
    assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()) == (threads, False)


def test_costs_are_learnt_from_costs_and_from_paths():
    maps = load_maps("terrain-6", {**COUNTS, "train": 240})
    test = maps.splits["test"]
    constant = (solve(np.ones((1, 6, 6), int)).paths * test.costs).sum(axis=(1, 2)).sum()
    for loss, share in (("classes", 0.05), ("dbb", 0.5)):
        model = cnn.train(context_of(maps=maps, loss=loss, epochs=6))
        whole = np.rint(10240 * predicted(model, test.images)).astype(int)
        regret = (solve(whole).paths * test.costs).sum() - solve(test.costs).optima.sum()
        assert regret < share * (constant - solve(test.costs).optima.sum())


def test_snapped_costs_are_training_costs():
    context = context_of(snap=True)
    costs = predicted(cnn.train(context), context.validation.images)
    assert set(np.unique(costs)) <= {0.8, 1.2, 5.3, 7.7, 9.2}


def test_the_strided_net_has_the_same_form():
    context = context_of(net="strided", standardise=False, loss="mse")
    model = cnn.train(context)
    assert "norm_weight" not in model.arrays
    assert predicted(model, context.validation.images).shape == (4, 6, 6)


def test_too_many_classes_are_unsupported():
    maps = load_maps("terrain-6", COUNTS)
    fine = np.arange(60 * 36, dtype=np.int32).reshape(60, 6, 6) + 1
    splits = {**maps.splits, "train": replace(maps.splits["train"], costs=fine)}
    refused = cnn.train(context_of(maps=replace(maps, splits=splits)))
    assert isinstance(refused, Unsupported)
    assert "2160 distinct costs; loss=classes takes 16" in refused.reason


def test_without_torch_it_is_unsupported(monkeypatch):
    monkeypatch.setattr(cnn, "torch_missing", lambda: True)
    assert "torch is not installed" in cnn.train(context_of()).reason


def test_snap_needs_classes():
    from aacbench.errors import UsageError

    with pytest.raises(UsageError, match="Encoder 'cnn': snap needs loss=classes"):
        resolve(ENCODER, {"loss": "mse", "snap": True})


def test_progress_is_told_with_the_time_left(monkeypatch):
    from aacbench.plugins.encoders.cnn import training

    told = []
    monkeypatch.setattr(training, "TELL_SECONDS", 0.0)
    training.train(replace(context_of(loss="mse"), progress=told.append))
    assert len(told) == 3
    assert told[-1].startswith("epoch 1 of 1, loss ")
    assert told[-1].endswith(" 0 s left")


def test_the_rate_rises_and_falls_once():
    from aacbench.plugins.encoders.cnn.training import rate

    rates = [rate(step, 100, 1.0) for step in range(100)]
    top = int(np.argmax(rates))
    assert rates[top] == pytest.approx(1.0)
    assert rates[:top] == sorted(rates[:top])
    assert rates[top:] == sorted(rates[top:], reverse=True)


def grids():
    """Two ways around a block: over the top, which is the label, or below, which is cheaper by the prediction."""
    predicted = np.array([[[1.0, 2.0, 9.0], [1.0, 9.0, 2.0], [9.0, 1.0, 1.0]]])
    label = np.array([[[1, 1, 0], [0, 0, 1], [0, 0, 1]]])
    below = np.array([[[1, 0, 0], [1, 0, 0], [0, 1, 1]]])
    return predicted, label, below


def test_the_black_box_gradient_raises_what_was_found_and_lowers_the_label():
    from aacbench.plugins.encoders.cnn.losses import black_box, shortest

    costs, label, below = grids()
    assert np.array_equal(shortest(costs), below)
    gradient = black_box(costs, label.astype(float), 10.0)
    assert np.array_equal(gradient, (label - below) / 10.0)
    assert not black_box(costs, below.astype(float), 10.0).any()


def test_the_gradient_of_the_gap_is_that_of_finite_differences():
    from aacbench.plugins.encoders.cnn.losses import gap_gradient

    rng = np.random.default_rng(4)
    predicted, true = rng.uniform(1, 9, (2, 5, 5)), rng.uniform(4, 12, (2, 5, 5))
    anchors, ends = np.array([0, 4, 20, 24]), rng.integers(0, 25, (2, 12, 2))
    gaps, gradient = gap_gradient(predicted, true, anchors, ends)
    assert (gaps > 0).all()
    for at in ((0, 1, 2), (0, 4, 4), (1, 0, 3), (1, 2, 2)):
        moved = [predicted.copy() for _ in range(2)]
        moved[0][at] += 0.01
        moved[1][at] -= 0.01
        up, down = (gap_gradient(each, true, anchors, ends)[0][at[0]] for each in moved)
        assert gradient[at] == pytest.approx((up - down) / 0.02, abs=0.02)


def test_a_bound_that_exceeds_the_true_distance_has_no_gap():
    from aacbench.plugins.encoders.cnn.losses import gap_gradient

    true = np.ones((1, 4, 4))
    gaps, gradient = gap_gradient(9 * true, true, np.array([0, 3, 12, 15]), np.array([[[0, 15], [3, 12]]]))
    assert gaps.tolist() == [0.0]
    assert not gradient.any()


def test_the_gradients_of_spo_and_fenchel_young_vanish_at_the_label():
    from aacbench.plugins.encoders.cnn.losses import fenchel_young, spo

    costs, label, below = grids()
    assert np.array_equal(fenchel_young(costs, label), label - below)
    assert not fenchel_young(costs, below).any()
    assert not spo(costs, costs, below).any()
    assert np.array_equal(spo(costs, costs, label), 2.0 * (label - below))
