"""Verdicts: the golden cases, the table of both rules, and the paper's own prediction."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli.command import command
from hypothesis import given
from hypothesis import strategies as st

from aacbench.prereg import verdicts
from aacbench.prereg.files import files_of, shipped
from aacbench.prereg.verdicts import INCONCLUSIVE, INVERTED, MAGNITUDE, NOT_EVALUATED, SURVIVED, Verdicts, in_band
from aacbench.prereg.verify import verify
from aacbench.stats import PAPER_1, effect_of_observations, estimand

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "stats.json").read_text())["prereg_verdicts"]
POINT_WORDS = {"direction_inverted": INVERTED, "below_band": MAGNITUDE, "above_band": MAGNITUDE}


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["id"])
def test_the_golden_cases(case):
    differences, band = np.array(case["inputs"]["diffs_pp"]), tuple(case["inputs"]["band"])
    unit = estimand("reduction_of_means_pp")
    found = effect_of_observations(differences, np.zeros(len(differences)), PAPER_1, unit)
    assert found.estimate == pytest.approx(case["expected"]["mean"])
    assert found.interval() == pytest.approx(case["expected"]["ci95"])
    both = in_band(found.estimate, found.interval(), band, 0)
    assert both.point == POINT_WORDS[case["expected"]["verdict_point"]]
    assert both.interval.partition(",")[0] == case["expected"]["verdict_interval"]


TABLE = [  # band 2 to 6, except where it says otherwise
    (4, (3, 5), SURVIVED, SURVIVED),
    (4, (2, 6), SURVIVED, SURVIVED),
    (2, (1, 3), INCONCLUSIVE, SURVIVED),
    (4, (1, 7), INCONCLUSIVE, SURVIVED),
    (1, (0.5, 1.5), MAGNITUDE, MAGNITUDE),
    (9, (8, 10), MAGNITUDE, MAGNITUDE),
    (1.9, (1, 2.8), INCONCLUSIVE, MAGNITUDE),
    (0, (-1, 1), MAGNITUDE, MAGNITUDE),
    (-1, (-3, 1), MAGNITUDE, INVERTED),
    (-2, (-3, -1), INVERTED, INVERTED),
    (-1, None, NOT_EVALUATED, INVERTED),
    (None, None, NOT_EVALUATED, NOT_EVALUATED),
]


@pytest.mark.parametrize(("estimate", "interval", "by_interval", "by_point"), TABLE)
def test_the_table_of_both_rules(estimate, interval, by_interval, by_point):
    assert in_band(estimate, interval, (2, 6), 0) == Verdicts(by_interval, by_point)
    # The mirror image is judged alike, and so is the same on a scale with another value of no effect.
    mirrored = None if interval is None else (-interval[1], -interval[0])
    assert in_band(None if estimate is None else -estimate, mirrored, (-6, -2), 0) == Verdicts(by_interval, by_point)
    shifted = None if interval is None else (interval[0] + 1, interval[1] + 1)
    assert in_band(None if estimate is None else estimate + 1, shifted, (3, 7), 1) == Verdicts(by_interval, by_point)


def test_a_band_around_no_effect_has_no_other_side():
    assert in_band(-5, (-6, -4), (-1, 1), 0) == Verdicts(MAGNITUDE, MAGNITUDE)


ENDS = st.integers(-20, 20)


@given(ENDS, ENDS, ENDS, ENDS)
def test_an_interval_says_exactly_one_thing(a, b, c, d):
    interval, band = tuple(sorted((a, b))), tuple(sorted((c, d)))
    verdict = verdicts.by_interval(interval, band, 0)
    inside = all(band[0] <= x <= band[1] for x in interval)
    touches = any(band[0] <= x <= band[1] for x in range(interval[0], interval[1] + 1))
    assert (verdict == SURVIVED) == inside
    assert (verdict == INCONCLUSIVE) == (touches and not inside)
    # A survivor by its interval is one by any estimate within the interval.
    if verdict == SURVIVED:
        assert all(verdicts.by_point(x, band, 0) == SURVIVED for x in range(interval[0], interval[1] + 1))


@pytest.mark.parametrize("higher", [True, False])
def test_being_ahead(higher):
    sign = 1 if higher else -1
    assert verdicts.ahead(sign * 2, tuple(sorted((sign * 1, sign * 3))), 0, higher) == Verdicts(SURVIVED, SURVIVED)
    assert verdicts.ahead(sign * 2, (-1, 3), 0, higher).interval == INCONCLUSIVE
    assert verdicts.ahead(sign * -2, tuple(sorted((sign * -1, sign * -3))), 0, higher) == Verdicts(INVERTED, INVERTED)
    assert verdicts.ahead(0, (0, 0), 0, higher) == Verdicts(INCONCLUSIVE, INVERTED)


def test_of_several_the_worst_counts():
    good, open_ = Verdicts(SURVIVED, SURVIVED), Verdicts(INCONCLUSIVE, SURVIVED)
    assert verdicts.of_all([good, open_]) == open_
    assert verdicts.of_all([open_, Verdicts(INVERTED, INVERTED)]) == Verdicts(INVERTED, INVERTED)
    assert verdicts.of_all([Verdicts(NOT_EVALUATED, SURVIVED), open_]) == Verdicts(NOT_EVALUATED, SURVIVED)


def test_the_papers_prediction_about_arxiv():
    found = verify(files_of(shipped()["ogbn-arxiv"]))
    judged = {one.prediction.id: one.verdicts for one in found.judged}
    bands = [judged[f"aac-{budget}"] for budget in (32, 64, 128)]
    assert [one.point for one in bands] == [INVERTED, MAGNITUDE, MAGNITUDE]
    assert [one.interval for one in bands] == [MAGNITUDE, INCONCLUSIVE, INCONCLUSIVE]
    assert all(judged[f"hybrid-{budget}"].point == INVERTED for budget in (32, 64, 128))
    assert judged["admissible"] == Verdicts(SURVIVED, SURVIVED)
    assert next(one.count for one in found.judged if one.prediction.id == "admissible") == 0
    assert (found.tier, found.code, found.lock) == ("T0", 0, None)
    assert found.gated() == 10
    assert set(found.standing.values()) == {"replication"}


def test_the_replication_by_its_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert command("prereg", "verify", "ogbn-arxiv") == 0
    said = capsys.readouterr().out
    assert "published observations instead of rows" in said
    assert "T0: declared" in said
    record = json.loads((tmp_path / "ogbn-arxiv.verify.json").read_bytes())
    row = next(row for row in record["forest"] if row["cell"] == "aac-32: aac against alt")
    assert row["band"] == [2, 6]
    assert row["estimate"] == pytest.approx(-1.134)
    assert len(row["seeds"]) == 5
