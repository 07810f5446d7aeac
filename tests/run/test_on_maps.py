"""Studies on maps: encoders first, then searches on what they predict, by the one path of every study."""

import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli.command import command

from aacbench.library.study import open_study
from aacbench.library.study_runs import run_study
from aacbench.maps.load import load_maps
from aacbench.protocols.reader import parse_protocol, to_toml
from aacbench.reports import contextual, map_methods, statements
from aacbench.reports.figures.scope import caption_of
from aacbench.run.map_build import build_on_maps, stacked
from aacbench.run.predicted import of_cell
from aacbench.run.records import QueryPlan
from aacbench.search.networks import network

ZOO = Path(__file__).parents[1] / "plugins" / "encoders_zoo.py"
PROTOCOL = """
protocol = "tiny"
summary = "a study on a few small maps"
kind = "context"
maps = ["terrain-5"]
budgets = [8]
seeds = [1, 2]
[splits]
train = 6
validation = 3
calibration = 4
test = 5
[queries]
random = 3
[[encoders]]
name = "true"
[[encoders]]
name = "constant"
[[methods]]
name = "hops"
[[methods]]
name = "alt"
[[methods]]
name = "cells"
grid = { which = ["fps", "random"] }
"""


def written(folder, text=PROTOCOL):
    (folder / "tiny.toml").write_text(text)
    return folder / "tiny.toml"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("maps")
    return run_study(written(folder), out=folder / "study", workers=1, rebuild=True)


def cells_of(study, label):
    return [cell for cell in study.contents.planned_cells() if cell.key["label"] == label]


def test_every_cell_is_ok_and_encoders_come_first(study):
    assert study.contents.summary().outcomes == {"ok": len(study.contents.plan["cells"])}
    encoders = [cell.cell_id for cell in study.contents.encode_cells()]
    assert study.contents.plan["cells"][: len(encoders)] == encoders
    assert len(encoders) == 2  # they claim that the seed changes nothing


def test_true_costs_lead_to_optimal_paths_and_constant_ones_do_not(study):
    true, constant = contextual.encoder_rows(study.contents.encode_cells())
    assert (true.optimal, true.regret, true.match, true.jaccard, true.oracle) == (100.0, 0.0, 100.0, 1.0, True)
    assert constant.regret > 20
    rows = map_methods.method_rows(study.contents.planned_cells())
    on_true = [row for row in rows if row.graph.endswith("/true")]
    assert {(row.true_optimal, row.true_regret, row.above_true) for row in on_true} == {(100.0, 0.0, 0.0)}
    assert any(row.above_true > 0 for row in rows if row.graph.endswith("/constant"))


def test_all_methods_find_paths_of_the_same_predicted_cost(study):
    for graph in ("terrain-5/true", "terrain-5/constant"):
        found = [cell.queries["cost"] for cell in study.contents.planned_cells() if cell.key["graph"] == graph]
        assert len(found) == 1 + 1 + 1 + 2 * 2
        for costs in found:
            assert costs.tolist() == found[0].tolist()


def test_labels_save_expansions_and_corner_queries_are_apart(study):
    table = study.table()
    on_true = table[table["graph"] == "terrain-5/true"].set_index("method")["test"]
    assert on_true["cells[which=fps]"] < on_true["hops"] < on_true["dijkstra"]
    (alt,) = [cell for cell in cells_of(study, "alt") if cell.key["graph"] == "terrain-5/true"]
    assert alt.key["splits"] == ["corner", "test"]
    assert np.bincount(alt.queries["split"] == "test").tolist() == [5, 15]
    assert alt.record["means"].keys() == {"corner", "test"}


def test_rows_about_true_costs_agree_with_the_maps(study):
    (alt,) = [cell for cell in cells_of(study, "alt") if cell.key["graph"] == "terrain-5/constant"]
    columns = map_methods.context_columns(alt)
    assert columns["map"].tolist() == [*range(5), *np.repeat(range(5), 3)]
    assert (columns["true_cost"] >= columns["true_optimum"]).all()
    maps = load_maps("terrain-5", {"train": 6, "validation": 3, "calibration": 4, "test": 5}).splits["test"]
    labels = (maps.paths.astype(int) * maps.costs).sum(axis=(1, 2))
    assert columns["true_optimum"][:5].tolist() == labels.tolist()


