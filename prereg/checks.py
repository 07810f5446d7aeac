"""A check and what it found; the codes that a failed one ends `verify` with."""

from collections.abc import Sequence
from dataclasses import dataclass

OK, FAIL, NOT_CHECKED = "ok", "fail", "not checked"

INTACT, INTERNAL, SCHEMA, TAMPERED, ORDER, DEVIATION, ANCHOR, INCOMPLETE = range(8)
FALSIFIED_CODE, INCONCLUSIVE_CODE = 10, 12


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: whether it holds, and the evidence in a sentence."""

    name: str
    status: str
    evidence: str
    code: int = INTACT


def passed(name: str, evidence: str) -> Check:
    """What holds."""
    return Check(name, OK, evidence)


def failed(name: str, evidence: str, code: int) -> Check:
    """What does not, and the code it ends with."""
    return Check(name, FAIL, evidence, code)


def unchecked(name: str, evidence: str) -> Check:
    """What could not be looked at here."""
    return Check(name, NOT_CHECKED, evidence)


def verdict_of(name: str, problems: Sequence[str], code: int, otherwise: str) -> Check:
    """A failed check that tells the first problem and how many there are, or a passed one."""
    if not problems:
        return passed(name, otherwise)
    more = f" ({len(problems) - 1} more of the kind)" if len(problems) > 1 else ""
    return failed(name, f"{problems[0]}{more}", code)


def exit_code(checks: Sequence[Check]) -> int:
    """The gravest: tampering before order, order before deviation, and so on; 0 where all hold."""
    return min((check.code for check in checks if check.status == FAIL), default=INTACT)
