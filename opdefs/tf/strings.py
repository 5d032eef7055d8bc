"""Strings: operators on each string, joins, parts of strings, and hashes."""

from __future__ import annotations

from opdefs.rules.contents.elements import known_ints
from opdefs.tf.common import require_scalars
from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext, Value

# -- one result for each string --------------------------------------------------------------------------------------


_UNARY = (
    *("AsString", "DecodeBase64", "DecodeCompressed", "DecodeJSONExample", "EncodeBase64", "StaticRegexFullMatch"),
    *("StaticRegexReplace", "StringLength", "StringLower", "StringStrip", "StringToHashBucket"),
    *("StringToHashBucketFast", "StringToHashBucketStrong", "StringToNumber", "StringUpper", "UnicodeScript"),
    *("UnicodeTranscode", "_TensorToHashBucketFast"),
)


@tf(*_UNARY)
def unary_string(c: InferenceContext, input: Shape) -> Shape:
    """[*S] -> [*S]."""
    return input


@tf("RegexFullMatch")
def regex_full_match(c: InferenceContext, input: Shape, pattern: Shape) -> Shape:
    """[*S], pattern [] -> [*S]."""
    c.with_rank(pattern, 0)
    return input


@tf("RegexReplace")
def regex_replace(c: InferenceContext, input: Shape, pattern: Shape, rewrite: Shape) -> Shape:
    """[*S], pattern [], replacement [] -> [*S]."""
    require_scalars(c, pattern, rewrite)
    return input


@tf("Fingerprint")
def fingerprint(c: InferenceContext, data: Shape, method: Shape) -> Shape:
    """[N, *S], method [] -> [N, 8]: the bytes of a hash of each row; the only method is farmhash64."""
    c.with_rank(method, 0)
    return c.matrix(c.dim(c.with_rank_at_least(data, 1), 0), 8)


@tf("SdcaFprint")
def sdca_fingerprint(c: InferenceContext, input: Shape) -> Shape:
    """[N] -> [N, 2]: the two halves of a hash of each string."""
    return c.matrix(c.with_rank(input, 1)[0], 2)


# -- joins and formats -----------------------------------------------------------------------------------------------


@tf("StringJoin")
def string_join(c: InferenceContext, *inputs: Shape) -> Shape:
    """[*S] or [], ... -> [*S]."""
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
def string_format(c: InferenceContext, *inputs: Shape) -> Shape:
    """Tensors -> []."""
    return c.scalar()


@tf("ReduceJoin")
def reduce_join(c: InferenceContext, inputs: Shape, reduction_indices: Value, *, keep_dims: bool = False) -> Shape:
    """[*P, n, *Q], axes -> [*P, *Q], or [*P, 1, *Q] with `keep_dims`."""
    axes = known_ints(reduction_indices)
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
def substr(c: InferenceContext, input: Shape, pos: Shape, len: Shape) -> Shape:
    """[*A], pos [*B], len [*B] -> [*broadcast(A, B)]."""
    pos, length = c.store.canon_shape(pos), c.store.canon_shape(len)
    if pos.dims is not None and length.dims is not None:
        known = zip(pos.dims, length.dims, strict=False)
        if pos.rank != length.rank:
            c.fail(f"Shape must be rank {length.rank} but is rank {pos.rank}")
        if any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in known):
            c.fail("pos and len shapes must match", pos, length)
    return c.broadcast(input, c.merge(pos, length))
