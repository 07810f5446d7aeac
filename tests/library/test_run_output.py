"""What a run says while it goes on: every line names one cell and no other."""

from pathlib import Path

import small_studies as studies

from aacbench.library.run_output import Progress
from aacbench.run.driver import run_study
from aacbench.run.records import MethodChoice


def test_candidates_are_told_apart_and_from_the_one_that_was_chosen(tmp_path: Path, capsys) -> None:
    study = studies.study(MethodChoice(name="alt", settings={"labels": "exact"}, grid={"K": (1, 2, 4)}))
    with Progress() as progress:
        run_study(study, studies.config(tmp_path, notify=progress.notify))
    said = [line.partition("] ")[2] for line in capsys.readouterr().err.splitlines() if "B/v" in line]
    assert sorted(said) == [
        "grid-8 alt[labels=exact,K=1] (a candidate) at 16 B/v, seed 1: ok",
        "grid-8 alt[labels=exact,K=2] (a candidate) at 16 B/v, seed 1: ok",
        "grid-8 alt[labels=exact,K=4] (a candidate) at 16 B/v, seed 1: ok",
        "grid-8 alt[labels=exact,K=4] (chosen) at 16 B/v, seed 1: ok",
        "grid-8 dijkstra at 16 B/v, seed 1: ok",
    ]
