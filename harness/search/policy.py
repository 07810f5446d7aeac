"""Search policies: ties, reopening and BPMX, which change counts; vertex order and label layout, which change time."""

from dataclasses import dataclass, replace
from typing import Any

from aacbench.errors import UsageError

# The tie key is factor * g + factor * push counter; these are the two factors. The smaller key is popped first.
TIES = {"large-g": (-1, 0), "small-g": (1, 0), "fifo": (0, 1), "lifo": (0, -1)}
VERTEX_ORDERS = ("dfs", "file")
LABEL_LAYOUTS = ("node-major", "landmark-major")


@dataclass(frozen=True, slots=True)
class Policy:
    """The switches of A*. Entries with equal f and equal tie key are popped first in, first out.

    `vertex_order` numbers the vertices in memory depth first or as in the file. `label_layout` stores the labels of
    landmarks by vertex, or by landmark with a test for missing labels at each bound, as the paper's ALT does.
    """

    reopen: bool = True
    tie: str = "large-g"
    bpmx: bool = False
    vertex_order: str = VERTEX_ORDERS[0]
    label_layout: str = LABEL_LAYOUTS[0]

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise UsageError(f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r}.")
        if self.bpmx and not self.reopen:
            raise UsageError("bpmx changes h during the search, so it needs reopen=on.")

    @property
    def name(self) -> str:
        """`modern`, `paper`, or all switches spelled out; `parse` accepts each form."""
        for name, policy in POLICIES.items():
            if policy == self:
                return name
        counted = f"reopen={_on_or_off(self.reopen)},tie={self.tie},bpmx={_on_or_off(self.bpmx)}"
        # Only where they are set, so that cells of older studies keep their ids.
        timed = [f"{key}={getattr(self, key)}" for key in IN_MEMORY if getattr(self, key) != CHOICES[key][0]]
        return ",".join([counted, *timed])

    @property
    def counted(self) -> "Policy":
        """The policy as far as it changes counts."""
        return replace(self, vertex_order=VERTEX_ORDERS[0], label_layout=LABEL_LAYOUTS[0])


IN_MEMORY = ("vertex_order", "label_layout")
CHOICES = {"tie": tuple(TIES), "vertex_order": VERTEX_ORDERS, "label_layout": LABEL_LAYOUTS}  # the default is first


POLICIES = {"modern": Policy(), "paper": Policy(reopen=False, tie="fifo")}


def parse(text: str, base: Policy = POLICIES["modern"]) -> Policy:
    """Parse `modern`, `paper`, or either with changes: `modern,bpmx=on`; changes alone are those of `base`."""
    policy = base
    for position, part in enumerate(text.split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if position == 0 and not equals and key in POLICIES:
            policy = POLICIES[key]
        elif key in CHOICES and equals:
            chosen: dict[str, Any] = {key: value}
            policy = replace(policy, **chosen)
        elif key == "reopen" and value in ("on", "off"):
            policy = replace(policy, reopen=value == "on")
        elif key == "bpmx" and value in ("on", "off"):
            policy = replace(policy, bpmx=value == "on")
        else:
            choices = ", ".join(f"{name}={'|'.join(known)}" for name, known in CHOICES.items())
            raise UsageError(
                f"Cannot read {part!r} in the search policy {text!r}: write modern or paper, "
                f"then any of reopen=on|off, bpmx=on|off, {choices}."
            )
    return policy


def switch(name: str, value: Any) -> bool | str:
    """Return the value of one switch, given as a bool or as text such as on, off or fifo."""
    text = _on_or_off(value) if isinstance(value, bool) else str(value)
    parsed: bool | str = getattr(parse(f"{name}={text}"), name)
    return parsed


def _on_or_off(value: bool) -> str:
    return "on" if value else "off"
