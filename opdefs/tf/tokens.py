"""Splits of strings, n-grams and Unicode code points, as sparse or ragged tensors."""

from __future__ import annotations

from opdefs.rules.contents.text import known_texts, split_text
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.sparse_operands import SparseShapes, sparse_output
from shapeinf.expr import DimSize
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value


def _split(c: TensorFlowContext, strings: Shape, separator: Shape, most: int | None = None) -> SparseShapes:
    """[N], separator [] -> a sparse [N, *], with at most `most` parts of each string."""
    (rows,) = c.with_rank(strings, 1)
    c.with_rank(separator, 0)
    parts: DimSize = c.fresh("parts", 0, most)
    count: DimSize = 0 if rows == 0 else c.fresh("nnz") if most is None else c.fresh_at_most(rows * most, "nnz")
    return sparse_output(c, count, 2, [rows, parts])


@tf("StringSplit")
def string_split(
    c: TensorFlowContext, input: Value, delimiter: Value, *, skip_empty: bool = True
) -> tuple[PartialTensor | Shape, ...]:
    """[N], delimiter [] -> a sparse [N, *]: the parts of each string; contents for a delimiter of one character."""
    texts, separator = known_texts(input), known_texts(delimiter)
    if texts is None or not separator or len(separator[0]) != 1:
        return _split(c, input.shape, delimiter.shape)
    parts = (split_text(text, separator[0]) if text else [] for text in texts)
    return _sparse_rows([[part for part in row if part or not skip_empty] for row in parts])


@tf("StringSplitV2")
def string_split_v2(
    c: TensorFlowContext, input: Value, sep: Value, *, maxsplit: int = -1
) -> tuple[PartialTensor | Shape, ...]:
    """As StringSplit, with at most `maxsplit` splits of each string; all if it is negative."""
    texts, separator = known_texts(input), known_texts(sep)
    if texts is None or not separator or maxsplit >= 0:
        return _split(c, input.shape, sep.shape, None if maxsplit < 0 else maxsplit + 1)
    return _sparse_rows([split_text(text, separator[0]) for text in texts])


def _sparse_rows(rows: list[list[str]]) -> tuple[PartialTensor, ...]:
    """The indices, values and dense shape of a sparse matrix with these rows."""
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = [part for row in rows for part in row]
    count = Shape((len(values),))
    return (
        PartialTensor("int64", Shape((*count, 2)), [index for pair in indices for index in pair]),
        PartialTensor("string", count, values),
        PartialTensor("int64", Shape((2,)), [len(rows), max(map(len, rows), default=0)]),
    )


@tf("StringNGrams")
def string_ngrams(c: TensorFlowContext, data: Shape, data_splits: Shape) -> tuple[Shape, Shape]:
    """[N], row splits [R] -> the n-grams [*], and their row splits [R]."""
    c.with_rank(data, 1)
    return c.vector(c.fresh("ngrams")), c.with_rank(data_splits, 1)


def _decode(c: TensorFlowContext, strings: Shape) -> tuple[Shape, Shape]:
    """Row splits [N + 1] of N strings, and their code points [*]."""
    shape = c.store.canon_shape(strings)
    count = c.fresh("strings") if shape.dims is None else c.num_elements(shape)
    return c.vector(c.add(count, 1)), c.vector(c.fresh("characters"))


@tf("UnicodeDecode")
def unicode_decode(c: TensorFlowContext, input: Shape) -> tuple[Shape, Shape]:
    """[*S] -> row splits [N + 1] of the N strings, and their code points [*]."""
    return _decode(c, input)


@tf("UnicodeDecodeWithOffsets")
def unicode_decode_with_offsets(c: TensorFlowContext, input: Shape) -> tuple[Shape, Shape, Shape]:
    """As UnicodeDecode, with the first byte [*] of each code point."""
    splits, points = _decode(c, input)
    return splits, points, points


@tf("UnicodeEncode")
def unicode_encode(c: TensorFlowContext, input_values: Shape, input_splits: Shape) -> Shape:
    """[N], row splits [R + 1] -> [R]: a string for each row of code points."""
    c.with_rank(input_values, 1)
    return c.vector(c.subtract(c.with_rank(input_splits, 1)[0], 1))
