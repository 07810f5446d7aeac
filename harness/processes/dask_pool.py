"""Jobs on a cluster of dask, in the shape of the local pool."""

import queue
import secrets
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from aacbench.errors import ClusterError, StoreError, UsageError
from aacbench.processes import remote
from aacbench.processes.dask_client import allowed_failures, connected, versions_there
from aacbench.processes.pool import Limits, start_server
from aacbench.processes.versions import difference, versions
from aacbench.processes.worker import Failure
from aacbench.util.cleanup import this_host
from aacbench.util.text import describe

_LOOK_SECONDS = 1.0  # between looks for workers that joined or left
_PATIENCE = 20  # submissions of one job: its workers died, or lacked files


class Packing(Protocol):
    """How jobs travel: as the first link of a chain, with folders that workers may lack, and back as bytes."""

    def name(self, job: Any) -> str: ...
    def title(self, job: Any) -> str: ...
    def link(self, job: Any) -> remote.Link: ...
    def files(self, job: Any, place: str) -> Mapping[str, bytes]: ...
    def unpacked(self, job: Any, finished: remote.Finished) -> Any: ...


@dataclass(slots=True, eq=False)
class _Sent:
    """A job on the cluster."""

    job: Any
    task: remote.Task
    future: Any = None
    submitted: int = 0
    started: int = 0  # by as many workers, of which all but the last have died
    deaths: int = 0  # of workers that were seen to be gone while they had it


@dataclass(frozen=True, slots=True)
class _Place:
    """A worker of the cluster."""

    address: str
    host: str
    threads: int


