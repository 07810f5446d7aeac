"""The output of verify: numbers, cautions, counts without an audit, files that cannot be written."""

import re
from dataclasses import replace

import pytest
from cli.command import command

from aacbench.cli import report_files
from aacbench.cli.prereg_verify import paragraph
from aacbench.prereg.evaluate import MissingError, Rows, forest, judge_all
from aacbench.prereg.files import files_of, shipped
from aacbench.prereg.schema import read_registration
from aacbench.prereg.verify import verify
from aacbench.run.store import Cell
from aacbench.stats.inference import FEW_SEEDS_WARNING


def printed(done, capsys):
    assert done.call("verify") == 0
    return capsys.readouterr().out


def test_the_table_has_the_numbers_of_the_forest_plot(done, capsys):
    said = printed(done, capsys)
    rows = done.results()["forest"]
    assert [row["cell"] for row in rows] == ["ahead: alt against random-subset", "same: alt against random-subset"]
    for row in rows:
        name = row["cell"].partition(":")[0]
        (line,) = re.findall(rf"^\| {name} .*$", said, flags=re.MULTILINE)
        cells = [cell.strip() for cell in line.split("|")]
        shown = [" to ".join(f"{end:.2f}" for end in row[key]) for key in ("interval95", "interval90")]
        assert cells[4:7] == [f"{row['estimate']:.2f}", *shown]


def test_the_table_is_made_from_the_rows_of_the_plot(done, capsys, monkeypatch):
    """Another number in the plot is another number in the table and in the sentence."""
    monkeypatch.setattr(
        "aacbench.cli.prereg_verify.forest", lambda judged: [replace(row, estimate=77.77) for row in forest(judged)]
    )
    assert printed(done, capsys).count("77.77") == 4


def test_the_figure_of_the_page_has_the_verdicts_and_no_second_margin(done):
    (registered,) = report_files._registered(done.study)
    (drawing,) = registered.drawings
    judged = [one for one in verify(done.files, done.study).judged if one.effects]
    for row, one in zip(drawing.alt.partition(": ")[2].split("; "), judged, strict=True):
        assert row.startswith(f"{one.prediction.id}: ")
        assert row.removesuffix(".").endswith(one.verdict)
    legend = [text.get_text() for legend in drawing.figure.legends for text in legend.get_texts()]
    assert "margin" not in legend


def test_an_exact_difference_is_a_point_in_the_plot_too():
    registration = read_registration(shipped()["ogbn-arxiv"])
    judged = judge_all(registration, _Same(registration))
    assert {row.interval95 for row in forest(judged)} == {(0.0, 0.0)}


class _Same:
    """Every method as good as every other."""

    def __init__(self, registration):
        self.profile = registration.profile

    def effect(self, place, a, b, profile, unit):
        from aacbench.stats import effect_of_observations, estimand

        return effect_of_observations([80.0, 81.0], [80.0, 81.0], profile, estimand(unit))

    def violations(self, of, labels, place):
        return 0

    def not_counted(self, of, labels, place):
        return {}


def test_few_seeds_are_told_with_each_verdict(done, capsys):
    assert printed(done, capsys).count(FEW_SEEDS_WARNING) == 2


def test_a_single_seed_is_told_with_the_verdict(done, capsys):
    registration = read_registration(done.toml)
    (one,) = [cell for cell in done.cells("random-subset") if cell.key["seed"] == 1]
    judged = judge_all(registration, Rows([one, *done.cells("alt"), *done.cells("dijkstra")]))
    (caution,) = {found.caution for found in judged[0].effects.values()}
    assert caution.startswith("There is only one seed")


@pytest.mark.parametrize("profile", ["crossed/1", "crossed/2"])
def test_fewer_bytes_are_judged_and_told_under_the_newer_profile(done, profile):
    registration = read_registration(done.toml)
    newer = replace(registration, study=replace(registration.study, analysis=profile))
    cells = [cell if cell.key["label"] != "alt" else with_bytes(cell, 12.0) for cell in done.cells()]
    (judged,) = [one for one in judge_all(newer, Rows(cells)) if one.prediction.id == "ahead"]
    text = paragraph(judged, "confirmatory")
    if profile == "crossed/1":
        assert "Not evaluated: alt has 12.0 B/v and the closest of random-subset" in text
        assert "more than 5 % apart" in text
    else:
        assert "With 12.0 B/v against" in text
        assert judged.verdict == "survived"


def with_bytes(cell, held):
    record = {**cell.record, "bytes": {**cell.record["bytes"], "measured_per_vertex": held}}
    return Cell(cell.cell_id, record, cell.files)