def test_the_page_begins_with_the_encoder_of_least_regret(study):
    rows = [row for row in contextual.encoder_rows(study.contents.encode_cells()) if not row.oracle]
    best = min(rows, key=lambda row: row.regret)
    told = contextual.lead(study.contents)
    assert f"On terrain-5, the paths of {best.encoder} have regret {best.regret:.2f} %" in told
    assert " true has " not in told


def test_predictions_of_a_map_set_are_not_called_graphs(study, tmp_path):
    assert command("report", study.path, "--out", tmp_path / "report") == 0
    page = (tmp_path / "report" / "report.html").read_text()
    assert "On terrain-5 as 2 encoders predict it at 8 B/v" in page
    headings = re.findall("<h3>(.*?)</h3>", page)
    assert headings[:3] == ["Encoders", "Expansions of methods", "Statements about true costs"]
    assert "A graph is a map set as one encoder predicts it." in page
    caption = caption_of(study.contents.planned_cells())
    assert caption.startswith("predictions terrain-5/true, terrain-5/constant; ")
    assert "15 test queries a prediction" in caption


def test_certificates_are_verified_and_statements_made_where_there_are_maps_enough(study):
    for cell in study.contents.planned_cells():
        columns = map_methods.context_columns(cell)
        assert set(columns["certificate"][columns["split"] == "test"]) == {1}
        assert not columns["certificate"][columns["split"] == "corner"].any()
    rows = statements.statement_rows(study.contents.encode_cells(), (0.05, 0.4))
    assert {row.statement.bound for row in rows if row.statement.alpha == 0.05} == {None}
    (true,) = [row for row in rows if (row.encoder, row.statement.kind, row.statement.alpha) == ("true", "regret", 0.4)]
    assert (true.statement.bound, true.statement.held, true.statement.broken) == (1.0, 1.0, False)
    assert (true.cells()["state"], rows[0].cells()["state"]) == ("", "not available")


def test_a_certificate_that_fails_makes_the_cell_wrong(study, monkeypatch, tmp_path):
    from aacbench.library.running import config_of
    from aacbench.plugins.manager import load_plugins
    from aacbench.run.measure import run_cell
    from aacbench.run.rebuild import stored_job

    (cell,) = [cell for cell in cells_of(study, "alt") if cell.key["graph"] == "terrain-5/true"]
    job = stored_job(config_of(study.path, load_plugins((), {"AACBENCH_PLUGINS": ""})), cell)
    job = replace(job, bundles=tmp_path / "a" / "b")
    assert run_cell(job).outcome == "ok"
    monkeypatch.setattr("aacbench.run.map_rows.verify", lambda *_: "It rises.")
    result = run_cell(job)
    assert (result.outcome, result.reason) == ("wrong", "A certificate does not hold: It rises.")


def test_bounds_scaled_by_the_band_are_admissible_where_it_holds(study):
    scales = statements.safe_scales(study.contents.encode_cells(), 0.4)
    rows = map_methods.method_rows(study.contents.planned_cells(), scales)
    assert {row.scaled_above_true for row in rows if row.graph.endswith("/true")} == {0.0}
    constant = [row for row in rows if row.graph.endswith("/constant")]
    assert all(row.scaled_above_true < 50 for row in constant)
    assert any(row.above_true > 0 for row in constant)


