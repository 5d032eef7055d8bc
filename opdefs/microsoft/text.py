"""Text: tokens, hashes, word embeddings, n-grams; padding of token sequences."""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.rules.contents.elements import known_ints
from opdefs.rules.operands import merge_optional, require_scalar, require_single, require_vector
from opdefs.rules.requested import scalar_size_or_fresh
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Value


@onnx("MurmurHash3", domain=MS)
def murmur_hash(c: InferenceContext, x: Shape, *, positive: int = 1) -> TensorType:
    """[*S] -> [*S] hashes of 32 bits."""
    return TensorType("uint32" if positive else "int32", x)


@onnx("Tokenizer", domain=MS)
def tokenizer(c: InferenceContext, x: Shape) -> Shape:
    """[C] -> [C, tokens], [N, C] -> [N, C, tokens]; the output of an empty input has its shape."""
    if len(x) not in (1, 2):
        c.fail("the input must be [C] or [N, C]", x)
    if any(c.prove_eq(d, 0) is True for d in x):
        return x
    if all(c.prove_le(1, d) is True for d in x):
        return Shape((*x, c.fresh("tokens")))
    raise c.unknowable("the input may be empty, and then the output has no axis of tokens")


@onnx("WordConvEmbedding", domain=MS)
def word_conv_embedding(c: InferenceContext, words: Shape, w: Shape, b: Shape, table: Shape) -> Shape:
    """[W, L] characters, filters [M, 1, K, E], [M], embeddings [A, E] -> [W, M]."""
    if len(words) < 2:
        c.fail("the input must be [words, characters]", words)
    w = c.require_rank(w, 4, "W")
    c.at_most(w[2], words[1], "the kernel width W[2] must be at most the word length, axis 1 of the input")
    c.merge(w[3], c.require_rank(table, 2, "C")[1], "W[3] must equal C[1], the size of a character embedding")
    require_vector(c, b, w[0], "the bias must have one value per filter")
    return Shape((words[0], w[0]))


@onnx("NGramRepeatBlock", domain=MS)
def ngram_repeat_block(c: InferenceContext, ids: Shape, scores: Shape) -> Shape:
    """[B, S], [B, V] -> [B, V]."""
    scores = c.require_rank(scores, 2, "scores")
    c.merge(c.require_rank(ids, 2, "input_ids")[0], scores[0], "input_ids and scores must have the same batch size")
    return scores


@onnx("BifurcationDetector", domain=MS)
def bifurcation_detector(
    c: InferenceContext, source: Shape, current: Shape, previous: Value, predicted: Shape | None = None
) -> tuple[Shape, Shape]:
    """[S] source, [C] current, an index, [P] predicted tokens -> [C or more] tokens, an index."""
    (have,) = c.require_rank(current, 1, "cur_tokens")
    (total,) = c.require_rank(source, 1, "src_tokens")
    require_single(c, previous.shape, "prev_suffix_match_idx must have exactly one element")
    if predicted is None:
        return Shape((have,)), previous.shape
    (more,) = c.require_rank(predicted, 1, "pred_tokens")
    known = known_ints(previous)
    if known:
        message = "pred_tokens must have one token more than src_tokens from prev_suffix_match_idx on"
        c.merge(more, total + 1 - known[0], message)
    else:
        c.at_most(more, total + 1, "pred_tokens must have at most one token more than src_tokens")
    low, high = c.interval(have).lo or 0, c.interval(have + more).hi
    return Shape((c.fresh("tokens", low, high),)), previous.shape


SEGMENTS = "input_ids and segment_ids must have the same shape"


@onnx("NGramHashMapping", domain=MS)
def ngram_hash_mapping(
    c: InferenceContext,
    ids: Shape,
    multipliers: Shape,
    sizes: Shape,
    past: Shape | None = None,
    offsets: Shape | None = None,
    end: Shape | None = None,
    segments: Shape | None = None,
    *,
    max_ngram_size: int,
    n_head_per_ngram: int,
) -> tuple[Shape, Shape]:
    """[B, S] ids -> [B, S, heads] hashes, and the last [B, max_ngram_size - 1] ids."""
    ids = merge_optional(c, c.require_rank(ids, 2, "input_ids"), segments, SEGMENTS)
    heads = _hash_count(c, sizes, offsets, max_ngram_size, n_head_per_ngram)
    _constrain_hash(c, multipliers, end, max_ngram_size)
    present = Shape((ids[0], max_ngram_size - 1))
    return Shape((*ids, heads)), merge_optional(c, present, past, "past_ids must be [batch, max_ngram_size - 1]")


