"""Padding of sequences taken out and put back; positions of tokens."""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.microsoft.laws import length_or_open
from opdefs.rules.operands import vector
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext, Value


@onnx("RemovePadding", domain=MS)
def remove_padding(c: InferenceContext, x: Shape, counts: Shape) -> tuple[Shape, Shape, Shape, Shape]:
    """[B, S, H], [B] -> [T, H] with at most B*S tokens, [B, S] offsets, [B + 1] ends, [1] longest."""
    batch, length, hidden = c.require_rank(x, 3, "input")
    vector(c, counts, batch, "sequence_token_count must hold one value a sequence")
    tokens = c.fresh("tokens", 0, c.interval(batch * length).hi)
    return Shape((tokens, hidden)), Shape((batch, length)), Shape((batch + 1,)), Shape((1,))


@onnx("RestorePadding", domain=MS)
def restore_padding(c: InferenceContext, x: Shape, offsets: Shape) -> Shape:
    """[T, H], [B, S] -> [B, S, H]; there is room for all tokens."""
    x, offsets = c.require_rank(x, 2, "input"), c.require_rank(offsets, 2, "token_offset")
    c.at_most(x[0], c.numel(offsets), "there must be room for all tokens")
    return Shape((*offsets, x[1]))


@onnx("RelativePositionBias", domain=MS)
def relative_position_bias(c: InferenceContext, table: Shape, queries: Value, keys: Value) -> Shape:
    """[buckets, N] -> [1, N, queries, keys], the contents of the other inputs."""
    heads = c.require_rank(table, 2, "bias_table")[1]
    return Shape((1, heads, length_or_open(c, queries, "queries"), length_or_open(c, keys, "keys")))
