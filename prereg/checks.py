"""A check with its result, and the exit codes of `verify`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

OK, FAIL, NOT_CHECKED, WARNING = "ok", "fail", "not checked", "warning"

INTACT, INTERNAL, SCHEMA, TAMPERED, ORDER, DEVIATION, ANCHOR, INCOMPLETE = range(8)
FALSIFIED_CODE, INCONCLUSIVE_CODE = 10, 12


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check: its status, and the evidence in a sentence."""

    name: str
    status: str
    evidence: str
    code: int = INTACT


def check_of(name: str, problems: Iterable[str], code: int, evidence: str) -> Check:
    """A check that failed with the first problem and the number of others, or that passed with the evidence."""
    found = list(problems)
    if not found:
        return Check(name, OK, evidence)
    more = f" ({len(found) - 1} more like this)" if len(found) > 1 else ""
    return Check(name, FAIL, f"{found[0]}{more}", code)


def exit_code(checks: Sequence[Check]) -> int:
    """The code of the most serious failure, which is the smallest; 0 if all checks passed."""
    return min((check.code for check in checks if check.status == FAIL), default=INTACT)
