"""OpDefs from the declarations of the operations."""

from __future__ import annotations

from opdefs.nnef.library import library
from shapeinf.formats.nnef.language.ast import (
    ArrayExpr,
    Expr,
    Fragment,
    FragmentResult,
    Number,
    Parameter,
    Text,
    Truth,
    TupleExpr,
)
from shapeinf.formats.nnef.language.types import DTYPES, GENERIC, ArrayOf, NnefType, Primitive, TensorOf
from shapeinf.formats.nnef.versions import VERSIONS
from shapeinf.ops import ArgDef, AttrDef, OpDef
from shapeinf.sharing import build_once

TYPE_ARGUMENT = "?"
"""The attribute for the dtype of the type argument of a generic operation; absent without a type argument."""

_DIALECTS = {version: dialect for dialect, version in VERSIONS.items()}


def schema(domain: str, op: str, version: int) -> OpDef | None:
    """The OpDef in the dialect that a version stands for (see `versions`); None for an unknown operation."""
    fragment = None if domain else _fragments(version).get(op)
    return None if fragment is None else op_def(fragment)


@build_once
def _fragments(version: int) -> dict[str, Fragment]:
    return {fragment.name: fragment for fragment in library(_DIALECTS.get(version, "final"))}


def op_def(fragment: Fragment) -> OpDef:
    """The OpDef of a declaration: its tensors are inputs, all other parameters are attributes."""
    in_order = sorted(fragment.parameters, key=lambda p: isinstance(p.type, ArrayOf))  # arrays of tensors come last
    inputs = [(p, tensor_type(p.type)) for p in in_order]
    input_types = {t.of for _, t in inputs if t is not None}
    return OpDef(
        fragment.name,
        "nnef",
        inputs=tuple(_input(p, t) for p, t in inputs if t is not None),
        outputs=tuple(_output(r, input_types) for r in fragment.results),
        attributes=_attributes(fragment),
    )


def tensor_type(declared: NnefType) -> TensorOf | None:
    """The type of a tensor, or of the tensors of an array; None of anything else."""
    inner = declared.of if isinstance(declared, ArrayOf) else declared
    return inner if isinstance(inner, TensorOf) else None


def _input(p: Parameter, tensor: TensorOf) -> ArgDef:
    variable = None if tensor.of is None else tensor.of.name
    is_array = isinstance(p.type, ArrayOf)
    return ArgDef(p.name, type_attr=variable, optional=p.default is not None, variadic=is_array)


def _output(result: FragmentResult, input_types: set[Primitive | None]) -> ArgDef:
    """A result, whose element type is that of the first input of the same type: `tensor<scalar>` may have any width."""
    tensor = tensor_type(result.type)
    of = None if tensor is None else tensor.of
    is_array = isinstance(result.type, ArrayOf)
    if of is None or of == GENERIC or (of in input_types and of.name == "scalar"):
        return ArgDef(result.name, type_attr=None if of is None else of.name, variadic=is_array)
    return ArgDef(result.name, type=DTYPES[of.name], variadic=is_array)


def _attributes(fragment: Fragment) -> dict[str, AttrDef]:
    attributes = {p.name: _attribute(p) for p in fragment.parameters if tensor_type(p.type) is None}
    if fragment.generic:
        default = fragment.generic_default
        dtype = None if default is None else DTYPES[default.name]
        attributes[TYPE_ARGUMENT] = AttrDef(TYPE_ARGUMENT, "string", dtype, default is not None)
    return attributes


def _attribute(p: Parameter) -> AttrDef:
    value = None if p.default is None else _literal(p.default)
    return AttrDef(p.name, str(p.type), value, p.default is not None, required=p.default is None)


def _literal(default: Expr) -> object:
    if isinstance(default, (Number, Text, Truth)):
        return default.value
    if isinstance(default, (ArrayExpr, TupleExpr)):
        return tuple(_literal(item) for item in default.items)
    return None
