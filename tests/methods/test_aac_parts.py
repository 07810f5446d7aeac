"""Parts of the compressor: the smooth maximum and its theorem, rows, regularisers, statistics."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from late import Late
from support import example_count

torch = Late("torch")
compressor = Late("aacbench.plugins.methods.aac.compressor")
training = Late("aacbench.plugins.methods.aac.training")

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20)


@given(VALUES, st.floats(1e-3, 1e3))
def test_the_smooth_maximum_is_below_the_maximum_by_at_most_what_the_theorem_says(values, sharpness):
    x = torch.tensor(values, dtype=torch.float64)
    found, slack = float(compressor.smooth_maximum(x, sharpness, dim=0)), 1e-12 * max(1, *map(abs, values))
    slack += 1e-14 / sharpness
    assert found <= max(values) + slack
    assert found >= max(values) - math.log(len(values)) / sharpness - slack
    assert float(compressor.smooth_minimum(x, sharpness, dim=0)) >= min(values) - slack


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=8), st.floats(0.1, 10))
def test_the_smooth_maximum_is_its_formula(values, sharpness):
    formula = math.log(sum(math.exp(sharpness * x) for x in values)) - math.log(len(values))
    x = torch.tensor(values, dtype=torch.float64)
    assert float(compressor.smooth_maximum(x, sharpness, dim=0)) == pytest.approx(formula / sharpness, abs=1e-9)


def test_a_sharp_maximum_is_the_maximum_and_passes_gradients():
    x = torch.tensor([1.0, 4.0, 2.0], dtype=torch.float64, requires_grad=True)
    value = compressor.smooth_maximum(x, 1e4, dim=0)
    value.backward()
    assert value.item() == pytest.approx(4.0, abs=2e-4)
    assert x.grad.tolist() == pytest.approx([0, 1, 0])
    with pytest.raises(ValueError, match="positive"):
        compressor.smooth_maximum(x, 0.0, dim=0)


@example_count(25)
@given(st.integers(0, 9), st.integers(1, 30), st.floats(0.05, 5))
def test_selected_rows_are_one_hot_and_carry_a_gradient(rows, columns, temperature):
    logits = compressor.block_sparse(rows, columns).requires_grad_()
    (selected,) = compressor.select([logits], temperature)
    assert selected.shape == (rows, columns)
    assert selected.dtype == torch.float64
    assert torch.equal(selected.detach().round(), torch.nn.functional.one_hot(selected.argmax(1), columns).double())
    (selected * torch.randn(rows, columns)).sum().backward()
    assert logits.grad.shape == logits.shape


@example_count(25)
@given(st.integers(1, 12), st.integers(1, 40))
def test_a_block_sparse_row_begins_in_its_block(rows, columns):
    (picks,) = compressor.deployed([compressor.block_sparse(rows, columns)])
    width = max(1, columns // rows)
    for row, pick in enumerate(picks[: columns // width]):
        assert row * width <= pick < (row + 1) * width
    (first,) = compressor.deployed([compressor.identity(min(rows, columns), columns)])
    assert first == tuple(range(min(rows, columns)))


@example_count(25)
@given(st.integers(1, 6), st.integers(1, 6), st.booleans(), st.integers(0, 999))
def test_the_compressed_bound_never_exceeds_the_teachers(rows, columns, directed, seed):
    """For one-hot rows and for soft ones: each term is a convex combination of the teacher's."""
    torch.manual_seed(seed)
    differences = [torch.randn(columns, 50, dtype=torch.float64) * 100 for _ in range(1 + directed)]
    ceiling = compressor.teacher(differences)
    stacked = torch.cat(differences) if directed else differences[0].abs()
    assert torch.equal(ceiling, stacked.clamp(min=0).max(dim=0).values)
    soft = [torch.randn(rows, columns, dtype=torch.float64).softmax(dim=1) for _ in differences]
    hard = compressor.select([torch.randn(rows, columns) for _ in differences], 0.5)
    for selections in (soft, hard):
        assert (compressor.bound(selections, differences) <= ceiling + 1e-9).all()


def test_regularisers_by_hand():
    even, sure = torch.zeros(2, 4), torch.tensor([[50.0, 0, 0, 0], [0, 50.0, 0, 0]])
    assert float(compressor.entropy([even])) == pytest.approx(math.log(4))
    assert float(compressor.entropy([sure, even])) == pytest.approx(math.log(4), abs=1e-6)
    assert float(compressor.overlap([even])) == pytest.approx(4 / 16)
    assert float(compressor.overlap([sure])) == pytest.approx(0, abs=1e-6)
    assert float(compressor.overlap([sure[:1]])) == 0


def test_the_soft_covering_radius_is_near_the_true_one_and_falls_when_rows_cover():
    table = torch.from_numpy(np.abs(np.arange(0, 100, 10)[:, None] - np.arange(100)[None]).astype(np.float64))
    rows = torch.nn.functional.one_hot(torch.tensor([[0, 1], [2, 7]]), 10).double()
    radii = [float(compressor.covering_radius([one], [table])) for one in rows]
    exact = [float(table[picks].min(dim=0).values.max()) for picks in ([0, 1], [2, 7])]
    assert radii == pytest.approx(exact, abs=math.log(100) / 10)
    assert radii[1] < radii[0]


def test_the_temperature_falls_from_one_to_a_tenth():
    assert [training.Schedule(epochs=3).temperature(e) for e in range(3)] == pytest.approx([1, 0.1**0.5, 0.1])
    assert training.Schedule(epochs=1).temperature(0) == 1


def test_statistics_by_hand():
    facts = training.statistics(((0, 5, 5), (1, 2)), ((0, 1, 5), (1, 0)))
    assert facts == {"rows": 5, "unique_ratio": 4 / 5, "rows_beyond_first": 3, "rows_moved": 2}
