"""Splits of strings, n-grams and Unicode code points, as sparse or ragged tensors."""

from __future__ import annotations

from opdefs.tf.dialect import tf
from opdefs.tf.sparse_operands import SparseShapes, sparse_output
from shapeinf.expr import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def _split(c: InferenceContext, strings: Shape, separator: Shape, most: int | None = None) -> SparseShapes:
    """[N], separator [] -> a sparse [N, *], with at most `most` parts of each string."""
    (rows,) = c.with_rank(strings, 1)
    c.with_rank(separator, 0)
    parts: Dim = c.fresh("parts", 0, most)
    count: Dim = 0 if rows == 0 else c.fresh("nnz") if most is None else c.fresh_at_most(rows * most, "nnz")
    return sparse_output(c, count, 2, [rows, parts])


@tf("StringSplit")
def string_split(c: InferenceContext, input: Shape, delimiter: Shape) -> SparseShapes:
    """[N], delimiter [] -> a sparse [N, *]: the parts of each string."""
    return _split(c, input, delimiter)


@tf("StringSplitV2")
def string_split_v2(c: InferenceContext, input: Shape, sep: Shape, *, maxsplit: int = -1) -> SparseShapes:
    """As StringSplit, with at most `maxsplit` splits of each string; all if it is negative."""
    return _split(c, input, sep, None if maxsplit < 0 else maxsplit + 1)


@tf("StringNGrams")
def string_ngrams(c: InferenceContext, data: Shape, data_splits: Shape) -> tuple[Shape, Shape]:
    """[N], row splits [R] -> the n-grams [*], and their row splits [R]."""
    c.with_rank(data, 1)
    return c.vector(c.fresh("ngrams")), c.with_rank(data_splits, 1)


def _decode(c: InferenceContext, strings: Shape) -> tuple[Shape, Shape]:
    """Row splits [N + 1] of N strings, and their code points [*]."""
    shape = c.store.canon_shape(strings)
    count = c.fresh("strings") if shape.dims is None else c.num_elements(shape)
    return c.vector(c.add(count, 1)), c.vector(c.fresh("characters"))


@tf("UnicodeDecode")
def unicode_decode(c: InferenceContext, input: Shape) -> tuple[Shape, Shape]:
    """[*S] -> row splits [N + 1] of the N strings, and their code points [*]."""
    return _decode(c, input)


@tf("UnicodeDecodeWithOffsets")
def unicode_decode_with_offsets(c: InferenceContext, input: Shape) -> tuple[Shape, Shape, Shape]:
    """As UnicodeDecode, with the first byte [*] of each code point."""
    splits, points = _decode(c, input)
    return splits, points, points


@tf("UnicodeEncode")
def unicode_encode(c: InferenceContext, input_values: Shape, input_splits: Shape) -> Shape:
    """[N], row splits [R + 1] -> [R]: a string for each row of code points."""
    c.with_rank(input_values, 1)
    return c.vector(c.subtract(c.with_rank(input_splits, 1)[0], 1))
