"""OpDefs from the installed `onnx.defs`: for the tool that writes the table, and for operators newer than the table."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import onnx.defs
from onnx.defs import OpSchema

from opdefs.onnx.allowed_values import ANY_ATTRIBUTE, allowed_values
from opdefs.onnx.schema_table import deprecation, expansion
from shapeinf.lattice.dtypes import FROM_ONNX_NAMES
from shapeinf.ops import ArgDef, AttrDef, OpDef

_KINDS = {"seq": "sequence", "optional": "optional"}
_DTYPES = {onnx_name.lower(): name for onnx_name, name in FROM_ONNX_NAMES.items()}
"""Our names of element types by the names in type strings: `{"float": "float32", ...}`."""
_LAST_WORD = re.compile(r"\w+(?=\)*$)")
_TENSOR = re.compile(r"(?<![a-z_])tensor\((\w+)\)")


def newest(domain: str) -> int:
    """The newest opset version of a domain; 0 for an unknown domain."""
    versions = {"": onnx.defs.onnx_opset_version(), "ai.onnx.ml": onnx.defs.onnx_ml_opset_version()}
    return versions.get(domain) or max((s.since_version for s in all_schemas() if s.domain == domain), default=0)


def all_schemas() -> list[OpSchema]:
    """All versions of all operators."""
    return list(onnx.defs.get_all_schemas_with_history())


def installed_schema(domain: str, op: str, version: int) -> OpDef | None:
    """The OpDef in force at an opset version (0 for the newest); None for an unknown operator."""
    try:
        if version > 0:
            return op_def(onnx.defs.get_schema(op, min(version, newest(domain)), domain))
        return op_def(onnx.defs.get_schema(op, domain))
    except onnx.defs.SchemaError:
        return None


def op_def(definition: Any) -> OpDef:
    """The OpDef of an `OpSchema`, which is `Any` because the type stubs of onnx lack the attributes of functions."""
    is_function = definition.has_function or definition.has_context_dependent_function
    return OpDef(
        definition.name,
        "onnx",
        definition.domain,
        definition.since_version,
        tuple(_arg(p) for p in definition.inputs),
        tuple(_arg(p) for p in definition.outputs),
        {name: _attribute(definition, name, a) for name, a in sorted(definition.attributes.items())},
        type_sets(definition),
        deprecated=definition.deprecated,
        deprecation=deprecation(definition.name, definition.since_version) if definition.deprecated else None,
        expand=expansion(definition.domain, definition.name, definition.since_version) if is_function else None,
        complete=True,
        any_attribute=(definition.domain, definition.name) in ANY_ATTRIBUTE,
    )


def _arg(parameter: OpSchema.FormalParameter) -> ArgDef:
    """An input or output. Its type string is a type variable, unless it allows a single type, which is then fixed.

    Heterogeneous arguments, such as the carried values of a loop, share no type variable.
    """
    types = sorted(parameter.types)
    fixed = fixed_dtype(types[0] if len(types) == 1 else parameter.type_str)
    variadic = parameter.option == OpSchema.FormalParameterOption.Variadic
    kind = "tensor"
    for text in types[:1]:
        kind = next((k for prefix, k in _KINDS.items() if text.startswith(prefix)), "tensor")
    return ArgDef(
        parameter.name,
        type=fixed,
        type_attr=None if fixed or not parameter.is_homogeneous else parameter.type_str,
        each_of=None if fixed or parameter.is_homogeneous else parameter.type_str,
        optional=parameter.option == OpSchema.FormalParameterOption.Optional,
        variadic=variadic,
        least=parameter.min_arity if variadic else 0,
        kind=kind if all(t.startswith(types[0].partition("(")[0]) for t in types) else "tensor",
    )


def type_sets(definition: Any) -> dict[str, tuple[str, ...]]:
    """The types that each type variable of an `OpSchema` may be, without the variables of a single element type."""
    allowed = {c.type_param_str: c.allowed_type_strs for c in definition.type_constraints}
    used = {p.type_str for p in (*definition.inputs, *definition.outputs) if not fixed_dtype(_only(p.types))}
    return {variable: tuple(sorted(map(type_name, allowed[variable]))) for variable in sorted(used & allowed.keys())}


def _only(types: Collection[str]) -> str:
    """The only type of a set; empty if there are several."""
    return next(iter(types)) if len(types) == 1 else ""


def type_name(text: str) -> str:
    """Our text of a type.

    >>> type_name("tensor(float)"), type_name("optional(seq(tensor(int64)))"), type_name("map(string, float)")
    ('float32', 'optional(sequence(int64))', 'map(string,float32)')
    """
    text = _TENSOR.sub(r"\1", text.replace(" ", "")).replace("seq(", "sequence(")
    return _LAST_WORD.sub(lambda match: _DTYPES.get(match[0], match[0]), text)


def fixed_dtype(type_text: str) -> str | None:
    """The dtype of a fixed type such as `tensor(int64)`; None for a type variable.

    >>> fixed_dtype("tensor(int64)"), fixed_dtype("seq(tensor(float))"), fixed_dtype("T")
    ('int64', 'float32', None)
    """
    if "(" not in type_text:
        return None
    inner = type_text.rstrip(")").rpartition("(")[2]
    return _DTYPES.get(inner)


def _attribute(definition: Any, name: str, a: OpSchema.Attribute) -> AttrDef:
    default = a.default_value
    has_default = default is not None and default.type != onnx.AttributeProto.UNDEFINED
    value = onnx.helper.get_attribute_value(default) if has_default else None
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, list):
        value = tuple(item.decode() if isinstance(item, bytes) else item for item in value)
    kind = str(a.type).rpartition(".")[2].lower()
    allowed = allowed_values(definition.domain, definition.name, definition.since_version, name)
    return AttrDef(name, kind, value, has_default, allowed=allowed, required=a.required)
