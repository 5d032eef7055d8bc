"""Write `opdefs/microsoft/schemas.txt`: the operators of ONNX Runtime's own domains, as its wheel lists them.

Run it after a new release of onnxruntime, look at the difference, and give new operators a rule:

    python tools/make_microsoft.py

The table has the form of that of onnx: see `opdefs/onnx/schema_table.py`.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import onnx
from make_onnx_schemas import OPDEFS, write
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

from opdefs.microsoft.dialect import DOMAINS
from opdefs.onnx.allowed_values import ANY_ATTRIBUTE, allowed_values
from opdefs.onnx.installed import fixed_dtype, type_name
from opdefs.onnx.schema_table import FILE
from shapeinf.ops import ArgDef, AttrDef, OpDef


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    definitions = [op_def(s) for s in runtime.get_all_operator_schema() if s.domain in DOMAINS]
    write(OPDEFS / "microsoft" / FILE, "ONNX Runtime", dict.fromkeys(DOMAINS, 1), definitions)


def op_def(s: Any) -> OpDef:
    allowed = {t.type_param_str: t.allowed_type_strs for t in s.type_constraints}
    return OpDef(
        s.name,
        "onnx",
        s.domain,
        s.since_version,
        tuple(argument(p, allowed, s.min_input - i) for i, p in enumerate(s.inputs)),
        tuple(argument(p, allowed, s.min_output - i) for i, p in enumerate(s.outputs)),
        {name: attribute(s, s.attributes[name]) for name in sorted(s.attributes)},
        type_sets(s, allowed),
        deprecated=s.deprecated,
        any_attribute=(s.domain, s.name) in ANY_ATTRIBUTE,
    )


def type_sets(s: Any, allowed: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    """The types that each type variable of inputs may be, without the variables of a single element type.

    ONNX Runtime does not compare the types of outputs.
    """
    used = {p.typeStr for p in s.inputs}
    several = {name: types for name, types in sorted(allowed.items()) if name in used}
    return {
        name: tuple(sorted(map(type_name, types)))
        for name, types in several.items()
        if len(types) > 1 or not fixed_dtype(types[0])
    }


def argument(p: Any, allowed: dict[str, list[str]], least: int) -> ArgDef:
    """An input or output of an operator, with a fixed element type where the schema allows only one.

    `least` is the least number of values of a variadic one.
    """
    types = allowed.get(p.typeStr, [p.typeStr])
    variable = types[0] if len(types) == 1 else p.typeStr
    fixed, option = fixed_dtype(variable), p.option.name.lower()
    return ArgDef(
        p.name,
        type=fixed,
        type_attr=None if fixed or not p.isHomogeneous else variable,
        each_of=None if fixed or p.isHomogeneous else variable,
        optional=option == "optional",
        variadic=option == "variadic",
        least=max(least, 0) if option == "variadic" else 0,
    )


def attribute(s: Any, a: Any) -> AttrDef:
    default = onnx.AttributeProto.FromString(a._default_value)
    value = onnx.helper.get_attribute_value(default) if default.type else None
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"the default of {a.name} is not a JSON number: {value}")
    if isinstance(value, bytes):
        value = value.decode()
    allowed = allowed_values(s.domain, s.name, s.since_version, a.name)
    return AttrDef(a.name, a.type.name.lower(), value, value is not None, allowed=allowed, required=a.required)


if __name__ == "__main__":
    main()
