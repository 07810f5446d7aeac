"""A registration on maps: locked before any cost is predicted, run, verified, and attacked."""

import io

import numpy as np
import pytest
from registration.studies import SMALL, TAMPERED, Registered

from aacbench.errors import LockError, UsageError
from aacbench.prereg.binding import bind
from aacbench.prereg.schema import parse_registration
from aacbench.run.store import commit

TEXT = """
schema = "aacbench.prereg/1"
id = "small"
title = "a small one on maps"
status = "confirmatory"
prior_exposure = "none"
[accounting]
convention = "measured/1"
[protocol]
name = "small"
kind = "context"
maps = ["terrain-5-s3"]
budgets = [8]
seeds = [1, 2]
splits = { train = 6, validation = 3, calibration = 4, test = 12 }
encoders = [{ name = "true" }, { name = "constant" }]
[protocol.queries]
random = 3
[[method]]
name = "hops"
[[method]]
name = "cells"
settings = { which = "random" }
[[prediction]]
id = "ahead"
kind = "band"
cell = { maps = "terrain-5-s3", encoder = "true", budget = 8 }
contrast = { a = "cells[which=random]", b = "dijkstra" }
low = 1
high = 99
rule = "point"
[[prediction]]
id = "regret"
kind = "band"
cell = { maps = "terrain-5-s3" }
contrast = { a = "true", b = "constant" }
estimand = "regret_pp"
low = -1000
high = -1
rule = "point"
[[prediction]]
id = "optimal"
kind = "ordering"
cell = { maps = "terrain-5-s3" }
best = "true"
among = ["true", "constant"]
estimand = "optimal_pp"
[[prediction]]
id = "admissible"
kind = "count"
equals = 0
[analysis]
profile = "maps/1"
sensitivity = ["ratio_of_means", "regret_pp"]
"""


@pytest.fixture(scope="module")
def run_on_maps(tmp_path_factory):
    root = tmp_path_factory.mktemp("maps")
    (root / "prereg").mkdir()
    (root / "prereg" / "small.toml").write_text(TEXT)
    made = Registered(root)
    assert made.call("lock") == 0
    assert made.run() == 0
    return made


@pytest.fixture
def on_maps(run_on_maps, tmp_path):
    return run_on_maps.copy(tmp_path)


def encoder_cell(registered, label="constant"):
    (cell,) = [cell for cell in registered.cells(label) if cell.key["role"] == "encode"]
    return cell


def with_other_costs(registered, cell):
    """Store the cell with other predicted costs, and digests that agree with them."""
    costs = np.load(io.BytesIO(cell.files["costs.npy"]))
    buffer = io.BytesIO()
    np.save(buffer, costs + 1)
    commit(registered.study, cell.cell_id, cell.record, {**cell.files, "costs.npy": buffer.getvalue()}, replace=True)


def test_everything_is_as_locked_and_every_prediction_is_judged(on_maps, verified):
    record = verified(on_maps)
    verdicts = {one["prediction"]["id"]: one["verdict"] for one in record["predictions"]}
    assert verdicts == dict.fromkeys(("ahead", "regret", "optimal", "admissible"), "survived")
    (costs,) = [check for check in record["checks"] if check["name"] == "costs"]
    assert (costs["status"], costs["evidence"]) == ("ok", "8 searches are on the costs of 2 encoders")
    effects = {one["prediction"]["id"]: [*one["effects"].values()] for one in record["predictions"]}
    assert {effects[name][0]["queries"] for name in ("ahead", "regret", "optimal")} == {12}  # maps, not queries


def test_the_lock_has_the_map_set_and_every_search_but_no_costs(on_maps):
    lock = bind(on_maps.files).lock
    keys = [cell["key"] for cell in lock.cells]
    encode = [key for key in keys if key["role"] == "encode"]
    assert {key["graph_digest"] for key in encode} == {lock.body["data"]["terrain-5-s3"]["graph_digest"]}
    assert {key["graph_digest"] for key in keys if key not in encode} == {""}
    assert len(keys) == len(on_maps.cells())


