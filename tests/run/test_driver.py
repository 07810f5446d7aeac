"""Runs that are killed, stopped, doubled or starved: what the store holds in the end is what it always holds."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import small_studies as studies
from stored_cells import read_events

from aacbench.errors import StoreError
from aacbench.processes.pool import Pool
from aacbench.run import driver
from aacbench.run.driver import Before, damaged, run_study
from aacbench.run.layout import cell_folder
from aacbench.run.records import MethodChoice
from aacbench.run.store import read_cell
from aacbench.run.study import read_study, summary
from aacbench.util.cleanup import UNFINISHED, this_host
from aacbench.util.file_lock import file_lock

METHODS = ("alt", "random-subset", "slow")
COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may come ignored from whoever runs the tests
import sys
sys.path.insert(0, sys.argv[1])
import small_studies as studies
from pathlib import Path
from aacbench.errors import StoreError
from aacbench.run.driver import run_study
if __name__ == "__main__":
    study = studies.study(*sys.argv[3].split(","), seeds=(1, 2))
    try:
        run_study(study, studies.config(Path(sys.argv[2]), workers=2))
    except StoreError as error:
        sys.exit(str(error))
"""


def the_study():
    return studies.study(*METHODS, seeds=(1, 2))


def started(root: Path, methods: str = ",".join(METHODS), **options) -> subprocess.Popen:
    """The same study in a process group of its own."""
    script = root.parent / "command.py"
    script.write_text(COMMAND)
    tests = str(Path(studies.__file__).parent)
    return subprocess.Popen(
        [sys.executable, str(script), tests, str(root), methods],
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict[str, bytes]:
    root = tmp_path_factory.mktemp("undisturbed") / "study"
    run_study(the_study(), studies.config(root))
    return studies.rows(root)


def test_what_was_read_before_a_run_stands_for_the_study_only_if_all_cells_were_kept(tmp_path):
    study, config = studies.study("alt"), studies.config(tmp_path / "study")
    cells = run_study(study, config)
    before = Before(read_study(config.root))
    assert run_study(study, config, before) == cells
    assert before.contents is not None
    shutil.rmtree(cell_folder(config.root, cells[-1][1]))
    for contents in (before.contents, read_study(config.root)):  # with a cell that is gone, and one that is to be run
        looked = Before(contents)
        run_study(study, config, looked)
        assert (looked.contents is None) == (cells[-1][1] not in contents.cells)


def test_workers_do_not_outlive_a_run_that_was_killed(tmp_path: Path) -> None:
    process = started(tmp_path / "study", "hang")
    workers = _workers(process)
    while not any((tmp_path / "study" / "locks").glob("*")):  # a worker that waits for work ends by itself
        time.sleep(0.1)
    time.sleep(1)
    process.kill()
    process.communicate()
    _, alive = psutil.wait_procs(workers, timeout=30)
    assert not alive


def test_an_interrupted_run_leaves_no_process_and_goes_on(tmp_path: Path) -> None:
    root = tmp_path / "study"
    process = started(root, "alt,hang")
    while not (root / "plan.json").exists() and process.poll() is None:
        time.sleep(0.1)
    workers = _workers(process)
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.communicate(timeout=60)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    _, alive = psutil.wait_procs(workers, timeout=30)
    assert not alive
    assert process.returncode != 0
    study = studies.study("alt", "hang", seeds=(1, 2))
    seen = summary(root)
    assert not seen.damaged
    assert len(seen.missing) >= 2  # those that hang
    left = root / "artifacts" / "bundles" / "aa" / f"{UNFINISHED}~{this_host()}~{process.pid}~ab"

    def interrupt(event, facts) -> None:
        if event == "planned":
            left.mkdir(parents=True)  # as a worker leaves it that is killed while it writes
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(study, studies.config(root, notify=interrupt))
    assert not summary(root).damaged
    assert left.parent.exists()
    assert not left.exists()


def _workers(process: subprocess.Popen) -> list[psutil.Process]:
    """The workers of a run, once there are two."""
    while process.poll() is None:
        with suppress(psutil.Error):
            if len(studies.workers_of(process.pid)) >= 2:
                return psutil.Process(process.pid).children(recursive=True)
        time.sleep(0.1)
    raise AssertionError(process.communicate())


def test_a_second_run_runs_only_what_is_missing(tmp_path: Path) -> None:
    study = studies.study("alt", "random-subset")
    first = run_study(study, studies.config(tmp_path))
    before = studies.rows(tmp_path)
    gone = first[1][1]
    _remove(tmp_path, gone)
    events = []
    run_study(study, studies.config(tmp_path, notify=lambda event, facts: events.append((event, facts))))
    assert [facts["cell"] for event, facts in events if event == "cell"] == [gone]
    assert len([event for event, _ in events if event == "kept"]) == len(first) - 1
    assert studies.rows(tmp_path) == before


def _remove(root: Path, name: str) -> None:
    folder = cell_folder(root, name)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


def test_two_runs_at_once_share_the_work(tmp_path: Path, undisturbed) -> None:
    root = tmp_path / "study"
    both = [started(root), started(root)]
    for process in both:
        assert process.communicate()[1] == ""
        assert process.returncode == 0
    assert studies.rows(root) == undisturbed
    logs = [read_events(folder) for folder in (root / "runs").iterdir()]
    ran = [event["cell"] for log in logs for event in log if event["event"] == "cell"]
    assert sorted(ran) == sorted(undisturbed)
    assert not list((root / "locks").iterdir())


def test_a_cell_of_another_run_is_waited_for_and_run_if_that_ends_without_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(driver, "WAIT_SECONDS", 0.05)
    study = studies.study("alt")
    cells = run_study(study, studies.config(tmp_path))
    name = cells[1][1]
    before = studies.rows(tmp_path)
    _remove(tmp_path, name)
    ran = []
    with file_lock(tmp_path, name) as mine:
        assert mine
        run = threading.Thread(
            target=run_study, args=(study, studies.config(tmp_path, notify=lambda *facts: ran.append(facts)))
        )
        run.start()
        run.join(1.5)
        assert run.is_alive()
        assert read_cell(tmp_path, name) is None
    run.join()
    assert studies.rows(tmp_path) == before
    assert [event for event, _ in ran].count("cell") == 1


def test_a_full_disk_ends_a_run_in_one_sentence_and_spares_the_store(tmp_path: Path, undisturbed) -> None:
    root = tmp_path / "study"
    process = started(root, preexec_fn=_small_files)
    said = process.communicate()[1]
    assert process.returncode == 1
    assert said.strip().splitlines()[-1].endswith("finished cells are kept.")
    assert "Traceback" not in said
    assert not summary(root).damaged
    run_study(the_study(), studies.config(root))
    assert studies.rows(root) == undisturbed


def _small_files() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (2500, 2500))