def test_what_was_not_audited_is_not_counted(done):
    cell = done.cells("alt")[0]
    without = {**cell.record, "audit": {"pairs": 12, "arcs": 0, "violations": {}, "consistent": None}}
    assert Rows([cell]).violations("violations", (), None) == 0
    with pytest.raises(MissingError, match="alt on grid-8 was not audited"):
        Rows([Cell(cell.cell_id, without, cell.files)]).violations("violations", (), None)


@pytest.mark.parametrize(
    ("of", "consistent", "count"),
    [
        ("admissibility", False, 0),
        ("consistency", False, 17801),
        ("optimality", False, 2),
        ("violations", False, 2),  # it openly does not claim to be consistent
        ("violations", True, 17803),
    ],
)
def test_each_claim_is_counted_apart(done, of, consistent, count):
    cell = done.cells("alt")[0]
    audit = {**cell.record["audit"], "violations": {"admissible": 0, "consistent": 17801, "optimal": 2}}
    record = {**cell.record, "audit": audit, "claims": {**cell.record["claims"], "consistent": consistent}}
    assert Rows([Cell(cell.cell_id, record, cell.files)]).violations(of, (), None) == count


@pytest.mark.parametrize(
    ("of", "admissible", "count"),
    [("admissibility", False, 5), ("optimality", False, 2), ("violations", False, 0), ("violations", True, 7)],
)
def test_what_breaks_no_claim_is_no_violation(done, of, admissible, count):
    cell = done.cells("alt")[0]
    audit = {**cell.record["audit"], "violations": {"admissible": 5, "consistent": 0, "optimal": 2}}
    record = {**cell.record, "audit": audit, "claims": {**cell.record["claims"], "admissible": admissible}}
    rows = Rows([Cell(cell.cell_id, record, cell.files)])
    assert rows.violations(of, (), None) == count
    told = {} if admissible or of != "violations" else {"admissibility": ["alt"]}
    assert rows.not_counted(of, (), None) == told


@pytest.mark.parametrize("consistent", [False, True])
def test_what_is_not_claimed_is_told_as_not_counted(done, consistent):
    cells = [
        Cell(cell.cell_id, {**cell.record, "claims": {**cell.record["claims"], "consistent": consistent}}, cell.files)
        for cell in done.cells("random-subset")
    ]
    judged = judge_all(read_registration(done.toml), Rows([*cells, *done.cells("alt")]))[-1]
    told = "" if consistent else " (random-subset does not claim consistency: not counted)"
    assert f"Predicted: 0 violations of what each method claims. Counted: 0{told}. Verdict: survived." in paragraph(
        judged, "confirmatory"
    )


def test_what_was_never_run_is_told_in_one_line(locked, capsys):
    assert locked.call("verify") == 7
    said = capsys.readouterr().out
    _, _, never, *_ = said.splitlines()
    assert never == "  never run   the file, its lock and the ledger are intact"
    assert "\n  ok " not in said
    assert "valuated" not in said
    assert len(locked.results()["predictions"]) == 3


def test_without_a_file_the_last_lines_are_a_summary(done, capsys, monkeypatch):
    other = done.toml.with_name("other.toml")
    other.write_text(done.toml.read_text().replace('id = "small"', 'id = "other"'))
    assert command("prereg", "lock", other) == 0
    monkeypatch.chdir(done.root)
    capsys.readouterr()
    assert command("prereg", "verify") == 7
    last = capsys.readouterr().out.splitlines()[-2:]
    assert last == ["other: never run.", "small: intact; 2 survived; 1 falsified, magnitude."]


def files_in(folder):
    return {path for path in folder.rglob("*") if path.is_file()}


def test_verdicts_are_written_to_the_study_and_not_beside_the_registration(done):
    before = files_in(done.root)
    assert done.call("verify", "--json") == 0
    assert files_in(done.root) == before
    assert done.call("verify") == 0
    assert files_in(done.root) - before == {done.study / "derived" / "small.verify.json"}


def test_without_a_study_verdicts_are_written_to_the_current_folder(locked, tmp_path, monkeypatch):
    (here := tmp_path / "here").mkdir()
    monkeypatch.chdir(here)
    before = files_in(locked.files.folder)
    assert locked.call("verify") == 7
    assert files_in(locked.files.folder) == before
    assert files_in(here) == {here / "small.verify.json"}


def test_what_is_found_is_told_where_nothing_may_be_written(done, capsys):
    done.files.verdicts(done.study).mkdir()
    said = printed(done, capsys)
    assert "small.verify.json could not be written" in said
    assert "Verdict by the point rule: survived." in said


def test_the_replication_needs_no_ledger():
    assert verify(files_of(shipped()["ogbn-arxiv"])).notes == ()
