"""One call in a worker process of its own, under limits: what goes wrong there is one sentence here."""

from collections.abc import Callable
from functools import partial
from typing import Any

from aacbench.errors import AacbenchError, StoreError, UsageError
from aacbench.processes.pool import Limits, run_all
from aacbench.processes.worker import Failure


def isolated(work: Callable[[Any], Any], job: Any, limits: Limits, what: str) -> Any:
    """Return `work(job)`; `what` begins the sentence about work that hangs, dies or is out of memory."""
    ((_, answer),) = run_all(partial(_caught, work), [job], 1, limits)
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