def test_columns_about_bounds_and_ties_follow_from_the_rows(study):
    rows = {(row.graph, row.method): row for row in map_methods.method_rows(study.contents.planned_cells())}
    assert {row.violations for row in rows.values()} == {0}
    for (graph, method), row in rows.items():
        cells = [cell for cell in cells_of(study, method) if cell.key["graph"] == graph]
        columns = [map_methods.of_split(map_methods.context_columns(cell)) for cell in cells]
        above = np.concatenate([one["h_source_excess"] for one in columns])
        assert row.sources_above_true == pytest.approx(100 * (above > 0).mean())
        assert row.excess == pytest.approx(above.mean() / 20480)
        assert row.proofs == sum((one["certificate"] == 1).sum() for one in columns) == 15 * len(cells)
    assert rows["terrain-5/constant", "dijkstra"].tied is None
    assert rows["terrain-5/true", "alt"].tied == 0.0  # paths of one true cost
    (base,) = [cell for cell in cells_of(study, "dijkstra") if cell.key["graph"] == "terrain-5/constant"]
    (alt,) = [cell for cell in cells_of(study, "alt") if cell.key["graph"] == "terrain-5/constant"]
    costs = [map_methods.of_split(map_methods.context_columns(cell))["true_cost"] for cell in (base, alt)]
    assert rows["terrain-5/constant", "alt"].tied == pytest.approx(100 * (costs[0] != costs[1]).mean())
    assert rows["terrain-5/constant", "alt"].tied > 0


def test_neural_astars_measures_compare_with_hops_on_true_costs(study):
    rows = {(row.graph, row.method): row for row in map_methods.method_rows(study.contents.planned_cells())}
    assert (rows["terrain-5/true", "hops"].opt, rows["terrain-5/true", "hops"].exp) == (100.0, 0.0)
    (hops,) = [cell for cell in cells_of(study, "hops") if cell.key["graph"] == "terrain-5/true"]
    (alt,) = [cell for cell in cells_of(study, "alt") if cell.key["graph"] == "terrain-5/constant"]
    own, plain = (cell.queries["expanded"][cell.queries["split"] == "corner"] for cell in (alt, hops))
    found, encoder = rows["terrain-5/constant", "alt"], contextual.encoder_rows(study.contents.encode_cells())[1]
    assert found.exp == pytest.approx(100 * np.maximum(1 - own / plain, 0).mean())
    assert 0 < found.opt < 100
    assert found.hmean == pytest.approx(2 / (1 / found.opt + 1 / found.exp))
    without = map_methods.method_rows(cell for cell in study.contents.planned_cells() if cell.key["label"] != "hops")
    assert {row.exp for row in without} == {None}
    assert encoder.optimal is not None


def test_regret_is_told_in_several_ways(study):
    _, row = contextual.encoder_rows(study.contents.encode_cells())
    columns = map_methods.of_split(contextual.map_columns(study.contents.encode_cells()[1]))
    ratio = columns["true_cost"] / columns["true_optimum"]
    assert row.regret == pytest.approx(100 * (ratio.mean() - 1))
    assert row.summed_regret == pytest.approx(
        100 * (columns["true_cost"].sum() / columns["true_optimum"].sum() - 1), abs=1e-9
    )
    assert row.worst == pytest.approx(100 * (ratio.max() - 1))
    for percent in (1, 5, 10):
        assert getattr(row, f"within_{percent}") == 100 * (ratio <= 1 + percent / 100).mean()


def test_chebyshev_takes_no_bytes_and_claims_nothing(study, tmp_path):
    few = run_study(written(tmp_path), methods="chebyshev,hops", out=tmp_path / "study", workers=1)
    rows = {(row.graph, row.method): row for row in map_methods.method_rows(few.contents.planned_cells())}
    # On constant costs of 1 a step costs what it counts; terrain has cells of 0.8.
    assert rows["terrain-5/constant", "chebyshev"].violations == 0
    assert rows["terrain-5/true", "chebyshev"].violations > 0
    assert {cell.outcome for cell in cells_of(few, "chebyshev")} == {"ok"}
    assert {cell.record["bytes"]["arrays"] == [] for cell in cells_of(few, "chebyshev")} == {True}


def test_the_adapter_equals_building_map_by_map(study):
    from aacbench.contract.method import BuildContext
    from aacbench.maps.atlas import atlas
    from aacbench.plugins.in_workers import MethodOf
    from aacbench.queries.splits import no_queries
    from aacbench.run.shared import Pools

    found = of_cell(study.contents.encode_cells()[0])
    alt, params = MethodOf()("alt"), {"K": 3, "labels": "exact", "pool": "fps"}
    together = build_on_maps(found, network(atlas(found.costs["test"])), alt, params, 0, QueryPlan(random=1))
    for number, costs in enumerate(found.costs["test"]):
        net = network(atlas(costs[None]))
        none = no_queries()
        context = BuildContext(network=net, params=params, seed=0, train=none, validation=none, pools=Pools(net))
        own = alt.build(context).arrays["rows"]
        assert np.array_equal(together.arrays["rows"][25 * number : 25 * number + 25], own)


