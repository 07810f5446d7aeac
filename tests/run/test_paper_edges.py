"""Studies on maps with the AAC paper's edges: the mean of two cells, times the length of the step."""

import numpy as np
import pytest
from cli.command import command

from aacbench.library.study_runs import run_study
from aacbench.maps.atlas import atlas
from aacbench.protocols.reader import parse_protocol, read_protocol, to_toml
from aacbench.reports import beside_paper, contextual, map_methods, statements
from aacbench.run.map_paths import corner_paths, corner_walks, distances_to
from aacbench.search import dijkstra
from aacbench.search.networks import network

PROTOCOL = """
protocol = "replay"
summary = "the paper's edges on a few small maps"
kind = "context"
maps = ["terrain-8"]
edges = "paper"
budgets = [16]
seeds = [1]
[splits]
train = 4
validation = 2
calibration = 4
test = 20
[queries]
random = 3
[[encoders]]
name = "true"
[[encoders]]
name = "gap-paper"
settings = { epochs = 2, batch = 2 }
[[methods]]
name = "hops"
[[methods]]
name = "cells"
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper-edges")
    (folder / "replay.toml").write_text(PROTOCOL)
    return run_study(folder / "replay.toml", out=folder / "study", workers=1)


def test_no_band_is_stated_where_paths_are_not_sums_of_cells(study):
    rows = statements.statement_rows(study.contents.encode_cells(), (0.4,))
    kinds = {row.statement.kind for row in rows}
    assert "regret" in kinds
    assert "band" not in kinds


def test_all_cells_are_ok_and_search_float_weights(study):
    assert study.contents.summary().outcomes == {"ok": 2 + 2 * 3}
    for cell in study.contents.planned_cells():
        assert cell.queries["cost"].dtype.kind == "f"
        assert not map_methods.context_columns(cell)["certificate"].any()  # sums of floats are not exact
    assert {row.violations for row in map_methods.method_rows(study.contents.planned_cells())} == {0}


def test_true_costs_lead_to_the_papers_paths_which_are_not_the_data_sets(study):
    rows = {row["row"]: row for row in beside_paper.rows(study.contents.encode_cells())}
    true = rows["terrain-8/true"]
    assert (true["match %"], true["jaccard of edges %"], true["regret"]) == ("100.00", "100.00", "0.000")
    (optimal, *_) = [row.optimal for row in contextual.encoder_rows(study.contents.encode_cells())]
    assert float(true["optimal %"]) == optimal < 90
    on_true = [row for row in map_methods.method_rows(study.contents.planned_cells()) if row.graph.endswith("/true")]
    assert {row.above_true for row in on_true} == {row.sources_above_true for row in on_true} == {0.0}
    assert on_true[0].true_regret > 0
    (cells,) = [
        cell
        for cell in study.contents.planned_cells()
        if (cell.key["label"], cell.key["graph"]) == ("cells", on_true[0].graph)
    ]
    assert max(cells.record["context"]["largest_ratios"]) == pytest.approx(1)  # a landmark's own distances are exact


def test_printed_rows_and_the_corrected_one_are_beside_it(study):
    rows = beside_paper.rows(study.contents.encode_cells())
    told = {row["row"]: row for row in rows}
    assert told["aac-contextual encoder=resnet alpha_cost=10 compressor frozen"]["match %"] == "20.3 ± 2.4"
    assert told["aac-contextual encoder=cnn encoder frozen"]["regret"] == "1.012 ± 0.000"
    assert told["blackbox"]["match %"] == "54.7"
    assert rows[-1]["optimal %"] == "96.0 ± 0.3"
    (smooth,) = beside_paper.smooth_rows(study.contents.encode_cells())
    assert float(smooth["beta 1"]) < 0 < float(smooth["exact"])
    assert "96.0 ± 0.3" in (study.path / "derived" / "results.md").read_text()


def test_the_encoder_of_the_recipe_is_measured(study):
    (cell,) = [cell for cell in study.contents.encode_cells() if cell.key["method"] == "gap-paper"]
    assert (cell.record["build"]["facts"]["steps"], cell.record["learns_from"]) == (2, "costs")
    assert cell.record["edges"] == cell.key["edges"] == "paper"


def test_a_cell_can_be_replayed_and_the_figure_drawn(study):
    cell = study.contents.planned_cells()[-1]
    assert command("replay", cell.cell_id, "--study", study.path) == 0
    assert len(study.figure("prediction").axes) == 5


def test_walks_weigh_what_a_search_says():
    costs = np.random.default_rng(1).integers(1, 50, (6, 7, 7))
    net = network(atlas(costs, "paper"))
    starts = 49 * np.arange(6)
    found = dijkstra(net, starts, starts + 48).cost
    walks = corner_walks(costs, "paper")
    np.testing.assert_allclose([beside_paper.walk_weight(*one) for one in zip(costs, walks, strict=True)], found)
    assert corner_paths(costs, "paper").sum(axis=(1, 2)).tolist() == [len(walk) for walk in walks]
    np.testing.assert_allclose([distances_to(one, "paper", 48)[0] for one in costs], found)


def test_edges_overlap_by_steps_not_by_cells():
    assert beside_paper.edge_overlap(np.array([0, 1, 5]), np.array([0, 1, 5])) == 1.0
    assert beside_paper.edge_overlap(np.array([0, 1, 5]), np.array([0, 5])) == 0.0
    assert beside_paper.edge_overlap(np.array([0, 1, 5]), np.array([0, 1, 2])) == 1 / 3


def test_the_switch_is_written_only_where_it_is_used():
    study = parse_protocol(PROTOCOL)
    assert parse_protocol(to_toml(study)) == study
    assert "edges" not in read_protocol("context").record()
    assert read_protocol("context-paper").record()["edges"] == "paper"


@pytest.mark.parametrize(
    ("line", "instead", "told"),
    [
        ('edges = "paper"', 'edges = "mean"', "choose one of cells, paper"),
        ('kind = "context"\nmaps = ["terrain-8"]', 'graphs = ["p7"]', "maps, encoders and edges need kind"),
    ],
)
def test_a_wrong_rule_is_refused(tmp_path, capsys, line, instead, told):
    (tmp_path / "replay.toml").write_text(PROTOCOL.replace(line, instead))
    assert command("run", "--protocol", tmp_path / "replay.toml", "--out", tmp_path / "study") == 2
    assert told in capsys.readouterr().err
