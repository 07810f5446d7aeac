"""A cell as tests of the store write it, and the events of a run."""

import json

from aacbench.run.layout import cell_id

KEY = {"method": "alt", "budget": 32.0, "params": {"K": 4}, "seed": 42}
ID = cell_id(KEY)
FILES = {"queries.csv": b"query,split\n0,test\n", "error.txt": "é\n".encode()}
OTHER_FILES = {"queries.csv": b"query,split\n0,train\n"}


def record(**more):
    return {"key": KEY, "outcome": "ok", "reason": None, "build": {"seconds": 1.25}, **more}


def read_events(folder):
    """The events of a run that may still be writing its last line."""
    path = folder / "events.jsonl"
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]] if path.exists() else []


def names(root):
    return sorted(path.name for path in root.rglob("*") if path.name.startswith("."))