def test_what_cannot_be_stacked_is_unsupported():
    from aacbench.contract.method import LabelHeuristic, MaxHeuristic, ScalarHeuristic

    one, other = (LabelHeuristic({"rows": np.zeros((4, k), int)}, "differential", {"both": k}) for k in (1, 2))
    table = LabelHeuristic({"rows": np.zeros((4, 1), int), "table": np.zeros(3)}, "differential")
    assert "other settings" in stacked([one, other], 4).reason
    assert "'table' does not have a row" in stacked([table, table], 4).reason
    assert "without arrays" in stacked([ScalarHeuristic(max)], 4).reason
    assert "different parts" in stacked([MaxHeuristic((one,)), MaxHeuristic((one, one))], 4).reason
    both = stacked([MaxHeuristic((one, other))] * 3, 4)
    assert [part.arrays["rows"].shape for part in both.parts] == [(12, 1), (12, 2)]


def test_predictions_from_a_file_give_the_same_rows(study, tmp_path):
    (encoder,) = [cell for cell in study.contents.encode_cells() if cell.key["method"] == "constant"]
    (tmp_path / "costs.npy").write_bytes(encoder.files["costs.npy"])
    again = run_study(
        written(tmp_path), encoders=f"from-file[path={tmp_path / 'costs.npy'}]", out=tmp_path / "study", workers=1
    )
    for label in ("hops", "alt", "cells[which=random]"):
        stored = [cell for cell in cells_of(study, label) if cell.key["graph"].endswith("/constant")]
        copied = cells_of(again, label)
        assert [cell.files for cell in stored] == [cell.files for cell in copied]
        assert set(copied[0].files) == {"queries.csv", "context.csv"}


def test_another_file_under_the_same_name_is_another_cell(study, tmp_path):
    costs = np.ones((9, 5, 5))
    np.save(tmp_path / "costs.npy", costs)
    options = {"encoders": f"from-file[path={tmp_path / 'costs.npy'}]", "methods": "hops", "workers": 1}
    first = run_study(written(tmp_path), out=tmp_path / "study", **options)
    np.save(tmp_path / "costs.npy", 2 * costs)
    second = run_study(written(tmp_path), out=tmp_path / "study", **options)
    (one,), (other,) = first.contents.encode_cells(), second.contents.encode_cells()
    assert one.cell_id != other.cell_id
    assert of_cell(other).costs["test"].min() == 2 * 10240
    assert of_cell(one).costs["train"].shape == (0, 5, 5)  # the file has those for tests and calibration alone


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (np.ones((8, 5, 5)), "this study needs numbers of shape (9, 5, 5) or (18, 5, 5)"),
        (np.ones((9, 5, 5), dtype="U1"), "this study needs numbers of shape"),
        (np.zeros((9, 5, 5)), "The predicted cost of cell (0, 0) of map 0 is 0.0, not positive"),
        (np.full((9, 5, 5), np.nan), "is nan, not positive"),
        (np.full((9, 5, 5), 1e9), "225 predicted costs are not from 1/10240 to"),
    ],
)
def test_a_file_that_does_not_fit_is_an_error_with_its_reason(tmp_path, array, told):
    np.save(tmp_path / "costs.npy", array)
    study = run_study(
        written(tmp_path),
        encoders=f"from-file[path={tmp_path / 'costs.npy'}]",
        methods="hops",
        out=tmp_path / "study",
        workers=1,
    )
    (encoder,) = study.contents.encode_cells()
    assert encoder.outcome == "error"
    assert told in encoder.record["reason"]
    skipped = study.contents.planned_cells()
    assert {cell.outcome for cell in skipped} == {"skipped"}
    assert told in skipped[0].record["reason"]


