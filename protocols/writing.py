"""Writing a study as TOML that reads back to the same study."""

import json
import re
from typing import Any

from aacbench.run.records import MethodChoice, Study

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(study: Study) -> str:
    """Return the study as a protocol with every key."""
    record = study.record()
    queries = record.pop("queries")
    del record["methods"]
    parts = [_lines(record), "[queries]\n" + _lines(queries)]
    parts += ["[[methods]]\n" + _lines(_method(choice)) for choice in study.methods]
    return "\n".join(parts)


def _method(choice: MethodChoice) -> dict[str, Any]:
    tables = {"settings": choice.settings, "grid": choice.grid}
    return {"name": choice.name} | {key: dict(table) for key, table in tables.items() if table}


def _lines(table: dict[str, Any]) -> str:
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        # JSON's escapes are valid in TOML, but TOML also wants the delete character escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value) if isinstance(value, bool) else repr(value)
