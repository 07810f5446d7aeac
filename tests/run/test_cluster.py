"""Studies on real clusters of separate processes: the same rows, and faults that cost no more than they must."""

import os
import pickle
import re
import signal
import socket
import threading
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="dask is not installed: pip install aacbench[dask]")

import clusters
import distributed
import small_studies as studies
from cli import group
from cli.command import command
from registration.studies import project
from stored_cells import read_events

from aacbench.errors import ClusterError, DataError, UsageError
from aacbench.processes import dask_client
from aacbench.processes.dask_pool import DaskPool
from aacbench.reports import latency
from aacbench.run.driver import run_study
from aacbench.run.rebuild import stored_job
from aacbench.run.records import FILE, MethodChoice, QueryPlan
from aacbench.run.shipping import run_shipment, shipment_of
from aacbench.run.steps import Step
from aacbench.run.study import read_study

PLUGIN = Path(__file__).parent / "plugins" / "cluster_methods.py"
SIZE = 30


def config(root: Path, address: str = "", **changes):
    return studies.config(root, plugins=(PLUGIN,), executor="dask", scheduler=address, **changes)


def the_study():
    """A method that is chosen from a grid, one of a plugin, and a graph and queries that only the client has."""
    chosen = MethodChoice(name="alt-pool", grid={"K0": (4, 8)})
    queries = QueryPlan(mode=FILE, file="queries.csv", validation=8, test=8)
    return studies.study("alt", chosen, "flat", graphs=("town=file:town.csv",), queries=queries)


def some_cells(*methods: str):
    """Cells on a small grid: three of each method, and Dijkstra's."""
    return studies.study(*methods, budgets=(8, 12, 16))


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """The files of the study, under names that mean nothing in the folder of a worker."""
    monkeypatch.chdir(tmp_path)
    arcs = [f"v{i},v{(i * step + 1) % SIZE},{i % 5 + step}\n" for i in range(SIZE) for step in (1, 3)]
    Path("town.csv").write_text("source,target,weight\n" + "".join(arcs))
    Path("queries.csv").write_text("source,target\n" + "".join(f"v{i},v{(7 * i + 3) % SIZE}\n" for i in range(16)))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with clusters.cluster(tmp_path_factory.mktemp("cluster"), 2) as started:
        yield started


def local_rows(study, root: Path) -> dict[str, bytes]:
    run_study(study, studies.config(root, plugins=(PLUGIN,)))
    return studies.rows(root)


def bundles(root: Path) -> set[str]:
    return {path.name for path in root.glob("artifacts/bundles/*/*")}


def test_rows_are_those_of_a_local_run_and_bundles_come_back(cluster, tmp_path: Path) -> None:
    expected, heard = local_rows(the_study(), tmp_path / "local"), []
    root = tmp_path / "cluster"
    run_study(the_study(), config(root, cluster.address, rebuild=True, notify=lambda *event: heard.append(event)))
    assert studies.rows(root) == expected
    assert {cell.outcome for cell in studies.cells(root).values()} == {"ok"}
    assert bundles(root) == bundles(tmp_path / "local")
    assert {facts["outcome"] for event, facts in heard if event == "rebuilt"} == {"ok"}
    places = {facts["text"] for event, facts in heard if event == "progress"}
    assert places & {"building in worker-0", "building in worker-1"}
    assert cluster.left() == []


@pytest.mark.exhaustive
def test_four_workers_and_one_give_the_same_rows(tmp_path: Path) -> None:
    expected = local_rows(the_study(), tmp_path / "local")
    for count in (1, 4):
        run_study(the_study(), config(tmp_path / str(count), workers=count))
        assert studies.rows(tmp_path / str(count)) == expected
        assert bundles(tmp_path / str(count)) == bundles(tmp_path / "local")


def cluster_lines(root: Path) -> list[str]:
    """What the log of a study says of its cluster."""
    return [
        event["text"] for log in (root / "runs").iterdir() for event in read_events(log) if event["event"] == "cluster"
    ]


