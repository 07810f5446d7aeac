"""What a verdict rests on, cell by cell, and one digest of all of it: a Merkle root."""

import hashlib
from collections.abc import Mapping
from typing import Any

from aacbench.run.store import Cell
from aacbench.util.canonical import digest, plain

TAG = "aacbench.prereg.cell/1"
FACTS = ("outcome", "reason", "key", "lock", "chosen_from", "bytes", "tier", "claims", "audit")


def leaf(cell: Cell) -> str:
    """The digest of all that verdicts take from a cell: its rows, bytes, claims and audit, and no times."""
    facts: dict[str, Any] = {name: plain(cell.record.get(name)) for name in FACTS}
    facts["queries_sha256"] = cell.record["files"].get("queries.csv")
    return digest({"cell": cell.cell_id, **facts}, TAG)


def merkle_root(leaves: Mapping[str, str]) -> str:
    """The root of a tree over the leaves in the order of cells; leaves and nodes are told apart as in RFC 6962."""
    level = [hashlib.sha256(b"\0" + bytes.fromhex(leaves[name])).digest() for name in sorted(leaves)]
    if not level:
        return hashlib.sha256().hexdigest()
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [hashlib.sha256(b"\1" + b"".join(pair)).digest() if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0].hex()
