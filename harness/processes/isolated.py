"""One call in a worker process of its own, under limits: what goes wrong there is one sentence here."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from aacbench.errors import AacbenchError, StoreError, UsageError
from aacbench.processes.pool import Limits, run_all
from aacbench.processes.worker import Failure


def isolated(
    work: Callable[[Any], Any], job: Any, limits: Limits, what: str, environment: Mapping[str, str] | None = None
) -> Any:
    """Return `work(job)`; `what` begins the sentence about work that hangs, dies or is out of memory.

    With an `environment` the call runs in an interpreter of its own, started with these variables.
    """
    with _set(environment or {}):
        ((_, answer),) = run_all(partial(_caught, work), [job], 1, limits, fresh=environment is not None)
    if isinstance(answer, AacbenchError):
        raise answer
    if isinstance(answer, Failure):
        raise UsageError(f"{what}: {answer.reason}.")
    return answer


def _caught(work: Callable[[Any], Any], job: Any) -> Any:
    try:
        return work(job)
    except StoreError:
        raise
    except AacbenchError as error:
        return UsageError(str(error))  # others may have more arguments than a pipe can carry


@contextmanager
def _set(environment: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment while the process is started, which inherits them."""
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
