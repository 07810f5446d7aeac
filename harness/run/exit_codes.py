"""How a run or a command went, as the exit code of its process."""

from collections.abc import Collection

ALL_OK, SOME_FAILED, USAGE, SOME_WRONG, MISMATCH, NOTHING_RAN = range(6)


def exit_code(outcomes: Collection[str], damaged: bool = False) -> int:
    """Return the code for the worst of these: damage, a wrong cell, a failed cell, nothing that ran."""
    if damaged:
        return MISMATCH
    if "wrong" in outcomes:
        return SOME_WRONG
    if any(outcome not in ("ok", "unsupported") for outcome in outcomes):
        return SOME_FAILED
    return ALL_OK if "ok" in outcomes else NOTHING_RAN
