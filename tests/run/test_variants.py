"""Variants of a study: cells of their own with some values changed, run, stored and replayed like all others."""

import numpy as np
import pytest
import small_studies as studies

from aacbench.errors import UsageError
from aacbench.protocols import protocol_digest
from aacbench.protocols.reader import parse_protocol, to_toml
from aacbench.run.driver import prepare, run_study
from aacbench.run.rebuild import stored_job
from aacbench.run.replay import replay
from aacbench.run.run_config import key_of
from aacbench.run.study import read_study

HEAD = 'protocol = "small"\nsummary = "s"\ngraphs = ["grid-8"]\nbudgets = [8]\nseeds = [1, 2]\n'
REST = '[queries]\nvalidation = 3\ntest = 6\n[[methods]]\nname = "alt"\n[[methods]]\nname = "random-subset"\n'
VARIANTS = """
[[variants]]
name = "fifo"
factor = "tie-break"
search = "tie=fifo"
[[variants]]
name = "hotspot"
queries = { mode = "hotspot", test = 4 }
[[variants]]
name = "by-landmark"
settings = { label_layout = "landmark-major", K0 = 16 }
methods = ["alt"]
[[variants]]
name = "smaller-pool"
settings = { K0 = 16 }
seeds = [7]
[[variants]]
name = "in-file-order"
search = "vertex_order=file"
"""


def study(text=VARIANTS):
    return parse_protocol(HEAD + REST + text)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    root = tmp_path_factory.mktemp("variants") / "study"
    run_study(study(), studies.config(root))
    return root


def cells_of(root):
    return {
        (cell.key.get("variant", ""), cell.key["label"], cell.key["seed"]): cell
        for cell in read_study(root).planned_cells()
    }


def test_each_variant_changes_what_it_says_and_nothing_else(done):
    cells = cells_of(done)
    assert all(cell.outcome == "ok" for cell in cells.values())
    assert len(cells) == 4 * 5 + 4 - 1  # dijkstra, alt, and two seeds; under one variant a single seed
    base, fifo = cells["", "alt", 1], cells["fifo", "alt", 1]
    assert base.key["policy"] == "modern"
    assert fifo.key["policy"] == "reopen=on,tie=fifo,bpmx=off"
    differing = {key for key in fifo.key if base.key.get(key) != fifo.key[key]}
    assert differing == {"policy", "variant"}
    hotspot = cells["hotspot", "alt", 1]
    assert hotspot.key["query_digests"] != base.key["query_digests"]
    assert (hotspot.queries["split"] == "test").sum() == 4
    assert "landmark-major" in cells["by-landmark", "alt", 1].key["policy"]
    assert cells["by-landmark", "random-subset", 1].key["policy"] == "modern"
    assert cells["smaller-pool", "random-subset", 7].key["params"]["K0"] == 16
    assert cells["by-landmark", "random-subset", 2].key["params"] == cells["", "random-subset", 2].key["params"]
    assert cells["in-file-order", "dijkstra", 1].key["policy"].endswith("vertex_order=file")


def test_memory_layout_and_vertex_order_change_no_count(done):
    cells = cells_of(done)
    for variant in ("by-landmark", "in-file-order"):
        for label, seed in (("dijkstra", 1), ("alt", 1), ("random-subset", 2)):
            one, other = cells["", label, seed].queries, cells[variant, label, seed].queries
            assert all(np.array_equal(one[column], other[column]) for column in one)


def test_a_study_without_variants_has_the_digest_and_the_keys_that_it_had(tmp_path):
    plain = study("")
    assert "variants" not in plain.record()
    assert protocol_digest(plain) != protocol_digest(study())
    config = studies.config(tmp_path / "study")
    keys = []
    for each in (plain, study()):
        planned, graphs = prepare(each, config)
        keys.append([key_of(each, config, graphs, cell) for cell in planned.cells if not cell.variant])
    assert keys[0] == keys[1]
    assert not any("variant" in key for key in keys[0])


def test_the_same_run_again_keeps_every_cell(done):
    kept = []
    config = studies.config(done, notify=lambda event, facts: kept.append(event))
    run_study(study(), config)
    assert kept.count("kept") == len(cells_of(done))
    assert "cell" not in kept


def test_a_cell_of_a_variant_is_replayed_under_its_variant(done):
    cells = cells_of(done)
    config = studies.config(done)
    for name in (("hotspot", "random-subset", 2), ("by-landmark", "alt", 1)):
        lines = replay(config, cells[name])
        assert lines
        assert all(line.agrees for line in lines)
    assert stored_job(config, cells["hotspot", "alt", 1]).queries.mode == "hotspot"


def test_a_kernel_without_the_layout_is_an_error_and_not_a_silent_default(tmp_path):
    text = '[[variants]]\nname = "x"\nsettings = { label_layout = "landmark-major" }\n'
    methods = '[queries]\nvalidation = 1\ntest = 2\n[[methods]]\nname = "cdh"\n'
    root = tmp_path / "study"
    run_study(parse_protocol(HEAD + methods + text), studies.config(root))
    failed = cells_of(root)["x", "cdh", 1]
    assert failed.outcome == "error"
    assert "built-in kernel" in failed.record["reason"]


def test_variants_are_written_and_read_back():
    assert parse_protocol(to_toml(study())) == study()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[[variants]]\nname = "x"', "changes nothing"),
        ('[[variants]]\nname = "x"\nsearch = "tie=lilo"', "tie must be one of"),
        ('[[variants]]\nname = "x"\nsearch = "order=file"', "variants #1.search: Cannot read"),
        ('[[variants]]\nname = "x"\nconvention = "free/1"', "Unknown accounting convention"),
        ('[[variants]]\nname = "x"\nqueries = { mode = "file" }', r"variants #1.queries.file is missing"),
        ('[[variants]]\nname = "x"\nqueries = { modus = "file" }', "did you mean"),
        ('[[variants]]\nname = "x"\nmethods = ["alt"]\nsearch = "paper"', "settings is needed too"),
        ('[[variants]]\nname = "x"\nseeds = [1]\n[[variants]]\nname = "x"\nseeds = [2]', "repeats"),
        ("[variants]\nname = 1", r"write \[\[variants\]\]"),
    ],
)
def test_a_variant_that_makes_no_sense_is_refused(text, told):
    with pytest.raises(UsageError, match=told):
        study(text)
