"""A real cluster for tests: a scheduler and workers of dask, each in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

PATIENCE = 60


@dataclass
class Cluster:
    """A scheduler, its address, and its workers, whose files are all below one folder."""

    folder: Path
    scheduler: subprocess.Popen
    address: str
    workers: list[subprocess.Popen] = field(default_factory=list)

    def add_worker(self, *more: str) -> subprocess.Popen:
        """A worker in a folder of its own, without the client's data, that nobody starts again when it dies."""
        place = self.folder / f"worker-{len(self.workers)}"
        place.mkdir()
        environment = {name: value for name, value in os.environ.items() if name != "AACBENCH_DATA"}
        words = ["worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0"]
        worker = _dask(*words, "--local-directory", place, *more, cwd=place, env=environment)
        self.workers.append(worker)
        return worker

    def wait_for(self, count: int) -> None:
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=PATIENCE)

    def left(self) -> list[Path]:
        """What runs have left on the workers' disks."""
        return list(self.folder.glob("worker-*/dask-scratch-space/aacbench-*"))

    def children(self) -> list[psutil.Process]:
        """What the workers have running for a run: the children of their servers."""
        found = [child for worker in self.workers for child in psutil.Process(worker.pid).children(recursive=True)]
        return [child for child in found if child.ppid() not in {worker.pid for worker in self.workers}]


@contextmanager
def cluster(folder: Path, workers: int):
    """A cluster of so many workers with one thread each, ended in the end."""
    told = folder / "scheduler.json"
    with ExitStack() as stack:
        words = ["scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", told]
        scheduler = _dask(*words, cwd=folder, env=dict(os.environ))
        stack.callback(_end, scheduler)
        while not (told.exists() and told.read_text().endswith("}")):
            assert scheduler.poll() is None
            time.sleep(0.05)
        started = Cluster(folder, scheduler, json.loads(told.read_text())["address"])
        stack.callback(lambda: [_end(worker) for worker in started.workers])
        for _ in range(workers):
            started.add_worker()
        if workers:
            started.wait_for(workers)
        yield started


def _dask(*words, **options) -> subprocess.Popen:
    command = [sys.executable, "-m", "dask", *map(str, words)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(command, start_new_session=True, **quiet, **options)


def _end(process: subprocess.Popen) -> None:
    if process.poll() is None:
        os.kill(process.pid, signal.SIGCONT)
        process.kill()
    process.wait()