BAD = {
    "nan": "The predicted cost of cell (1, 2) of map 0 is nan",
    "zero": "of map 0 is 0.0, not positive",
    "flat": "float64 of shape (5, 5) for one image; it must return numbers of shape (1, 5, 5)",
    "counting": "Map 7 was predicted twice, with other costs",
    "remembering": "The saved model predicts other costs than the process that trained it",
    "closing": "The function closing.<locals>.predict is not at the top of a module",
    "failing": "ValueError: no idea",
    "nothing": "train must return a Model, not a NoneType",
    "greedy": "must be a NumPy array, not a NoneType",
    "sleepy": "The cell took longer than its limit of 3 seconds",
}


@pytest.fixture(scope="module")
def zoo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("zoo")
    return run_study(
        written(folder),
        encoders=",".join(["brightness", "huge", *BAD]),
        methods="hops",
        seeds="1",
        plugins=ZOO,
        out=folder / "study",
        workers=2,
        time_limit=3,
    )


@pytest.mark.parametrize("name", BAD)
def test_a_bad_encoder_fails_with_its_reason_and_alone(zoo, name):
    (cell,) = [cell for cell in zoo.contents.encode_cells() if cell.key["method"] == name]
    assert cell.outcome == ("timeout" if name == "sleepy" else "error")
    assert BAD[name] in cell.record["reason"]
    assert {cell.outcome for cell in zoo.contents.planned_cells() if cell.key["graph"].endswith(f"/{name}")} == {
        "skipped"
    }


def test_a_good_encoder_of_a_plugin_is_trained_and_counted(zoo):
    (cell,) = [cell for cell in zoo.contents.encode_cells() if cell.key["method"] == "brightness"]
    assert cell.outcome == "ok"
    assert cell.record["bytes"]["total"] == 8 + 8  # an array of one float, and a setting
    assert cell.record["build"]["facts"] == {"maps": 6}
    assert cell.record["learns_from"] == "costs"


def test_costs_beyond_the_limit_are_a_fact_of_a_plugin(zoo):
    (cell,) = [cell for cell in zoo.contents.encode_cells() if cell.key["method"] == "huge"]
    assert (cell.outcome, cell.record["clipped"]) == ("ok", 18 * 25)


def test_an_encoder_with_other_bytes_for_the_same_seed_is_wrong_when_built_again(tmp_path):
    study = run_study(
        written(tmp_path),
        encoders="restless",
        methods="hops",
        seeds="1",
        plugins=ZOO,
        out=tmp_path / "study",
        rebuild=True,
        workers=1,
    )
    (cell,) = study.contents.encode_cells()
    assert cell.outcome == "wrong"
    assert "the array 'noise' is different" in cell.record["reason"]


def test_a_study_goes_on_where_it_stopped(study, capsys):
    again = run_study(study.path.parent / "tiny.toml", out=study.path, workers=1)
    assert again.contents.plan == study.contents.plan
    assert ": ok" not in capsys.readouterr().err


def test_a_cell_can_be_replayed_and_the_study_reported(study, capsys, tmp_path):
    (cell,) = [cell for cell in cells_of(study, "alt") if cell.key["graph"] == "terrain-5/true"]
    assert command("replay", cell.cell_id, "--study", study.path) == 0
    capsys.readouterr()
    assert command("report", study.path, "--out", tmp_path / "report") == 0
    told = capsys.readouterr().out
    assert "true (oracle)" in told
    assert "3 random queries on each test map" in told
    assert "true (oracle)" in (study.path / "derived" / "results.md").read_text()
    assert command("status", study.path, "--cells") == 0
    assert "encode" in capsys.readouterr().out
    encoder = study.contents.encode_cells()[0]
    for words in (("replay", encoder.cell_id), ("export", encoder.cell_id, tmp_path / "copy")):
        assert command(*words, "--study", study.path) == 2
        assert "is that of the encoder true on terrain-5" in capsys.readouterr().err


