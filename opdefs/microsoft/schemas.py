"""OpDefs of ONNX Runtime's own domains, from `schemas.json` (written by `tools/make_microsoft.py`)."""

from __future__ import annotations

import json
from typing import Any

from opdefs.onnx.schemas import fixed_dtype
from shapeinf.ops import ArgDef, AttrDef, OpDef
from shapeinf.ops.package_data import read_package_text
from shapeinf.sharing import build_once

DOMAINS = ("com.microsoft", "com.microsoft.nchwc")


def schema(domain: str, op: str, version: int) -> OpDef | None:
    """The OpDef in force at an opset version (0 for the newest), None for an unknown operator.

    >>> schema("com.microsoft", "Gelu", 1).inputs[0].name
    'X'
    """
    versions = [d for d in op_defs().get((domain, op), ()) if version <= 0 or d.since <= version]
    return max(versions, key=lambda d: d.since, default=None)


@build_once
def op_defs() -> dict[tuple[str, str], list[OpDef]]:
    """All operators by (domain, name); the file is read once, on first use."""
    definitions: dict[tuple[str, str], list[OpDef]] = {}
    for entry in json.loads(read_package_text(__package__, "schemas.json")):
        definitions.setdefault((entry["domain"], entry["name"]), []).append(_op_def(entry))
    return definitions


def _op_def(entry: dict[str, Any]) -> OpDef:
    return OpDef(
        entry["name"],
        "onnx",
        entry["domain"],
        entry["since_version"],
        tuple(map(_arg, entry["inputs"])),
        tuple(map(_arg, entry["outputs"])),
        {a["name"]: _attribute(a) for a in entry["attributes"]},
        deprecated=entry.get("deprecated", False),
    )


def _arg(p: dict[str, Any]) -> ArgDef:
    fixed, option = fixed_dtype(p["type"]), p.get("option")
    return ArgDef(
        p["name"],
        type=fixed,
        type_attr=None if fixed else p["type"],
        optional=option == "optional",
        variadic=option == "variadic",
    )


def _attribute(a: dict[str, Any]) -> AttrDef:
    default = a.get("default")
    return AttrDef(a["name"], a["type"], default, default is not None, required=a.get("required", False))