@pytest.mark.parametrize("existing", ["keep", "verify"])
def test_a_flipped_byte_is_found_and_the_cell_redone_or_reported(tmp_path: Path, existing) -> None:
    study = studies.study("alt")
    cells = run_study(study, studies.config(tmp_path))
    name = cells[1][1]
    before = studies.rows(tmp_path)
    file = cell_folder(tmp_path, name) / "queries.csv"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    events = []
    run_study(
        study,
        studies.config(tmp_path, existing=existing, notify=lambda event, facts: events.append((event, facts))),
    )
    if existing == "keep":
        assert studies.rows(tmp_path) == before
        assert not damaged(tmp_path, cells)
    else:
        assert file.read_bytes() == data
        assert [facts["cell"] for event, facts in events if event == "damaged"] == [name]
        assert list(damaged(tmp_path, cells)) == [name]


def test_a_choice_is_not_made_without_a_damaged_candidate(tmp_path: Path) -> None:
    study = studies.study(MethodChoice(name="alt", grid={"K": (1, 4)}))
    cells = run_study(study, studies.config(tmp_path))
    best = next(name for cell, name in cells if cell.params.get("K") == 4 and cell.role == "candidate")
    file = cell_folder(tmp_path, best) / "queries.csv"
    file.write_bytes(file.read_bytes()[:-1])
    before = {cell.key["role"] for cell in studies_of(tmp_path)}
    again = run_study(study, studies.config(tmp_path, existing="verify"))
    assert [cell.role for cell, _ in again].count("chosen") == 0
    assert {cell.key["role"] for cell in studies_of(tmp_path)} == before


def studies_of(root: Path) -> list:
    from aacbench.run.store import Cell, scan

    return [cell for _, cell in scan(root) if isinstance(cell, Cell)]


def test_a_method_that_leaves_its_worker_elsewhere_spoils_nothing(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setenv("FAULT_FOLDER", str(tmp_path / "elsewhere"))
    study = studies.study("go-away", "slow")
    run_study(study, studies.config(Path("study")))
    assert {cell.outcome for cell in studies.cells(tmp_path / "study").values()} == {"ok"}
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_no_worker_stays_when_results_are_not_waited_for() -> None:
    with Pool(time.sleep, 2, studies.LIMITS) as workers:
        assert next(workers.run([0, 600, 600]))[0] == 0
        started_workers = studies.workers_of(os.getpid())
    assert started_workers
    assert not [child for child in started_workers if child.is_running() and child.status() != "zombie"]


def test_a_store_that_cannot_be_written_ends_the_run(tmp_path: Path, monkeypatch) -> None:
    study = studies.study("alt")

    def full(*_, **__):
        raise StoreError("the disk is full.")

    monkeypatch.setattr(driver, "commit", full)
    with pytest.raises(StoreError):
        run_study(study, studies.config(tmp_path))
    assert not list((tmp_path / "locks").iterdir())