def test_the_heuristic_of_a_cell_can_be_asked_on_its_maps(study, tmp_path):
    from aacbench.errors import UsageError
    from aacbench.library.heuristic import load_bundle

    (cell,) = [cell for cell in cells_of(study, "alt") if cell.key["graph"] == "terrain-5/true"]
    h = study.heuristic(cell.cell_id)
    assert h.route(0, 24).cost == cell.queries["cost"][0]
    assert h.counterexample([24]) is None
    assert command("export", cell.cell_id, tmp_path / "copy", "--study", study.path) == 0
    with pytest.raises(UsageError, match="give the graph that atlas makes of"):
        load_bundle(tmp_path / "copy")
    assert load_bundle(tmp_path / "copy", h.graph)(0, 24) == h(0, 24)


def test_the_plan_says_what_follows(tmp_path, capsys):
    assert command("run", "--protocol", written(tmp_path), "--dry-run", "--out", tmp_path / "none") == 0
    assert "hops, alt, cells will be run at 8 B/v" in " ".join(capsys.readouterr().out.split())
    assert not (tmp_path / "none").exists()


def test_labels_that_do_not_fit_are_unsupported_and_hops_runs(tmp_path):
    few = run_study(written(tmp_path), encoders="true", budgets="2", out=tmp_path / "few", workers=1)
    outcomes = {cell.key["label"]: cell.outcome for cell in few.contents.planned_cells()}
    assert outcomes["hops"] == outcomes["dijkstra"] == "ok"
    assert outcomes["alt"] == outcomes["cells[which=fps]"] == "unsupported"
    many = run_study(
        written(tmp_path), encoders="true", budgets="104", methods="cells", out=tmp_path / "many", workers=1
    )
    (told,) = {cell.record["reason"] for cell in cells_of(many, "cells[which=fps]")}
    assert "26 cells cannot be chosen from the 25 cells of a map" in told


def test_methods_for_maps_refuse_graphs(tmp_path):
    study = run_study(graphs="p7", methods="hops,cells", budgets="8", seeds="1", out=tmp_path / "study", workers=1)
    reasons = {cell.record["reason"] for cell in study.contents.planned_cells() if cell.outcome != "ok"}
    assert reasons == {"It needs maps: run a protocol of the kind context"}


def test_an_encoder_that_learns_from_paths_needs_labels(tmp_path):
    from aacbench.maps.files import write_folder

    write_folder(load_maps("terrain-5", {"train": 6, "validation": 4, "calibration": 4, "test": 5}), tmp_path / "maps")
    for path in (tmp_path / "maps").glob("*_shortest_paths.npy"):
        path.unlink()
    study = run_study(
        written(tmp_path),
        maps=f"mapset:{tmp_path / 'maps'}",
        encoders="greedy,true",
        methods="hops",
        plugins=ZOO,
        seeds="1",
        out=tmp_path / "study",
        workers=1,
    )
    greedy, true = study.contents.encode_cells()
    assert greedy.outcome == "unsupported"
    assert "has no shortest paths, and greedy learns from them" in greedy.record["reason"]
    (row,) = contextual.encoder_rows([true])
    assert (true.outcome, row.optimal, row.match, row.jaccard) == ("ok", 100.0, None, None)


REFUSED = {
    'kind = "context"\n': ("", 'maps, encoders and edges need kind = "context"'),
    'maps = ["terrain-5"]\n': ("", "maps is missing."),
    "budgets = [8]\n": ('budgets = [8]\ngraphs = ["p7"]\n', "graphs cannot be given"),
    "seeds = [1, 2]\n": ('seeds = [1]\nselection = "retrospective"\n', "every setting of a grid is reported"),
    "random = 3\n": ('mode = "strata"\n', "queries.mode cannot be 'strata' on maps"),
    "train = 6\n": ("train = 0\n", "splits.train must be a whole number of at least 1"),
    'name = "true"\n': ('name = "ture"\n', "Unknown encoder 'ture'; did you mean 'true'?"),
    'name = "constant"\n': ('name = "constant"\nsettings = { x = 1 }\n', "Encoder 'constant' has no parameter 'x'"),
    'protocol = "tiny"\n': (
        'protocol = "tiny"\ntraffic = ["arcs[share=0.05,factor=3]"]\n',
        "traffic cannot be used on maps",
    ),
    'grid = { which = ["fps", "random"] }\n': (
        '[[variants]]\nname = "fifo"\nsearch = "tie=fifo"\n',
        "variants cannot be used on maps",
    ),
    "random = 3": ("random = 3\n[queries2]\nx = 1\n", "Unknown key"),
}


