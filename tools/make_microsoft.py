"""Write `opdefs/microsoft/schemas.json`: the operators of ONNX Runtime's own domains, as its wheel lists them.

Run it after a new release of onnxruntime, look at the difference, and give new operators a rule:

    python tools/make_microsoft.py
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import onnx
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

DOMAINS = ("com.microsoft", "com.microsoft.nchwc")
TARGET = Path(__file__).resolve().parent.parent / "opdefs" / "microsoft" / "schemas.json"


def main() -> None:
    schemas = [s for s in runtime.get_all_operator_schema() if s.domain in DOMAINS]
    schemas.sort(key=lambda s: (s.domain, s.name, s.since_version))
    lines = ",\n".join(json.dumps(entry(s), sort_keys=True) for s in schemas)
    TARGET.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(schemas)} operators in {TARGET}")


def entry(s: Any) -> dict[str, object]:
    """One operator; false and empty entries are left out."""
    allowed = {t.type_param_str: t.allowed_type_strs for t in s.type_constraints}
    return {
        "name": s.name,
        "domain": s.domain,
        "since_version": s.since_version,
        "inputs": [parameter(p, allowed) for p in s.inputs],
        "outputs": [parameter(p, allowed) for p in s.outputs],
        "attributes": [attribute(s.attributes[name]) for name in sorted(s.attributes)],
    } | ({"deprecated": True} if s.deprecated else {})


def parameter(p: Any, allowed: dict[str, list[str]]) -> dict[str, object]:
    """`type` is a type variable, or a type where only one is allowed."""
    types = allowed.get(p.typeStr, [p.typeStr])
    result: dict[str, object] = {"name": p.name, "type": types[0] if len(types) == 1 else p.typeStr}
    option = p.option.name.lower()
    if option != "single":
        result["option"] = option
    if not p.isHomogeneous:
        result["homogeneous"] = False
    return result


def attribute(a: Any) -> dict[str, object]:
    result: dict[str, object] = {"name": a.name, "type": a.type.name.lower()}
    if a.required:
        result["required"] = True
    default = onnx.AttributeProto.FromString(a._default_value)
    if default.type:
        value = onnx.helper.get_attribute_value(default)
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"the default of {a.name} is no JSON number: {value}")
        result["default"] = value.decode() if isinstance(value, bytes) else value
    return result


if __name__ == "__main__":
    main()
