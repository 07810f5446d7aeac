"""Names of generated graphs: which there are, and what an impossible one says."""

import pytest

from aacbench.errors import UsageError
from aacbench.graphs.generators import describe, generate


@pytest.mark.parametrize(
    ("name", "full_name", "vertices"),
    [
        ("p7", "p7", 7),
        ("grid", "grid-64", 4096),
        ("maze", "maze-64", 4096),
        ("grid-3", "grid-3", 9),
        ("maze-3-s5", "maze-3-s5", 9),
        ("maze-s5", "maze-64-s5", 4096),
        ("road-60", "road-60", 60),
        ("road-60-s0", "road-60", 60),
        ("road-60-s12", "road-60-s12", 60),
    ],
)
def test_name_gives_the_graph(name, full_name, vertices):
    graph = generate(name)
    assert graph is not None
    assert (graph.name, graph.vertices) == (full_name, vertices)


def test_seed_in_the_name_is_used():
    assert generate("road-60-s1").digest != generate("road-60-s2").digest


@pytest.mark.parametrize("name", ["", "dimacs:NY", "road-rome", "grid-world", "road-60-s", "sbm-10k-s1", "p8", "xgrid"])
def test_name_of_no_generator_gives_none(name):
    assert generate(name) is None


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("road-3", "between 16 and 5000000 vertices, not 3"),
        ("road-99999999999", "between 16 and 5000000 vertices, not 99999999999"),
        ("road", "needs a number of vertices"),
        ("grid-0", "between 2 and 2000 cells a side, not 0"),
        ("maze-1", "between 2 and 2000 cells a side, not 1"),
        ("grid-2001", "between 2 and 2000 cells a side, not 2001"),
        ("road-" + "9" * 5000, "a number of 5000 digits"),
    ],
)
def test_impossible_value_is_refused_with_a_sentence(name, sentence):
    with pytest.raises(UsageError, match=sentence) as refused:
        generate(name)
    assert len(str(refused.value)) < 150


def test_describe_has_one_line_for_each_pattern():
    assert [pattern.split("[")[0] for pattern, _ in describe()] == [
        "sbm-10k",
        "ba-10k",
        "road-N",
        "twoway-N",
        "grid-N",
        "maze-N",
        "p7",
    ]
    assert all(line and "\n" not in line for _, line in describe())