@dataclass(slots=True, eq=False)
class DaskPool:
    """A pool whose workers are those of a scheduler; without one, one of `count` threads in this process.

    Scheduling, transport, and running again what a lost worker had are dask's. As many jobs are on the cluster as it
    has threads, so that none waits on a worker that dies. `alone` jobs run one after the other on one worker that has
    its machine to itself. `note` is told what is worth knowing about the cluster. A cluster on this machine is started
    for the first job.
    """

    packing: Packing
    count: int
    limits: Limits
    scheduler: str = ""
    progress: Callable[[Any, str], None] = lambda *_: None
    note: Callable[[str], None] = lambda _: None
    alone: bool = False
    _run: str = field(default_factory=lambda: f"run-{secrets.token_hex(8)}")
    _client: Any = None
    _only: str = ""
    _waiting: bool = False
    _there: frozenset[str] = frozenset()  # the addresses of the workers when last looked
    _allowed: int = 0  # deaths of workers that a job may cause before dask gives it up
    _begun: set[tuple[str, str]] = field(default_factory=set)  # worker and job
    _sent: dict[str, _Sent] = field(default_factory=dict)
    _events: "queue.SimpleQueue[tuple[str, str | None]]" = field(default_factory=queue.SimpleQueue)
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> "DaskPool":
        if self.scheduler:
            self._connect()
        else:
            start_server()  # it imports what the children of the worker need while this process plans
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def run(self, jobs: Iterable[Any]) -> Generator[tuple[Any, Any]]:
        """Yield (job, result or Failure) as they finish, like the local pool."""
        coming = iter(jobs)
        return self.run_from(lambda: next(coming, None))

    def run_from(
        self, next_job: Callable[[], Any], answered: Callable[[Any, Any], None] = lambda *_: None
    ) -> Generator[tuple[Any, Any]]:
        """The same with jobs from a function, like the local pool."""
        first = [job for job in [next_job()] if job is not None]
        if not first:
            return
        if self._client is None:
            self._connect()
        while True:
            self._fill(lambda: first.pop() if first else next_job())
            if not self._sent:
                return
            finished = self._next_finished()
            if finished is None:
                continue
            del self._sent[finished.task.name]
            self._fill(next_job)  # before the answer is fetched, so that no worker waits for the network or the disk
            answer = self._answer(finished)
            if answer is None or isinstance(answer, remote.Missing):
                self._sent[finished.task.name] = finished
                self._again(finished, answer)
            else:
                answered(finished.job, answer)
                yield finished.job, answer

    def where(self) -> str:
        """The machine that an `alone` job runs on."""
        return str(self._client.run(this_host, workers=[self._only])[self._only])

    def _connect(self) -> None:
        with ExitStack() as opened:
            if self.scheduler:
                self.note(f"dask at {self.scheduler}: connecting")  # before dask is imported, which takes a second
            self._client = opened.enter_context(connected(self.scheduler, self.count, self.note))
            opened.callback(self._end)
            self._client.subscribe_topic(self._run, self._hear)
            if self.scheduler:
                self._check_workers()
            self._open = opened.pop_all()

    def _check_workers(self) -> None:
        """Wait for a worker, and refuse a cluster that would compute with other code."""
        places = self._places()
        if not places:
            self.note(f"dask at {self.scheduler}: waiting for a worker")
            self._client.wait_for_workers(1)
            places = self._places()
        for address, found in self._client.run(versions_there(), on_error="return").items():
            differs = difference(versions(), found) if isinstance(found, dict) else str(found)
            if differs:
                raise UsageError(
                    f"The worker {address} cannot run this study: {differs}. Install the same versions on every worker."
                )
        self._there = frozenset(place.address for place in places)
        self._allowed = self._client.run_on_scheduler(allowed_failures())
        hosts = [place.host for place in places]
        if self.alone:
            self._only = next(
                (place.address for place in places if place.threads == 1 and hosts.count(place.host) == 1), ""
            )
        if self.alone and not self._only:
            raise UsageError(
                "Searches are timed only on a worker that has its machine to itself, and every machine of this cluster "
                "has several workers or threads; add one with `dask worker --nworkers 1 --nthreads 1` on a machine of "
                "its own, or leave out --time."
            )
        threads = sum(place.threads for place in places)
        self.note(f"dask at {self.scheduler}, machines: {len(set(hosts))}, workers: {len(places)}, threads: {threads}")

    def _places(self) -> list[_Place]:
        workers = self._client.scheduler_info()["workers"]
        return [_Place(address, each["host"], each["nthreads"]) for address, each in workers.items()]

    def _fill(self, next_job: Callable[[], Any]) -> None:
        threads = self._threads()
        room = 1 if self.alone else max(1, threads)
        while len(self._sent) < room and (job := next_job()) is not None:
            name = self.packing.name(job)
            task = remote.Task(self._run, name, versions(), self.limits, self.packing.link(job))
            sent = self._sent[name] = _Sent(job, task)
            self._submit(sent, self._only)

    def _threads(self) -> int:
        """How many there are now; tell of workers that came or went."""
        try:
            threads = self._client.nthreads()
        except Exception as error:
            raise self._gone() from error
        for address in sorted(self._there - threads.keys()):
            self._ended(address)
        self._there = frozenset(threads)
        if self._waiting and threads:
            self.note("dask: a worker joined; the run goes on")
        elif not self._waiting and not threads:
            self.note("dask: no worker is left; waiting for one")
        self._waiting = not threads
        return sum(threads.values())

    def _ended(self, address: str) -> None:
        """Tell that a worker is gone, and what becomes of the cells that it had."""
        had = [self._sent[name] for worker, name in self._begun.copy() if worker == address and name in self._sent]
        if not had:
            self.note(f"A worker at {address} ended.")
        for sent in had:
            self._begun.discard((address, sent.task.name))
            sent.deaths += 1
            title = self.packing.title(sent.job)
            more = f"; {title} is run again ({sent.deaths} of {self._allowed})"
            # One death more than is allowed makes the cell an error, which has its own line.
            self.note(f"A worker at {address} ended{more if sent.deaths <= self._allowed else f' with {title}'}.")

    def _submit(self, sent: _Sent, worker: str = "") -> None:
        name = sent.task.name
        place = {"workers": [worker], "allow_other_workers": not self._only} if worker else {}
        sent.submitted += 1
        if sent.submitted > _PATIENCE:
            raise ClusterError(f"The cell {name} did not come to an end on {_PATIENCE} workers; look at their logs.")
        key = f"{self._run}-{name}-{sent.submitted}"
        sent.future = self._client.submit(remote.run_task, sent.task, key=key, pure=False, **place)
        sent.future.add_done_callback(lambda _: self._events.put((name, None)))

    def _hear(self, event: tuple[float, Mapping[str, str]]) -> None:
        """Called by dask, in a thread of its own."""
        if event[1]["text"] == remote.STARTED:  # noted at once: the worker may be gone when the event is read
            self._begun.add((event[1]["worker"], event[1]["task"]))
        self._events.put((event[1]["task"], event[1]["text"]))

    def _next_finished(self) -> _Sent | None:
        """The next job that is done; None where it is time to look for workers, or a worker told of its progress."""
        try:
            name, text = self._events.get(timeout=_LOOK_SECONDS)
        except queue.Empty:
            # A result that was lost with its worker, and computed again, comes without a second event.
            return next((sent for sent in self._sent.values() if sent.future.done()), None)
        sent = self._sent.get(name)
        if sent is None or (text is None and not sent.future.done()):  # of a future that was replaced
            return None
        if text is None:
            return sent
        if text == remote.STARTED:
            sent.started += 1
        else:
            self.progress(sent.job, text)
        return None

    def _answer(self, sent: _Sent) -> Any:
        from distributed import KilledWorker

        if sent.future.status in ("cancelled", "lost"):
            raise self._gone()
        try:
            answer = sent.future.result()
        except KilledWorker as error:
            # Dask also counts workers that died of another job while this one waited on them; those do not count.
            return _killed(error, sent.started) if sent.started > error.allowed_failures else None
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            if sent.future.status in ("cancelled", "lost") or isinstance(error, OSError):
                raise self._gone() from error
            raise ClusterError(f"A task failed on the cluster: {describe(error)}.") from error
        if isinstance(answer, remote.Refused):
            raise ClusterError(f"{answer.reason.removesuffix('.')}. What is finished is kept.")
        return self.packing.unpacked(sent.job, answer) if isinstance(answer, remote.Finished) else answer

    def _again(self, sent: _Sent, missing: remote.Missing | None) -> None:
        """Submit a job once more; first send a worker what it lacks."""
        if missing is None:
            self._submit(sent, self._only)
            return
        sent.started -= 1  # its worker lives
        self._begun.discard((missing.worker, sent.task.name))
        for place in missing.places:
            self._send(missing.worker, place, self.packing.files(sent.job, place))
        self._submit(sent, missing.worker)

    def _send(self, worker: str, place: str, files: Mapping[str, bytes]) -> None:
        try:
            self._client.run(remote.receive, self._run, place, files, workers=[worker])
        except StoreError as error:
            raise ClusterError(f"The worker {worker} cannot go on: {error}") from error
        except OSError:
            pass  # it is gone, and the job then goes to another one

    def _gone(self) -> ClusterError:
        return ClusterError(
            f"The connection to the scheduler at {self.scheduler or 'this machine'} was lost. What is finished is "
            "kept; once a scheduler and workers are there, the same command goes on."
        )

    def _end(self) -> None:
        """Cancel what is queued, and end what workers have under way for this run."""
        with suppress(Exception):
            if self._client.status == "running":
                self._client.cancel([sent.future for sent in self._sent.values() if sent.future is not None])
                self._client.run(remote.end_run, self._run, on_error="ignore")


def _killed(error: Any, times: int) -> Failure:
    return Failure(
        "error",
        f"The cluster's worker died {times} times while it ran this cell, the last time at {error.last_worker.address} "
        f"(allowed-failures of the scheduler is {error.allowed_failures})",
    )