@pytest.mark.parametrize("line", REFUSED)
def test_a_wrong_protocol_is_refused_in_a_sentence(tmp_path, capsys, line):
    instead, told = REFUSED[line]
    assert line in PROTOCOL
    path = written(tmp_path, PROTOCOL.replace(line, instead, 1))
    assert command("run", "--protocol", path, "--out", tmp_path / "study") == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "study").exists()


def test_a_study_on_maps_is_refused_on_a_cluster(tmp_path, capsys):
    words = ("--executor", "dask", "--scheduler", "tcp://127.0.0.1:1")
    assert command("run", "--protocol", written(tmp_path), *words, "--out", tmp_path / "study") == 2
    assert "Studies on maps run on this machine only; leave out --scheduler." in capsys.readouterr().err
    assert not (tmp_path / "study").exists()


def test_workers_of_dask_on_this_machine_write_the_same_cells(study, tmp_path):
    pytest.importorskip("distributed")
    options = {"executor": "dask", "encoders": "constant", "methods": "hops,alt", "seeds": "1", "workers": 1}
    other = run_study(written(tmp_path), out=tmp_path / "study", **options)
    for label in ("hops", "alt"):
        (stored,) = [cell for cell in cells_of(study, label) if cell.key["graph"].endswith("/constant")]
        (found,) = cells_of(other, label)
        assert found.files == stored.files
    assert other.contents.encode_cells()[0].files == study.contents.encode_cells()[1].files


def test_more_maps_than_there_are_is_refused(tmp_path, capsys):
    assert command("maps", "make", "terrain-5", "--out", tmp_path / "m", "--train", 9, "--val", 8, "--test", 4) == 0
    code = command(
        "run", "--protocol", written(tmp_path), "--maps", f"mapset:{tmp_path / 'm'}", "--out", tmp_path / "s"
    )
    assert code == 2
    assert "has 4 test maps, not 5; lower splits.test to 4" in capsys.readouterr().err


def test_a_protocol_on_maps_reads_back_as_it_is_written():
    study = parse_protocol(PROTOCOL)
    assert parse_protocol(to_toml(study)) == study
    assert study.queries.random == 3
    assert study.selection == "none"


def test_stored_predictions_are_plain_arrays(study):
    encoder = study.contents.encode_cells()[0]
    costs = np.load(io.BytesIO(encoder.files["costs.npy"]))
    assert costs.dtype == np.int32
    assert costs.shape == (5 + 4 + 6 + 3, 5, 5)
    assert encoder.record["predicted"] == {"test": 5, "calibration": 4, "train": 6, "validation": 3}


def test_a_trained_encoder_needs_torch_and_its_predictions_do_not(tmp_path):
    """The saved model predicts in a process that never trained; the costs it leaves are all that a search needs."""
    import os
    import subprocess
    import sys

    options = {"methods": "hops,cells", "seeds": "1", "workers": 1}
    encoders = "cnn[epochs=1,batch=3]"
    trained = run_study(written(tmp_path), encoders=encoders, out=tmp_path / "trained", rebuild=True, **options)
    (encoder,) = trained.contents.encode_cells()
    assert encoder.outcome == "ok"
    assert encoder.record["clipped"] == 0
    (tmp_path / "costs.npy").write_bytes(encoder.files["costs.npy"])
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "torch.py").write_text("raise ImportError('torch is blocked')\n")
    code = "import sys; from aacbench.cli import main; main(sys.argv[1:])"
    words = ["run", "--protocol", "tiny.toml", "--encoders", "from-file[path=costs.npy]", "--methods", "hops,cells"]
    words += ["--seeds", "1", "--workers", "1", "--out", "copied"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "without")}
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    copied = open_study(tmp_path / "copied").contents.planned_cells()
    stored = trained.contents.planned_cells()
    assert len(stored) == 4
    assert [cell.files for cell in stored] == [cell.files for cell in copied]