@onnx("VarlenNGramHashMapping", domain=MS)
def packed_ngram_hash_mapping(
    c: InferenceContext,
    ids: Shape,
    multipliers: Shape,
    sizes: Shape,
    ends: Shape,
    past: Shape | None = None,
    offsets: Shape | None = None,
    end: Shape | None = None,
    segments: Shape | None = None,
    past_segments: Shape | None = None,
    captured: Shape | None = None,
    *,
    max_ngram_size: int,
    n_head_per_ngram: int,
    state_update_capacity: int = 0,
) -> tuple[Shape, Shape, Shape, Shape]:
    """[T] ids, ends [B + 1] -> [T, heads] hashes, the last [B, n - 1] ids and segments, [B, capacity, n - 1] states."""
    ids = merge_optional(c, c.require_rank(ids, 1, "input_ids"), segments, SEGMENTS)
    heads = _hash_count(c, sizes, offsets, max_ngram_size, n_head_per_ngram)
    _constrain_hash(c, multipliers, end, max_ngram_size)
    batch: DimSize = c.require_rank(ends, 1, "cumulative_sequence_length")[0] - 1
    require_vector(c, captured, batch, "capture_count must have one value per request")
    history = Shape((batch, max_ngram_size - 1))
    for history_part, name in ((past, "past_ids"), (past_segments, "past_segment_ids")):
        history = merge_optional(c, history, history_part, f"{name} must be [batch, max_ngram_size - 1]")
    return Shape((*ids, heads)), history, history, Shape((batch, state_update_capacity, max_ngram_size - 1))


def _constrain_hash(c: InferenceContext, multipliers: Shape, end: Shape | None, orders: int) -> None:
    """Require a multiplier for each of the tokens of an n-gram, and a scalar end of sequence."""
    (count,) = c.require_rank(multipliers, 1, "multipliers")
    c.at_least(count, orders, "multipliers must have at least max_ngram_size elements")
    require_scalar(c, end, "eos_token_id")


def _hash_count(c: InferenceContext, sizes: Shape, offsets: Shape | None, orders: int, heads: int) -> int:
    """The number of hashes per token; constrains the vectors with one value per hash."""
    if orders < 2 or heads < 1:
        c.fail("max_ngram_size must be at least 2 and n_head_per_ngram at least 1", orders, heads)
    total = (orders - 1) * heads
    require_vector(c, sizes, total, "vocab_sizes must have one value per head")
    require_vector(c, offsets, total, "head_offsets must have one value per head")
    return total


@onnx("RemovePadding", domain=MS)
def remove_padding(c: InferenceContext, x: Shape, counts: Shape) -> tuple[Shape, Shape, Shape, Shape]:
    """[B, S, H], counts [B] -> [T, H] with at most B*S tokens, [B, S] offsets, [B + 1] ends, the largest count [1]."""
    batch, length, hidden = c.require_rank(x, 3, "input")
    require_vector(c, counts, batch, "sequence_token_count must have one value per sequence")
    tokens = c.fresh("tokens", 0, c.interval(batch * length).hi)
    return Shape((tokens, hidden)), Shape((batch, length)), Shape((batch + 1,)), Shape((1,))


@onnx("RestorePadding", domain=MS)
def restore_padding(c: InferenceContext, x: Shape, offsets: Shape) -> Shape:
    """[T, H], offsets [B, S] -> [B, S, H]; T is at most B*S."""
    x, offsets = c.require_rank(x, 2, "input"), c.require_rank(offsets, 2, "token_offset")
    c.at_most(x[0], c.numel(offsets), "token_offset must have room for all tokens")
    return Shape((*offsets, x[1]))


@onnx("RelativePositionBias", domain=MS)
def relative_position_bias(c: InferenceContext, table: Shape, queries: Value, keys: Value) -> Shape:
    """[buckets, N] -> [1, N, queries, keys]; the other inputs hold `queries` and `keys`."""
    heads = c.require_rank(table, 2, "bias_table")[1]
    return Shape((1, heads, scalar_size_or_fresh(c, queries, "queries"), scalar_size_or_fresh(c, keys, "keys")))