def test_a_cell_whose_worker_dies_is_run_again_on_the_next_and_all_is_told(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("AACBENCH_TEST_MARK", str(tmp_path / "mark"))
    study, root, heard = studies.study("kill-first-worker"), tmp_path / "study", []

    def tell(event, facts) -> None:
        if event == "cluster":
            heard.append(facts["text"])
            if facts["text"].startswith("dask: no worker is left"):
                started.add_worker()

    with clusters.cluster(tmp_path, 1) as started:
        run_study(study, config(root, started.address, notify=tell))
    ended, *others = cluster_lines(root)
    died = r"A worker at tcp://\S+ ended; kill-first-worker on \S+ at 16 B/v, seed 1 is run again \(1 of 3\)\."
    assert re.fullmatch(died, ended)
    assert others == ["dask: no worker is left; waiting for one", "dask: a worker joined; the run goes on"]
    assert heard[-3:] == [ended, *others]
    assert studies.rows(root) == local_rows(study, tmp_path / "local")


def test_a_cell_that_ends_every_worker_is_an_error_and_others_are_not(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("AACBENCH_TEST_MARK", str(tmp_path / "mark"))
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "1")
    study = studies.study("alt", "kill-worker", "kill-first-worker", "allocate")

    def tell(event, facts) -> None:
        if event == "cluster" and facts["text"].startswith("A worker at"):
            started.add_worker()

    with clusters.cluster(tmp_path, 2) as started:
        options = {"executor": "dask", "scheduler": started.address, "notify": tell}
        run_study(study, studies.config(tmp_path / "study", plugins=(PLUGIN, *studies.FAULTS), **options))
    found = studies.by_method(tmp_path / "study")
    outcomes = {name: cell.outcome for name, cell in found.items()}
    assert outcomes.pop("kill-worker") == "error"
    assert outcomes.pop("allocate") == "out-of-memory"
    assert set(outcomes.values()) == {"ok"}
    assert (tmp_path / "mark").exists()
    reason = found["kill-worker"].record["reason"]
    # A death by another job is not counted, but dask then allows as many more as before.
    assert re.match(r"The cluster's worker died [23] times while it ran this cell", reason)
    assert reason.endswith("(allowed-failures of the scheduler is 1)")
    again = [line for line in cluster_lines(tmp_path / "study") if "; kill-worker on" in line]
    assert len(again) == 1
    assert again[0].endswith(" is run again (1 of 1).")


def test_a_slow_worker_holds_up_its_own_cell_alone(cluster, tmp_path: Path) -> None:
    study, root = some_cells("alt", "gated"), tmp_path / "study"
    gates = [cluster.folder / f"worker-{number}" / "go" for number in (0, 1)]
    Path("go").touch()  # for the local run
    done, slow, held_up = [], cluster.workers[0].pid, []
    expected = 6  # of seven cells all but the one that is held up

    def heard(event, facts) -> None:
        if event == "cell":
            done.append(facts["cell"])
        if event == "progress" and facts["text"] == "building in worker-0" and not held_up:
            held_up.append(facts["cell"])
            os.kill(slow, signal.SIGSTOP)  # while it has a cell that cannot be done, and all its answers were fetched
            for gate in gates:
                gate.touch()
        if len(done) == expected:
            os.kill(slow, signal.SIGCONT)

    try:
        run_study(study, config(root, cluster.address, notify=heard))
    finally:
        os.kill(slow, signal.SIGCONT)  # other tests use this worker too
    assert len(done) == expected + 1
    assert done[-1:] == held_up
    assert studies.rows(root) == local_rows(study, tmp_path / "local")


def test_two_clients_share_the_cells_of_one_study(cluster, tmp_path: Path) -> None:
    study, root = some_cells("alt", "patient"), tmp_path / "study"
    both = [threading.Thread(target=run_study, args=(study, config(root, cluster.address))) for _ in range(2)]
    for run in both:
        run.start()
    for run in both:
        run.join()
    assert studies.rows(root) == local_rows(study, tmp_path / "local")
    ran = [event["cell"] for log in (root / "runs").iterdir() for event in read_events(log) if event["event"] == "cell"]
    assert sorted(ran) == sorted(studies.rows(root))


def test_control_c_ends_what_is_under_way_and_keeps_what_is_done(cluster, tmp_path: Path) -> None:
    root, address = tmp_path / "study", ("--executor", "dask", "--scheduler", cluster.address)
    process = group.started(root, "alt,hang", *group.FAULTS, *address)
    group.wait_for(lambda: group.finished(root) == 2 or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)
    said = "aacbench: stopped; what is finished is kept, and the same command goes on from there."
    assert group.ended(process) == (1, said)
    assert sorted(record["key"]["label"] for record, _ in group.store(root).values()) == ["alt", "dijkstra"]
    group.wait_for(lambda: not cluster.left())
    group.wait_for(lambda: not cluster.children())


def test_control_c_ends_a_cluster_on_this_machine(tmp_path: Path) -> None:
    root = tmp_path / "study"
    process = group.started(root, "alt,hang", *group.FAULTS, "--executor", "dask")
    group.wait_for(lambda: group.finished(root) == 2 or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)
    said = "aacbench: stopped; what is finished is kept, and the same command goes on from there."
    assert group.ended(process) == (1, said)
    group.wait_for(lambda: not group.processes(root))
    assert group.leftovers(root) == []


def test_control_c_at_the_start_of_a_call_to_dask_prints_nothing_of_dask(cluster, caplog) -> None:
    with DaskPool(None, 1, studies.LIMITS, scheduler=cluster.address) as pool:
        release = threading.Event()
        pool._client.loop.add_callback(release.wait)  # holds up what follows
        stop = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        stop.start()
        with pytest.raises(KeyboardInterrupt):
            pool._client.nthreads()
        release.set()
    assert caplog.messages == []


def test_a_study_that_is_done_starts_no_cluster(tmp_path: Path) -> None:
    study, heard = some_cells("alt"), []
    expected = local_rows(study, tmp_path)
    run_study(study, config(tmp_path, notify=lambda event, _: heard.append(event)))
    assert "cluster" not in heard
    assert studies.rows(tmp_path) == expected


def test_a_registered_run_is_bound_in_the_client(cluster, tmp_path: Path) -> None:
    registered = project(tmp_path)
    assert registered.call("lock") == 0
    address = "--executor", "dask", "--scheduler", cluster.address
    assert command("run", "--prereg", registered.toml, "--out", registered.study, *address) == 0
    events = [line.event for line in registered.entries()]
    assert events == ["lock", "run_start", *["cell"] * 5, "run_end"]
    assert registered.call("verify") == 0


def test_times_are_refused_where_no_worker_has_its_machine_to_itself(cluster, tmp_path: Path) -> None:
    root = tmp_path / "study"
    command = "alt", "--time", "--executor", "dask", "--scheduler", cluster.address
    code, said = group.completed(root, *command)
    assert code == 2
    assert said.startswith("aacbench: Searches are timed only on a worker that has its machine to itself, and every")
    assert not root.exists()


def test_a_lost_scheduler_is_told_and_the_same_command_goes_on(tmp_path: Path) -> None:
    root = tmp_path / "study"
    (tmp_path / "cluster").mkdir()
    with clusters.cluster(tmp_path / "cluster", 1) as started:
        more = "--budgets", "8,12,16", "--plugin", str(PLUGIN), "--executor", "dask", "--scheduler"
        process = group.started(root, "alt,patient", *more, started.address)
        group.wait_for(lambda: group.finished(root) >= 3 or process.poll() is not None)
        started.scheduler.kill()
        code, said = group.ended(process)
    assert (code, said) == (
        1,
        f"aacbench: The connection to the scheduler at {started.address} was lost. What is finished is kept; once a "
        "scheduler and workers are there, the same command goes on.",
    )
    kept = group.store(root)
    assert len(kept) >= 3
    assert group.leftovers(root) == []
    with clusters.cluster(tmp_path, 1) as another:  # on one worker, searches can be timed too
        timed = "--time", "--repetitions", "1"
        assert group.completed(root, "alt,patient", *more, another.address, *timed)[0] == 0
    whole = list(read_study(root).planned_cells())
    assert len(whole) == 7
    assert {name: files["queries.csv"] for name, (_, files) in kept.items()}.items() <= studies.rows(root).items()
    row = latency.latencies(whole)[0]
    assert row.where
    assert f"Timed on a worker of a cluster that had its machine to itself: {row.where}." in latency.markdown([row])


def test_a_worker_with_other_code_is_refused_before_anything_runs(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "other.py").write_text("import aacbench.version\naacbench.version.VERSION = '0.0.9'\n")
    with clusters.cluster(tmp_path, 0) as started:
        started.add_worker("--preload", str(tmp_path / "other.py"))
        started.wait_for(1)
        with pytest.raises(UsageError, match=r"^The worker tcp\S+ cannot run this study: aacbench is 0\.0\.9 \(code"):
            run_study(some_cells("alt"), config(tmp_path / "study", started.address))
        assert not (tmp_path / "study").exists()
        monkeypatch.setattr(DaskPool, "_check_workers", lambda _: None)  # as for a worker that joins later
        with pytest.raises(ClusterError, match=r"joined with other versions: aacbench is 0\.0\.9"):
            run_study(some_cells("alt"), config(tmp_path / "study", started.address))
        assert studies.cells(tmp_path / "study") == {}


def test_no_scheduler_is_said_in_one_sentence_after_what_is_tried(tmp_path: Path) -> None:
    address = "tcp://127.0.0.1:9"
    process = group.started(tmp_path / "study", "alt", "--executor", "dask", "--scheduler", address)
    lines = process.communicate()[1].splitlines()
    assert process.returncode == 2
    assert lines[0].endswith(f"dask at {address}: connecting")
    assert lines[1:] == [
        f"aacbench: No scheduler of dask answers at '{address}' within 10 seconds; check that `dask scheduler` runs "
        "there and printed this address, tls:// where it uses TLS, and that no firewall is between."
    ]
    assert not (tmp_path / "study").exists()


def test_what_listens_and_is_no_scheduler_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_client, "CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(UsageError, match=r"^No scheduler of dask answers at '\S+' within 0\.5 seconds"):
            dask_client._check_scheduler(distributed, address)


def test_an_address_that_dask_cannot_use_is_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match=r"^Dask cannot connect to 'tls://127\.0\.0\.1:9': TypeError: TLS expects"):
        dask_client._check_scheduler(distributed, "tls://127.0.0.1:9")


def test_the_address_of_a_worker_is_named_as_one(tmp_path: Path) -> None:
    with clusters.cluster(tmp_path, 1) as started:
        started.wait_for(1)
        with distributed.Client(started.address, set_as_default=False) as client:
            (worker,) = client.scheduler_info()["workers"]
        with pytest.raises(UsageError, match=r"^'tcp://\S+' is a Worker of dask; give the address"):
            dask_client._check_scheduler(distributed, worker)


def test_a_plugin_file_that_arrives_changed_is_refused(tmp_path: Path) -> None:
    here = config(tmp_path / "study")
    run_study(studies.study("flat"), replace(here, executor="local"))
    (cell,) = [cell for cell in studies.cells(here.root).values() if cell.key["method"] == "flat"]
    shipment = shipment_of(Step(stored_job(here, cell)), here.limits)
    payload = pickle.dumps(shipment)
    assert isinstance(run_shipment(payload, tmp_path / "worker").payload, bytes)
    changed = payload.replace(b"dtype=np.int16", b"dtype=np.int64")
    assert changed != payload
    with pytest.raises(DataError, match=r"cluster_methods\.py arrived with other bytes"):
        run_shipment(changed, tmp_path / "worker")
