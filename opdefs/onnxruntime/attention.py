"""Temporaries of attention, in float32 if nothing else is documented.

B batch, S queries, L keys of this call, T keys with those of the past, h heads, d and e their sizes of keys and values.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from opdefs.onnxruntime.kernels import MS, onnxruntime
from shapeinf.errors import NotKnown
from shapeinf.expr import Dimension, DimSize, maximum, minimum
from shapeinf.memory.runtimes.kernels import KernelContext, Scratch

PER_HEAD = 64
"""The bytes for each head of each sample: the arguments of its products."""


@onnxruntime.scratch("Attention", domain=MS)
def fused_attention(c: KernelContext) -> Scratch:
    """Input, weight, bias, mask, past, bias of scores: the projections are a temporary of this kernel."""
    return projected_attention(c, mask=3, past=4)


@onnxruntime.scratch("QAttention", domain=MS)
def quantized_attention(c: KernelContext) -> Scratch:
    """Input, weight, bias, scales of both, mask, zero points of both, past."""
    return projected_attention(c, mask=5, past=8)


def projected_attention(c: KernelContext, mask: int, past: int) -> Scratch:
    """Projections, mask, scores, and the result before its heads are joined."""
    x, columns = c.input(0), c.input(1)[-1]
    batch, queries, heads = x[0], x[1], head_count(c)
    keys = c.sum(queries, c.input(past)[3]) if c.has_input(past) else queries
    projections = c.product(4, batch, queries, columns)
    result = c.product(4, *c.result)
    return Scratch(
        [projections, *_mask(c, mask, batch, queries, keys), *_scores(c, batch, heads, queries, keys, result)]
    )


def head_count(c: KernelContext) -> int:
    """The attribute `num_heads`. Raises NotKnown if it is absent."""
    heads = c.integer("num_heads")
    if heads < 1:
        raise NotKnown("the number of heads is not known")
    return heads


def _mask(c: KernelContext, mask: int, batch: DimSize, queries: DimSize, keys: DimSize) -> list[DimSize]:
    """The mask to add, a row a sample; a matrix a sample for causal attention and for masks of three axes."""
    is_causal = bool(c.integer("unidirectional"))
    if not is_causal and not c.has_input(mask):
        return []
    has_rows = is_causal or len(c.input(mask)) > 2
    return [c.product(4, batch, queries if has_rows else 1, keys)]


def _scores(
    c: KernelContext, batch: DimSize, heads: DimSize, queries: DimSize, keys: DimSize, result: DimSize
) -> list[DimSize]:
    """The scores of all heads, the arguments of their products, and the result with separate heads."""
    return [c.product(4, batch, heads, queries, keys), c.product(PER_HEAD, batch, heads), result]


@attrs.frozen
class Blocks:
    """Attention in blocks of queries and keys that fit into the second-level cache (flash attention)."""

    queries: DimSize
    keys: DimSize
    depth: DimSize
    value_depth: DimSize

    def buffer(self, c: KernelContext) -> DimSize:
        """The maximum and the sum of each row, scores and results of a block, for each thread."""
        both = self.depth + self.value_depth
        most = maximum(c.options.l2_cache_bytes // (16 * both), 1)
        keys, queries = minimum(most, self.keys), minimum(most, both, self.queries)
        block = c.sum(2 * queries, c.product(queries, keys), c.product(queries, self.value_depth))
        return c.product(4, c.options.threads, block)


@onnxruntime.scratch("MultiHeadAttention", domain=MS)
def multi_head_attention(c: KernelContext) -> Scratch:
    """Queries, keys and values with separate heads, then blocks or all scores; a biased copy of one of them before."""
    bias, mask, scores, past = 3, 4, 5, 6
    if len(c.input(0)) != 3 or not c.has_input(2) or any(map(c.has_input, (8, 9))):
        raise NotKnown("the temporaries of MultiHeadAttention with packed operands or shared buffers are not known")
    (batch, queries, size), key, value, heads = c.input(0), c.input(1), c.input(2), head_count(c)
    is_split = len(key) == 4
    length = key[2] if is_split else key[1]
    keys = c.sum(length, c.input(past)[2]) if c.has_input(past) else length
    result = c.product(4, *c.result)
    query = c.product(4, batch, queries, size)
    sides = [] if is_split else [c.product(4, *key), c.product(4, *value)]
    simple = not any(map(c.has_input, (mask, scores, past))) and not any(map(c.has_output, (1, 2)))
    if simple and not is_split and not c.integer("unidirectional"):
        blocks = Blocks(queries, keys, size // heads, value[-1] // heads)
        last = [blocks.buffer(c)]
    else:
        last = [*_mask(c, mask, batch, queries, keys), *_scores(c, batch, heads, queries, keys, result)]
    if not c.has_input(bias):
        return Scratch([query, *sides, *last])
    return Scratch([_peak_with_bias(c, [query, *sides], last)])


def _peak_with_bias(c: KernelContext, operands: Sequence[DimSize], last: Sequence[DimSize]) -> DimSize:
    """Operands one after the other: each with its copy without bias and its part of the bias; then `last`."""
    widths = [c.product(4, c.input(index)[-1]) for index in range(len(operands))]
    stages = [c.total(*operands[: i + 1], operands[i], widths[i]) for i in range(len(operands))]
    return maximum(*stages, c.total(*operands, *last))


@onnxruntime.scratch("GroupQueryAttention", domain=MS)
def group_query_attention(c: KernelContext) -> Scratch:
    """Operands with separate heads, rotated copies, and blocks; a row of scores for one query."""
    total_length, bias = 6, 10
    if c.dtype(0) != "float32" or c.integer("smooth_softmax") > 0 or len(c.types) > bias + 1 or c.has_output(3):
        raise NotKnown("the temporaries of GroupQueryAttention with these types, or with sinks, were not measured")
    (batch, queries, width), heads, key_heads = c.input(0), head_count(c), c.integer("kv_num_heads")
    is_packed = not c.has_input(1)
    depth = width // (heads + 2 * key_heads) if is_packed else width // heads
    query, key = (c.product(4, batch, count, queries, depth) for count in (heads, key_heads))
    operands = [c.product(4, batch, queries, width)] if is_packed else [query, key, key]
    rotated = ([operands[0]] if is_packed else [query, key]) if c.integer("do_rotary") else []
    if _has_softcap(c):
        return Scratch([*operands, *rotated, c.product(4, batch, heads, queries, c.output(1)[2])])
    keys, is_bound = _total_length(c, total_length)
    row = c.product(4, c.options.threads, c.sum(keys, depth))
    blocks = Blocks(queries, keys, depth, depth).buffer(c)
    return Scratch([*operands, *rotated, c.choose(queries, 1, row, blocks)], is_bound=is_bound)


def _has_softcap(c: KernelContext) -> bool:
    softcap = c.attribute("softcap", 0.0)
    return isinstance(softcap, float) and softcap > 0


def _total_length(c: KernelContext, position: int) -> tuple[DimSize, bool]:
    """The keys with those of the past, which an input of one element states; at most the length of the cache."""
    try:
        length = c.contents(position)[0]
    except (NotKnown, IndexError):
        length = None
    if isinstance(length, (int, Dimension)):
        return length, False
    return c.output(1)[2], True


@onnxruntime.scratch("Attention", since=23)
def standard_attention(c: KernelContext) -> Scratch:
    """The scores of all heads, and the mask to add where it is computed: of bools, and with causal attention."""
    mask, past, lengths = 3, 4, 6
    width, x, key = c.width(0), c.input(0), c.input(1)
    is_split = len(x) == 4
    batch, heads, queries = x[0], x[1] if is_split else c.integer("q_num_heads"), x[2] if is_split else x[1]
    keys = key[2] if is_split else key[1]
    if c.has_input(past):
        keys = c.sum(keys, c.input(past)[2])
    buffers = [c.product(width, batch, heads, queries, keys)]
    is_causal = bool(c.integer("is_causal"))
    if c.has_input(mask) and (is_causal or c.dtype(mask) == "bool"):
        buffers.append(c.product(width, *c.input(mask)))
    elif is_causal and not c.has_input(lengths):
        buffers.append(c.product(width, queries, keys))
    if c.dtype(0) == "float32":
        return Scratch(buffers)
    converted = [c.product(4, queries, keys)] * c.options.threads  # one for each head that a thread computes
    return Scratch([*buffers, *converted], is_bound=c.options.threads > 1)


onnxruntime.none("RotaryEmbedding")
onnxruntime.none("RotaryEmbedding", domain=MS)
