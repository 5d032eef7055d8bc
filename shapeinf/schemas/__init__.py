"""The JSON of records, and the JSON Schemas of all JSON that shapeinf prints and writes; docs/json.md lists them.

The version in the name of a schema changes when a key changes its meaning or goes away; a new key alone does not change
it. `tools/make_json_schemas.py` makes the files from the classes of the records.
"""

from __future__ import annotations

import json
from typing import Any

from shapeinf.schemas.records import CONVERTERS, FORMS, JsonSchema, json_keys, json_record, to_json

__all__ = [
    "CONVERTERS",
    "FORMS",
    "JsonSchema",
    "json_keys",
    "json_record",
    "json_text",
    "load_schema",
    "schema_names",
    "to_json",
]


def json_text(record: object) -> str:
    """The JSON of a record as commands print it: ASCII, indented, without a line end at its end."""
    return json.dumps(to_json(record), indent=2)


def schema_names() -> list[str]:
    """The values of the field `schema`, sorted."""
    from importlib.resources import files

    names = (file.name for file in files("shapeinf.schemas").iterdir() if file.name.endswith(".json"))
    return sorted(f"shapeinf.{name.removesuffix('.json').replace('-', '/')}" for name in names)


def load_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a name of `schema_names`.

    >>> load_schema("shapeinf.memory/1")["properties"]["schema"]
    {'const': 'shapeinf.memory/1'}
    """
    from importlib.resources import files

    file = name.removeprefix("shapeinf.").replace("/", "-") + ".json"
    schema: dict[str, Any] = json.loads(files("shapeinf.schemas").joinpath(file).read_text(encoding="utf-8"))
    return schema