def test_statistics_count_maps_not_queries(study):
    from aacbench.reports.statistics import analyse
    from aacbench.run.matched import unit_expansions

    (hops,) = [cell for cell in cells_of(study, "hops") if cell.key["graph"] == "terrain-5/true"]
    tests = hops.queries["split"] == "test"
    by_map = unit_expansions(hops)
    assert list(by_map) == list(range(5))
    assert by_map[0] == hops.queries["expanded"][tests][:3].sum()
    table = analyse(study.contents, "cells[which=random]", "cells[which=fps]", None, None, light=True)
    assert {cell.effect.queries for cell in table.cells} == {5}
    assert any("A query here is a map" in note for note in table.warnings)


def test_dijkstras_cells_of_several_seeds_are_one_baseline(zoo):
    from aacbench.run.matched import Side, unit_expansions

    (base,) = [cell for cell in cells_of(zoo, "dijkstra") if cell.key["graph"] == "terrain-5/brightness"]
    one = Side("dijkstra", "g", 8.0, (base,))
    two = Side("dijkstra", "g", 8.0, (base, base))
    assert two.base() == one.base() == unit_expansions(base)
    assert one.rows().deterministic
    assert not two.rows().deterministic


def test_encoders_are_compared_map_by_map(zoo):
    pairs = contextual.encoder_pairs(zoo.contents.encode_cells())
    assert {(pair.a, pair.b) for pair in pairs} == {("brightness", "huge")}
    rows = {row.encoder: row for row in contextual.encoder_rows(zoo.contents.encode_cells())}
    tables = {name: contextual.map_columns(cell) for name in ("brightness", "huge") for cell in encoders_of(zoo, name)}
    costs = {name: table["true_cost"][table["split"] == "test"].sum() for name, table in tables.items()}
    least = tables["huge"]["true_optimum"][tables["huge"]["split"] == "test"].sum()
    wanted = 100 * (costs["brightness"] - costs["huge"]) / least
    assert float(pairs[0].cells()["regret A - B, points"]) == pytest.approx(wanted, abs=0.01)
    assert rows["failing"].outcome == "error"
    assert "no idea" in rows["failing"].reason


def encoders_of(study, name):
    return [cell for cell in study.contents.encode_cells() if cell.key["method"] == name]


def test_a_share_has_wilsons_interval():
    low, high = contextual.wilson(1.0, 100)
    assert (round(low, 3), round(high, 3)) == (0.963, 1.0)
    low, high = contextual.wilson(0.5, 4)
    assert (round(low, 2), round(high, 2)) == (0.15, 0.85)


def test_the_figure_shows_the_map_with_the_largest_regret(zoo):
    from aacbench.reports.figures.prediction import predicted

    (cell,) = encoders_of(zoo, "brightness")
    found = predicted(cell)
    columns = contextual.map_columns(cell)
    regrets = (columns["true_cost"] / columns["true_optimum"])[columns["split"] == "test"]
    assert found.number == regrets.argmax()
    assert found.true_cost / found.true_optimum == regrets.max()
    assert found.image.shape == (40, 40, 3)
    assert len(found.expanded[1]) < len(found.expanded[0])
    axes = zoo.figure("prediction").axes
    assert len(axes) == 5
    assert [axes[place].get_xlabel() for place in (1, 2)] == [
        f"white {costs.min():.3g}, darkest {costs.max():.3g}" for costs in (found.truth, found.costs)
    ]


def test_the_maps_of_a_plugin_are_used_in_workers(tmp_path):
    few = PROTOCOL.replace('"terrain-5"', '"own:maps"')
    for line in ("train = 6", "validation = 3", "calibration = 4", "test = 5"):
        few = few.replace(line, f"{line.split()[0]} = 2")
    good = ZOO.with_name("good.py")
    study = run_study(
        written(tmp_path, few), encoders="own-flat", methods="hops", plugins=good, out=tmp_path / "study", workers=1
    )
    assert study.contents.summary().outcomes == {"ok": 3}
    (encoder,) = study.contents.encode_cells()
    assert encoder.key["graph"] == "own:maps"
    assert encoder.record["predicted"] == dict.fromkeys(("test", "calibration", "train", "validation"), 2)
