"""What a study folder holds, at a glance: its plan, the outcomes that its cells record, its last run, its size."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from aacbench.errors import AacbenchError
from aacbench.run.events import last_run
from aacbench.run.layout import CELL_FILE, PLAN, REGISTRATION, cell_folder
from aacbench.run.records import OUTCOMES
from aacbench.run.study import read_plan

DAMAGED = "damaged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A study in brief. `problem` says why there is no more to say; `size` is what it takes on disk, in bytes."""

    root: Path
    problem: str = ""
    protocol: str = ""
    graphs: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    budgets: tuple[float, ...] = ()
    seeds: tuple[int, ...] = ()
    planned: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    missing: int = 0
    registered: bool = False
    last_run: Mapping[str, Any] | None = None
    size: int = 0

    def record(self) -> dict[str, Any]:
        return asdict(self) | {"root": str(self.root)}


def find_studies(folder: Path) -> list[Path]:
    """Return the study folders: this one, those in it, and those one level deeper."""
    return sorted({path.parent for pattern in ("", "*/", "*/*/") for path in folder.glob(pattern + PLAN)})


def overview(root: Path) -> Overview:
    """Look at a study without reading its rows or checking its files."""
    try:
        plan = read_plan(root)
        study = (plan or {}).get("study", {})
        outcomes = _outcomes(root, (plan or {}).get("cells", ()))
        return Overview(
            root=root,
            protocol=study.get("protocol", ""),
            graphs=tuple(study.get("graphs", ())),
            methods=tuple(map(_label, study.get("methods", ()))),
            budgets=tuple(study.get("budgets", ())),
            seeds=tuple(study.get("seeds", ())),
            planned=outcomes.total(),
            outcomes={name: outcomes[name] for name in (*OUTCOMES, DAMAGED) if outcomes[name]},
            missing=outcomes[""],
            registered=(root / REGISTRATION).exists(),
            last_run=last_run(root),
            size=size_on_disk(root),
        )
    except AacbenchError as error:
        return Overview(root=root, problem=str(error))


def size_on_disk(root: Path) -> int:
    """Return the bytes that the contents of a folder take on disk."""
    total, folders = 0, [str(root)]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:  # removed in between
            for entry in entries:
                with suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
    return total


def _outcomes(root: Path, cells: Iterable[str]) -> Counter[str]:
    """Count the planned cells by outcome; a missing one has the outcome of no name."""
    found: Counter[str] = Counter()
    for name in cells:
        try:
            with cell_folder(root, name).joinpath(CELL_FILE).open("rb", buffering=0) as file:
                outcome = json.loads(file.readall())["outcome"]
        except FileNotFoundError:
            outcome = ""
        except (OSError, ValueError, LookupError, TypeError):
            outcome = DAMAGED
        found[outcome if outcome in OUTCOMES or not outcome else DAMAGED] += 1
    return found


def _label(method: Mapping[str, Any]) -> str:
    """Return a method of a plan as a user writes it, with the values of its grid."""
    grid = {key: "|".join(map(str, values)) for key, values in method.get("grid", {}).items()}
    inside = ",".join(f"{key}={value}" for key, value in {**grid, **method.get("settings", {})}.items())
    return f"{method['name']}[{inside}]" if inside else str(method["name"])
