"""The command killed, interrupted and starved, again and again: the store in the end is that of an undisturbed run."""

import os
import random
import shutil
import signal
import subprocess
import time
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import psutil
import pytest
import small_studies as studies
from cli import group

METHODS = "alt,random-subset"  # a plugin's would need more processes, and starting those is what takes the time
SEED = 20260


@pytest.fixture(scope="module")
def undisturbed(once) -> tuple[dict, float]:
    """What the study comes to, and how long that takes."""

    def fill(folder: Path) -> None:
        assert group.completed(folder / "warm", "dijkstra")[0] == 0  # so that nothing is compiled in what is measured
        began = time.monotonic()
        assert group.completed(folder / "study", METHODS, "--workers", "1") == (0, "")
        (folder / "seconds").write_text(str(time.monotonic() - began))

    folder = once("undisturbed", fill)
    return group.store(folder / "study"), float((folder / "seconds").read_text())


@pytest.fixture
def kill(tmp_path: Path, undisturbed):
    """A function that starts the command, waits, kills its whole group, and sees that what is there is whole.

    What is left when the test is done must come to what an undisturbed run comes to, with nothing left behind.
    """
    root, temporary = tmp_path / "study", Path(mkdtemp(prefix="aacbench-test-"))  # short, so that workers are forked

    def kill(wait, *more: str) -> None:
        process = group.started(root, METHODS, *more, temporary=temporary)
        wait(process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        group.wait_for(lambda: not group.processes(root))
        group.store(root)

    yield kill
    assert group.completed(root, METHODS, temporary=temporary) == (0, "")
    assert group.store(root) == undisturbed[0]
    assert group.leftovers(root) == []
    # Of a killed process, multiprocessing leaves the empty folder of a socket.
    assert [path for path in temporary.iterdir() if not path.name.startswith("pymp-")] == []
    shutil.rmtree(temporary)
    assert group.processes(root) == []


@pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.exhaustive)])
def test_killed_at_random_moments_and_resumed_after_each_it_comes_to_the_same(kill, undisturbed, kills) -> None:
    draw = random.Random(SEED)
    for number in range(kills):
        # Every other run does again what is there already, so that there is something to do when the last is killed.
        moment = draw.uniform(0, undisturbed[1])
        more = "--workers", "1", "--existing", ("keep", "replace")[number % 2]
        kill(lambda _, moment=moment: time.sleep(moment), *more)


@pytest.mark.parametrize("kills", [1, pytest.param(3, marks=pytest.mark.exhaustive)])
def test_killed_while_it_writes_it_comes_to_the_same(kill, tmp_path: Path, undisturbed, kills) -> None:
    """The moments in which something is written are too short to be met by chance."""
    draw = random.Random(SEED)
    for _ in range(kills):
        changes = draw.randrange(1, 2 * len(undisturbed[0]))
        kill(partial(group.wait_for_changes, tmp_path / "study", changes), "--existing", "replace")


def test_stopped_by_control_c_it_says_so_and_goes_on_to_the_same(tmp_path: Path, undisturbed, capfd) -> None:
    root = tmp_path / "study"
    methods = f"{METHODS},slow"  # so that something is left to do when it is stopped
    process = group.started(root, methods, *group.FAULTS)
    group.wait_for(lambda: group.finished(root) or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)
    said = "aacbench: stopped; what is finished is kept, and the same command goes on from there."
    assert group.ended(process) == (1, said)
    group.wait_for(lambda: not group.processes(root))
    assert 0 < len(group.store(root)) <= len(undisturbed[0])
    assert group.leftovers(root) == []
    assert group.completed_here(root, methods, *group.FAULTS, capfd=capfd) == (0, "")
    whole = group.store(root)
    assert {name: whole.pop(name) for name in undisturbed[0]} == undisturbed[0]
    ((record, _),) = whole.values()
    assert (record["key"]["label"], record["outcome"]) == ("slow", "ok")


def test_a_worker_killed_from_outside_costs_its_cell_alone(tmp_path: Path) -> None:
    root = tmp_path / "study"
    process = group.started(root, "alt,hang", *group.FAULTS, "--budgets", "16", "--workers", "1")
    group.wait_for(lambda: group.finished(root) == 2 or process.poll() is not None)
    group.wait_for(lambda: len(studies.workers_of(process.pid)) > 0)
    max(studies.workers_of(process.pid), key=psutil.Process.create_time).kill()  # started for the plugin's build
    assert group.ended(process) == (1, "")
    found = {record["key"]["label"]: record for record, _ in group.store(root).values()}
    assert {label: record["outcome"] for label, record in found.items()} == {
        "dijkstra": "ok",
        "alt": "ok",
        "hang": "error",
    }
    assert found["hang"]["reason"] == "The worker process died (signal 9)"


@pytest.fixture
def small_disk(tmp_path: Path):
    """A disk of two megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a small disk")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_on_a_full_disk_it_ends_in_one_sentence_and_finishes_once_there_is_space(
    small_disk, undisturbed, capfd
) -> None:
    root, ballast = small_disk / "study", small_disk / "ballast"
    for room in (4, 80):  # KiB: nothing can be written, or some of it
        _fill(ballast, small_disk, room * 1024)
        code, said = group.completed_here(root, METHODS, capfd=capfd)
        assert code == 2
        assert said == (
            f"aacbench: The disk of {root} is full; free some space, then run the same command again: "
            f"finished cells are kept."
        )
        assert set(group.store(root)) < set(undisturbed[0])
    ballast.unlink()
    assert group.completed_here(root, METHODS, capfd=capfd) == (0, "")
    assert group.store(root) == undisturbed[0]
    assert group.leftovers(root) == []


def _fill(ballast: Path, disk: Path, room: int) -> None:
    ballast.unlink(missing_ok=True)
    state = os.statvfs(disk)
    ballast.write_bytes(bytes(state.f_bavail * state.f_frsize - room))