def test_the_ledger_has_the_digest_of_the_costs(on_maps):
    costs = [line.facts["costs"] for line in on_maps.entries() if "costs" in line.facts]
    assert sorted(costs) == sorted(encoder_cell(on_maps, name).record["costs_sha256"] for name in ("true", "constant"))


def test_costs_changed_after_the_run_are_tampering(on_maps, finds):
    with_other_costs(on_maps, encoder_cell(on_maps))
    finds(on_maps, TAMPERED, "differs from what the run recorded; it was changed")


def test_costs_changed_together_with_the_ledger_do_not_fit_the_searches(on_maps, finds):
    with_other_costs(on_maps, encoder_cell(on_maps))
    on_maps.record_again()
    finds(on_maps, TAMPERED, "was not run on the costs in cell")


@pytest.mark.parametrize("file", ["maps.csv", "truth.npy"])
def test_what_paths_truly_cost_is_evidence(on_maps, finds, file):
    cell = encoder_cell(on_maps)
    changed = cell.files[file][:-2] + b"7\n"
    commit(on_maps.study, cell.cell_id, cell.record, {**cell.files, file: changed}, replace=True)
    finds(on_maps, TAMPERED, "it was changed")


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"graph_digest": "0" * 64}, "data"),
        ({"plugin_digest": "0" * 64}, "plugin"),
        ({"params": {"x": 1}}, "parameters"),
    ],
    ids=["another map set", "another encoder", "other parameters"],
)
def test_another_map_set_or_encoder_is_refused_and_found(on_maps, finds, changes, word):
    keys = [dict(cell.key) for cell in on_maps.cells()]
    bound = bind(on_maps.files)
    bound.check_keys(keys)
    keys = [key for key in keys if key["role"] == "encode"]
    encode = next(key for key in keys if key["label"] == "constant")
    encode |= changes
    with pytest.raises(LockError, match=f"constant on terrain-5-s3 .* differs from the lock in {word}"):
        bound.check_keys(keys)
    on_maps.rekey(encoder_cell(on_maps), **changes)
    on_maps.record_again()
    finds(on_maps, TAMPERED, "was not run on the costs")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('encoder = "true", budget = 8 }', 'encoder = "true" }', "both"),
        ('encoder = "true", budget', 'encoder = "cnn", budget', "none of protocol.maps with an encoder"),
        ("budget = 8 }", "budget = 9 }", "not in protocol.budgets"),
        ('estimand = "regret_pp"', 'estimand = "reduction_of_means_pp"', "compares methods"),
        ("random = 3", "random = 3\n[protocol.certificates]\nalpha = [2.0]", "alpha"),
        ("seeds = [1, 2]", 'seeds = [1, 2]\nseed_source = "lock"', 'cannot be "lock" on maps'),
        ('encoders = [{ name = "true" }, { name = "constant" }]\n', "", "protocol.encoders is missing"),
    ],
)
def test_what_cannot_be_registered_is_told(old, new, told):
    assert old in TEXT
    with pytest.raises(UsageError, match=told):
        parse_registration(TEXT.replace(old, new, 1))


def test_encoders_are_compared_on_maps_only():
    small = SMALL.read_text()
    with pytest.raises(UsageError, match="compares encoders on maps, not methods"):
        parse_registration(small.replace("low = 0", 'estimand = "optimal_pp"\nlow = 0', 1))


def test_a_registration_of_a_protocol_on_maps_is_written_and_reads_back(tmp_path):
    from aacbench.prereg.template import new_registration
    from aacbench.protocols.reader import read_protocol

    study = read_protocol("context")
    found = parse_registration(new_registration(study, "mine", "one on maps"))
    assert (found.study.encoders, found.study.splits, found.study.maps) == (study.encoders, study.splits, study.maps)
    assert found.predictions[0].cell.graph == "terrain-12/true"
