"""Search policies: how A* breaks ties, whether it reopens vertices, and whether it uses BPMX."""

from dataclasses import dataclass, replace
from typing import Any

from aacbench.errors import UsageError

# The tie key is factor * g + factor * push counter; these are the two factors. The smaller key is popped first.
TIES = {"large-g": (-1, 0), "small-g": (1, 0), "fifo": (0, 1), "lifo": (0, -1)}


@dataclass(frozen=True, slots=True)
class Policy:
    """The switches of A*. Entries with equal f and equal tie key are popped first in, first out."""

    reopen: bool = True
    tie: str = "large-g"
    bpmx: bool = False

    def __post_init__(self) -> None:
        if self.tie not in TIES:
            raise UsageError(f"tie must be one of {', '.join(TIES)}, not {self.tie!r}.")
        if self.bpmx and not self.reopen:
            raise UsageError("bpmx changes h during the search, so it needs reopen=on.")

    @property
    def name(self) -> str:
        """`modern`, `paper`, or all switches spelled out; `parse` accepts each form."""
        for name, policy in POLICIES.items():
            if policy == self:
                return name
        return f"reopen={_on_or_off(self.reopen)},tie={self.tie},bpmx={_on_or_off(self.bpmx)}"


POLICIES = {"modern": Policy(), "paper": Policy(reopen=False, tie="fifo")}


def parse(text: str) -> Policy:
    """Parse `modern`, `paper`, or either with changes: `modern,bpmx=on`, `reopen=off,tie=lifo`."""
    policy = POLICIES["modern"]
    for position, part in enumerate(text.split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if position == 0 and not equals and key in POLICIES:
            policy = POLICIES[key]
        elif key == "tie" and equals:
            policy = replace(policy, tie=value)
        elif key == "reopen" and value in ("on", "off"):
            policy = replace(policy, reopen=value == "on")
        elif key == "bpmx" and value in ("on", "off"):
            policy = replace(policy, bpmx=value == "on")
        else:
            raise UsageError(
                f"Cannot read {part!r} in the search policy {text!r}: write modern or paper, "
                f"then any of reopen=on|off, tie={'|'.join(TIES)}, bpmx=on|off."
            )
    return policy


def switch(name: str, value: Any) -> bool | str:
    """Return the value of one switch, given as a bool or as text such as on, off or fifo."""
    text = _on_or_off(value) if isinstance(value, bool) else str(value)
    parsed: bool | str = getattr(parse(f"{name}={text}"), name)
    return parsed


def _on_or_off(value: bool) -> str:
    return "on" if value else "off"
