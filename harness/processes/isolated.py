"""One piece of work in a worker process of its own, under limits: what goes wrong there is one sentence here."""

from collections.abc import Callable
from functools import partial
from typing import Any

from aacbench.errors import AacbenchError, StoreError, UsageError
from aacbench.processes.pool import Limits, run_cells
from aacbench.processes.worker import Failure


def alone(work: Callable[[Any], Any], job: Any, limits: Limits, what: str) -> Any:
    """The result of the work; `what` begins the sentence about one that hangs, dies or is out of memory."""
    ((_, answer),) = run_cells(partial(_told, work), [job], 1, limits)
    if isinstance(answer, AacbenchError):
        raise answer
    if isinstance(answer, Failure):
        raise UsageError(f"{what}: {answer.reason.replace('the cell', 'it')}.")
    return answer


def _told(work: Callable[[Any], Any], job: Any) -> Any:
    try:
        return work(job)
    except StoreError:
        raise
    except AacbenchError as error:
        return UsageError(str(error))  # others may have more arguments than a pipe can carry
