"""Strings: operators on each string, joins, parts of strings, and hashes."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import known_ints, map_elements
from opdefs.rules.contents.ordering import map_rows
from opdefs.rules.contents.text import (
    ascii_part,
    format_plain,
    join_texts,
    known_texts,
    lower,
    map_texts,
    parse_number,
    strip,
    upper,
)
from opdefs.tf.common import require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value

# -- one result for each string --------------------------------------------------------------------------------------


_UNARY = (
    *("DecodeBase64", "DecodeCompressed", "DecodeJSONExample", "EncodeBase64", "StaticRegexFullMatch"),
    *("StaticRegexReplace", "StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong"),
    *("UnicodeScript", "UnicodeTranscode", "_TensorToHashBucketFast"),
)


@tf(*_UNARY)
def unary_string(c: TensorFlowContext, input: Shape) -> Shape:
    """[*S] -> [*S]."""
    return input


@tf("StringToNumber")
def string_to_number(c: TensorFlowContext, string_tensor: Value, *, out_type: str = "float32") -> PartialTensor:
    """[*S] -> [*S]: the numbers of decimal texts."""
    return map_texts(out_type, string_tensor.shape, lambda text: parse_number(text, out_type), string_tensor)


@tf("AsString")
def as_string(
    c: TensorFlowContext,
    input: Value,
    *,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
) -> PartialTensor:
    """[*S] -> [*S]: integers, bools and strings as texts; contents of floats and in other formats are unknown."""
    if width != -1 or fill or scientific or shortest or precision != -1:
        return PartialTensor("string", input.shape, None)
    return map_elements("string", input.shape, format_plain, input)


@tf("StringLength")
def string_length(c: TensorFlowContext, input: Value, *, unit: str = "BYTE") -> PartialTensor:
    """[*S] -> [*S]: the number of bytes, or of characters."""
    return map_texts("int32", input.shape, lambda t: len(t.encode()) if unit == "BYTE" else len(t), input)


_CHANGES = {"StringLower": lower, "StringUpper": upper, "StringStrip": strip}


@tf(*_CHANGES)
def change_string(c: TensorFlowContext, input: Value) -> PartialTensor:
    """[*S] -> [*S]: small or capital letters, or no white space at the ends; contents of ASCII texts."""
    change = _CHANGES[c.op_def.name]
    return map_texts("string", input.shape, lambda text: change(text) if text.isascii() else None, input)


@tf("RegexFullMatch")
def regex_full_match(c: TensorFlowContext, input: Shape, pattern: Shape) -> Shape:
    """[*S], pattern [] -> [*S]."""
    c.with_rank(pattern, 0)
    return input


@tf("RegexReplace")
def regex_replace(c: TensorFlowContext, input: Shape, pattern: Shape, rewrite: Shape) -> Shape:
    """[*S], pattern [], replacement [] -> [*S]."""
    require_scalars(c, pattern, rewrite)
    return input


@tf("Fingerprint")
def fingerprint(c: TensorFlowContext, data: Shape, method: Shape) -> Shape:
    """[N, *S], method [] -> [N, 8]: the bytes of a hash of each row; the only method is farmhash64."""
    c.with_rank(method, 0)
    return c.matrix(c.dim(c.with_rank_at_least(data, 1), 0), 8)


@tf("SdcaFprint")
def sdca_fingerprint(c: TensorFlowContext, input: Shape) -> Shape:
    """[N] -> [N, 2]: the two halves of a hash of each string."""
    return c.matrix(c.with_rank(input, 1)[0], 2)


# -- joins and formats -----------------------------------------------------------------------------------------------


@tf("StringJoin")
def string_join(c: TensorFlowContext, *inputs: Value, separator: str = "") -> PartialTensor:
    """[*S] or [], ... -> [*S]: the strings at each position, joined."""
    return join_texts(_joined_shape(c, [x.shape for x in inputs]), separator, *inputs)


def _joined_shape(c: TensorFlowContext, inputs: Sequence[Shape]) -> Shape:
    """The shape of all inputs that are not scalars."""
    shapes = [c.store.canon_shape(shape) for shape in inputs]
    if all(shape.rank == 0 for shape in shapes):
        return c.scalar()
    result: Shape | None = None
    for shape in shapes:
        if shape.rank:
            result = shape if result is None else c.merge(result, shape)
    if result is None:
        raise c.unknowable("inputs of unknown rank may be scalars")
    return result


@tf("StringFormat")
def string_format(c: TensorFlowContext, *inputs: Shape) -> Shape:
    """Tensors -> []."""
    return c.scalar()


@tf("ReduceJoin")
def reduce_join(
    c: TensorFlowContext, inputs: Value, reduction_indices: Value, *, keep_dims: bool = False, separator: str = ""
) -> PartialTensor:
    """[*P, n, *Q], axes -> [*P, *Q], or [*P, 1, *Q] with `keep_dims`: the strings along the axes, joined.

    Contents for a single axis.
    """
    axes = known_ints(reduction_indices)
    shape = _reduced_shape(c, inputs.shape, axes, keep_dims)
    if axes is None or len(axes) != 1 or known_texts(inputs) is None or inputs.shape.dims is None:
        return PartialTensor("string", shape, None)
    at = axes[0] % len(inputs.shape.dims)
    return PartialTensor("string", shape, map_rows(inputs, at, lambda row: [separator.join(map(str, row))], shape))


def _reduced_shape(c: TensorFlowContext, inputs: Shape, axes: Sequence[int] | None, keep_dims: bool) -> Shape:
    """The shape without the axes, or with 1 in their place."""
    if inputs.dims is None:
        raise c.unknowable("the rank of the strings is unknown")
    rank = len(inputs.dims)
    if axes is None:
        if keep_dims:
            return c.unknown_shape_of_rank(rank)
        raise c.unknowable("the reduced axes are unknown")
    reduced = c.axes(axes, rank)
    if keep_dims:
        return Shape(1 if axis in reduced else d for axis, d in enumerate(inputs.dims))
    return Shape(d for axis, d in enumerate(inputs.dims) if axis not in reduced)


# -- parts -----------------------------------------------------------------------------------------------------------


@tf("Substr")
def substr(c: TensorFlowContext, input: Value, pos: Value, len: Value, *, unit: str = "BYTE") -> PartialTensor:
    """[*A], pos [*B], len [*B] -> [*broadcast(A, B)]: a part of each string; contents of ASCII texts."""
    shape = _substr_shape(c, input.shape, pos.shape, len.shape)
    return map_elements("string", shape, ascii_part, input, pos, len)


def _substr_shape(c: TensorFlowContext, input: Shape, pos: Shape, len: Shape) -> Shape:
    pos, length = c.store.canon_shape(pos), c.store.canon_shape(len)
    if pos.dims is not None and length.dims is not None:
        known = zip(pos.dims, length.dims, strict=False)
        if pos.rank != length.rank:
            c.fail(f"Shape must be rank {length.rank} but is rank {pos.rank}")
        if any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in known):
            c.fail("pos and len shapes must match", pos, length)
    return c.broadcast(input, c.merge(pos, length))
