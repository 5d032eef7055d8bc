"""The JSON Schemas of all JSON that shapeinf prints and writes: a versioned file each, listed in docs/json.md.

The version changes when a key changes its meaning or goes away; a new key alone does not change it.
"""

from __future__ import annotations

import json
from typing import Any

BASELINE = "shapeinf.baseline/1"
CHECK = "shapeinf.check/1"
CHECK_MANY = "shapeinf.check/2"
CLEAN = "shapeinf.clean/1"
COST = "shapeinf.cost/1"
DIFF = "shapeinf.diff/1"
EXPLAIN = "shapeinf.explain/1"
EXPLAIN_DIM = "shapeinf.explain.dim/1"
EXPRESSION = "shapeinf.expression/1"
INFER = "shapeinf.infer/1"
MEMORY = "shapeinf.memory/1"
MEMORY_SUMMARY = "shapeinf.memory.summary/1"
OPS = "shapeinf.ops/1"
OPS_MISSING = "shapeinf.ops.missing/1"
OPS_PACKAGES = "shapeinf.ops.packages/1"
OPS_SHOW = "shapeinf.ops.show/1"
PLAN = "shapeinf.plan/1"
PLAN_VERIFY = "shapeinf.plan.verify/1"
SCAN = "shapeinf.scan/1"
SCAN_ROW = "shapeinf.scan.row/1"
SUMMARY = "shapeinf.summary/1"
UNKNOWNS = "shapeinf.unknowns/1"
VERIFY = "shapeinf.verify/1"

SCHEMAS = (
    BASELINE,
    CHECK,
    CHECK_MANY,
    CLEAN,
    COST,
    DIFF,
    EXPLAIN,
    EXPLAIN_DIM,
    EXPRESSION,
    INFER,
    MEMORY,
    MEMORY_SUMMARY,
    OPS,
    OPS_MISSING,
    OPS_PACKAGES,
    OPS_SHOW,
    PLAN,
    PLAN_VERIFY,
    SCAN,
    SCAN_ROW,
    SUMMARY,
    UNKNOWNS,
    VERIFY,
)
"""The values of the field `schema`."""


def json_text(data: object) -> str:
    """The text of JSON as commands print it: ASCII, indented, without a line end at its end."""
    return json.dumps(data, indent=2)


def load_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a name of `SCHEMAS`.

    >>> load_schema("shapeinf.memory/1")["properties"]["schema"]
    {'const': 'shapeinf.memory/1'}
    """
    assert name in SCHEMAS, name
    file = name.removeprefix("shapeinf.").replace("/", "-") + ".json"
    from importlib.resources import files

    schema: dict[str, Any] = json.loads(files("shapeinf.schemas").joinpath(file).read_text(encoding="utf-8"))
    return schema
