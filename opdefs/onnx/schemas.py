"""OpDefs from `onnx.defs`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import onnx.defs
from onnx.defs import OpSchema

from opdefs.onnx.functions import expansion
from shapeinf.lattice.dtypes import FROM_ONNX_NAMES
from shapeinf.ops import ArgDef, AttrDef, OpDef

_KINDS = {"seq": "sequence", "optional": "optional"}
_LARGEST = (1 << 31) - 1
"""Files have versions of 64 bits, `onnx.defs` takes 32."""
_DTYPES = {onnx_name.lower(): name for onnx_name, name in FROM_ONNX_NAMES.items()}
"""Our names by those in type strings: `{"float": "float32", ...}`."""

SOURCES: dict[str, Callable[[str, str, int], OpDef | None]] = {}
"""Lookup functions of domains that `onnx` does not define; packages of such operators register theirs."""


@lru_cache(maxsize=4096)
def schema(domain: str, op: str, version: int) -> OpDef | None:
    """The OpDef in force at an opset version (0 for the newest), None for an unknown operator."""
    if domain in SOURCES:
        return SOURCES[domain](domain, op, version)
    try:
        if version > 0:
            newest = _LARGEST if domain else onnx.defs.onnx_opset_version()
            definition = onnx.defs.get_schema(op, min(version, newest), domain)
        else:
            definition = onnx.defs.get_schema(op, domain)
    except onnx.defs.SchemaError:
        return None
    return OpDef(
        op,
        "onnx",
        domain,
        definition.since_version,
        tuple(_arg(p) for p in definition.inputs),
        tuple(_arg(p) for p in definition.outputs),
        {name: _attribute(name, a) for name, a in definition.attributes.items()},
        deprecated=definition.deprecated,
        expand=expansion(definition),
    )


def _arg(parameter: OpSchema.FormalParameter) -> ArgDef:
    """Inputs and outputs of one type string share a type variable; one that allows a single type is fixed.

    Heterogeneous values, such as those of a loop, share none.
    """
    types = sorted(parameter.types)
    fixed = fixed_dtype(types[0] if len(types) == 1 else parameter.type_str)
    kind = "tensor"
    for text in types[:1]:
        kind = next((k for prefix, k in _KINDS.items() if text.startswith(prefix)), "tensor")
    return ArgDef(
        parameter.name,
        type=fixed,
        type_attr=None if fixed or not parameter.is_homogeneous else parameter.type_str,
        optional=parameter.option == OpSchema.FormalParameterOption.Optional,
        variadic=parameter.option == OpSchema.FormalParameterOption.Variadic,
        least=parameter.min_arity,
        kind=kind if all(t.startswith(types[0].partition("(")[0]) for t in types) else "tensor",
    )


def fixed_dtype(type_text: str) -> str | None:
    """The dtype of a fixed type such as `tensor(int64)`, None for a type variable.

    >>> fixed_dtype("tensor(int64)"), fixed_dtype("seq(tensor(float))"), fixed_dtype("T")
    ('int64', 'float32', None)
    """
    if "(" not in type_text:
        return None
    inner = type_text.rstrip(")").rpartition("(")[2]
    return _DTYPES.get(inner)


def _attribute(name: str, a: OpSchema.Attribute) -> AttrDef:
    default = a.default_value
    has_default = default is not None and default.type != onnx.AttributeProto.UNDEFINED
    value = onnx.helper.get_attribute_value(default) if has_default else None
    if isinstance(value, bytes):
        value = value.decode()
    kind = str(a.type).rpartition(".")[2].lower()
    return AttrDef(name, kind, value, has_default, required=a.required)
