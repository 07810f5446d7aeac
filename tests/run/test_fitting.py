"""What fits a budget is asked in workers where the code is a plugin's: whatever it does, the others are planned."""

from pathlib import Path

import pytest
import small_studies as studies
from cli.command import command

from aacbench.contract.budget import Budget
from aacbench.contract.method import Method, Unsupported
from aacbench.graphs.load import load
from aacbench.labels.graph_info import graph_info
from aacbench.run import fitting as fits
from aacbench.run.driver import prepare
from aacbench.search import network

FATAL = {
    "fit-hangs": ("timeout", "fit failed: It took longer than 6 seconds"),
    "fit-allocates": ("out-of-memory", "fit failed: It needed more memory"),
    "fit-exits-at-once": ("error", "fit failed: The worker process died (exit code 0)"),
    "fit-segfaults": ("error", "fit failed: The worker process died (signal 11"),
    "fit-returns-nothing": ("error", "fit failed: It returned a NoneType instead of parameters or Unsupported"),
    "fit-odd-keys": ("error", "fit failed: "),
    "fit-interrupts": ("error", "fit failed: KeyboardInterrupt"),
    "fit-unreadable": ("error", "fit failed: Unreadable"),
    "fit-unreadable-reason": ("error", "fit failed: "),
    "fit-hollow": ("error", "fit failed: RuntimeError: there is nothing in it"),
    "search-junk": ("error", "search failed: TypeError"),
    "search-exits": ("error", "The worker process died (exit code 7)"),
}
FINE = {"alt": "ok", "print-much": "ok", "fit-changes-what-it-is-given": "ok"}


def run(root: Path, methods: list[str], *more: str) -> int:
    sizes = ("--graphs", "grid-8", "--budgets", "16", "--queries", "5/5", "--seeds", "1", "--memory-limit", "4")
    faults = [word for file in studies.FAULTS for word in ("--plugin", file)]
    return command("run", "--methods", ",".join(methods), *faults, *sizes, "--out", root, *more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("fits") / "study"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fits, "SECONDS", 6.0)
        assert run(root, [*FATAL, *FINE]) == 1
    return root


@pytest.mark.parametrize("method", FATAL)
def test_a_fit_that_never_answers_is_an_outcome(folder: Path, method: str) -> None:
    cell = studies.by_method(folder)[method]
    outcome, reason = FATAL[method]
    assert cell.outcome == outcome
    assert reason in cell.record["reason"]


@pytest.mark.parametrize("method", FINE)
def test_the_others_are_planned_and_finish(folder: Path, method: str) -> None:
    assert studies.by_method(folder)[method].outcome == "ok"


def test_a_fit_has_nothing_of_the_plan_to_change(folder: Path) -> None:
    cell = studies.by_method(folder)["fit-changes-what-it-is-given"]
    assert (cell.key["budget"], cell.key["params"]) == (16, {"K": 3})


def test_a_dry_run_survives_and_says_so(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(fits, "SECONDS", 1.0)
    assert run(tmp_path / "none", ["fit-hangs", "fit-exits-at-once", "fit-segfaults", "alt"], "--dry-run") == 0
    said = capsys.readouterr().out
    assert "not run: fit-hangs on grid-8: timeout: fit failed: It took longer than 1 seconds" in said
    assert said.count("not run: ") == 3
    assert "K=4" in said
    assert not (tmp_path / "none").exists()


def test_built_in_methods_are_asked_without_a_worker(tmp_path: Path, monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(fits, "run_all", lambda work, jobs, *_: asked.extend(jobs) or iter(()))
    study = studies.study("alt", "random-subset")
    planned, _ = prepare(study, studies.config(tmp_path))
    assert [dict(cell.params).get("K") for cell in planned.cells] == [None, 4, 4]
    assert not asked


def test_seeds_and_repeated_settings_are_asked_once(tmp_path: Path, monkeypatch) -> None:
    asked = []
    ask = lambda work, jobs, *_: iter([(job, asked.append(job) or fits.Fitted({"K": 1}, {})) for job in jobs])  # noqa: E731
    monkeypatch.setattr(fits, "run_all", ask)
    study = studies.study("honestly-random", "print-much", seeds=(1, 2, 3), budgets=(8, 16))
    planned, _ = prepare(study, studies.config(tmp_path))
    assert len([cell for cell in planned.cells if cell.method == "honestly-random"]) == 6
    assert len(asked) == 4


@pytest.mark.parametrize(("graph", "outcome"), [("road-100", "ok"), ("ba-10k", "unsupported")])
def test_a_method_that_needs_coordinates_can_say_so(tmp_path: Path, graph: str, outcome: str) -> None:
    study = studies.study("fit-needs-coordinates", graphs=(graph,))
    planned, _ = prepare(study, studies.config(tmp_path))
    (cell,) = [cell for cell in planned.cells if cell.method == "fit-needs-coordinates"]
    assert cell.unsupported == ("" if outcome == "ok" else "it needs coordinates")


@pytest.mark.parametrize("reason", [None, "", "  ", 7])
def test_unsupported_needs_a_sentence(reason) -> None:
    method = Method("mute", "says no", lambda *_: Unsupported(reason), lambda _: None)
    answer = fits.ask(method, fits.Question("mute", Budget(8), graph_info(network(load("p7"))), {}))
    assert isinstance(answer, fits.Failure)
    assert answer.reason.startswith("fit failed: Unsupported needs a reason")
