"""The document on controls names every switch of the protocol, and its table has what the protocol gives."""

import re
from pathlib import Path

import pytest
from small_studies import config

from aacbench.protocols import read_protocol
from aacbench.reports.controls import RATIOS, controls_of
from aacbench.run.driver import run_study
from aacbench.run.study import read_study

TEXT = (Path(__file__).parents[2] / "docs" / "controls.md").read_text(encoding="utf-8")
STUDY = read_protocol("controls")


def printed():
    """The table on New York: variant by variant, the numbers of ALT."""
    rows = [
        line.strip("|").split("|") for line in TEXT.partition("## New York")[2].splitlines() if line.startswith("|")
    ]
    return {name.strip(): [cell.strip() for cell in cells] for _, name, *cells in rows[2:]}


def test_every_switch_and_estimand_is_explained_and_printed():
    explained = TEXT.partition("## What is switched")[2].partition("## New York")[0]
    for variant in STUDY.variants:
        assert f"`{variant.name}`" in explained
        assert variant.factor in explained
    assert all(f"`{name}`" in explained for name in RATIOS)
    assert list(printed()) == ["nothing", *(variant.name for variant in STUDY.variants), *RATIOS]


def test_every_confound_is_switched_alone_and_all_of_them_together():
    alone, together = STUDY.variants[:-1], STUDY.variants[-1]
    switched = [variant.record().keys() - {"name", "factor", "methods"} for variant in alone]
    assert all(len(keys) == 1 for keys in switched)
    assert together.record().keys() - {"name", "factor", "methods"} == set().union(*switched) - {"queries"}


def test_the_sentences_have_the_numbers_of_the_table():
    rows = printed()
    fair, fifo = rows["nothing"][0], rows["fifo"][0]
    assert f"from {fair} to {fifo} %" in TEXT
    assert re.search(rf"paper's {rows['as-published'][0]} % for ALT", TEXT)


@pytest.mark.data
@pytest.mark.exhaustive
def test_alt_on_new_york_is_as_printed(tmp_path):
    from dataclasses import replace

    study = replace(STUDY, graphs=("dimacs:NY",), seeds=(42,))
    run_study(study, config(tmp_path / "study", workers=2))
    rows = printed()
    for line in controls_of(read_study(tmp_path / "study")).lines:
        if line.b.reduction is not None:
            assert rows[line.variant or "nothing"][0] == f"{line.b.reduction:.2f}"
