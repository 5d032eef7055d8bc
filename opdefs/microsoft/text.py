"""Text: tokens, hashes, embeddings of words, n-grams."""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.rules.elements import known_ints
from opdefs.rules.operands import equal, one_value, scalar, vector
from shapeinf.expr import Dim
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Value


@onnx("MurmurHash3", domain=MS)
def murmur_hash(c: InferenceContext, x: Shape, *, positive: int = 1) -> TensorType:
    """The shape of the input; 32 bits."""
    return TensorType("uint32" if positive else "int32", x)


@onnx("Tokenizer", domain=MS)
def tokenizer(c: InferenceContext, x: Shape) -> Shape:
    """[C] -> [C, tokens], [N, C] -> [N, C, tokens]; an input without strings stays as it is."""
    if len(x) not in (1, 2):
        c.fail("the input must be [C] or [N, C]", x)
    if any(c.prove_eq(d, 0) is True for d in x):
        return x
    if all(c.prove_le(1, d) is True for d in x):
        return Shape((*x, c.fresh("tokens")))
    raise c.unknowable("the input may hold no strings, and then gets no axis of tokens")


@onnx("WordConvEmbedding", domain=MS)
def word_conv_embedding(c: InferenceContext, words: Shape, w: Shape, b: Shape, table: Shape) -> Shape:
    """[W, L] characters, [M, 1, K, E], [M], [A, E] -> [W, M]."""
    if len(words) < 2:
        c.fail("the words must be [words, characters]", words)
    w = c.require_rank(w, 4, "W")
    c.at_most(w[2], words[1], "the kernel must not be wider than a word is long")
    c.merge(w[3], c.require_rank(table, 2, "C")[1], "the kernel must be as wide as the embedding of a character")
    vector(c, b, w[0], "the bias must hold one value a filter")
    return Shape((words[0], w[0]))


@onnx("NGramRepeatBlock", domain=MS)
def ngram_repeat_block(c: InferenceContext, ids: Shape, scores: Shape) -> Shape:
    """[B, S], [B, V] -> [B, V]."""
    scores = c.require_rank(scores, 2, "scores")
    c.merge(c.require_rank(ids, 2, "input_ids")[0], scores[0], "input_ids and scores must be of equal batch")
    return scores


@onnx("BifurcationDetector", domain=MS)
def bifurcation_detector(
    c: InferenceContext, source: Shape, current: Shape, previous: Value, predicted: Shape | None = None
) -> tuple[Shape, Shape]:
    """[S], [C], [], [P] tokens -> the current tokens with a part of the predicted ones, and an index."""
    (have,) = c.require_rank(current, 1, "cur_tokens")
    (total,) = c.require_rank(source, 1, "src_tokens")
    one_value(c, previous.shape, "prev_suffix_match_idx must be one value")
    if predicted is None:
        return Shape((have,)), previous.shape
    (more,) = c.require_rank(predicted, 1, "pred_tokens")
    known = known_ints(previous)
    if known:
        c.merge(more, total + 1 - known[0], "pred_tokens must be one more than are left behind prev_suffix_match_idx")
    low, high = c.interval(have).lo or 0, c.interval(have + more).hi
    return Shape((c.fresh("tokens", low, high),)), previous.shape


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
    ids = equal(c, c.require_rank(ids, 2, "input_ids"), segments, "input_ids and segment_ids must be of equal shape")
    heads = _head_vectors(c, sizes, offsets, max_ngram_size, n_head_per_ngram)
    _tell_hash(c, multipliers, end, max_ngram_size)
    present = Shape((ids[0], max_ngram_size - 1))
    return Shape((*ids, heads)), equal(c, present, past, "past_ids must be [batch, max_ngram_size - 1]")


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
    """[T] ids, [B + 1] ends -> [T, heads] hashes, the last [B, n - 1] ids and segments, [B, capacity, n - 1] states."""
    ids = equal(c, c.require_rank(ids, 1, "input_ids"), segments, "input_ids and segment_ids must be of equal shape")
    heads = _head_vectors(c, sizes, offsets, max_ngram_size, n_head_per_ngram)
    _tell_hash(c, multipliers, end, max_ngram_size)
    batch: Dim = c.require_rank(ends, 1, "cumulative_sequence_length")[0] - 1
    vector(c, captured, batch, "capture_count must hold one value a request")
    history = Shape((batch, max_ngram_size - 1))
    for part, name in ((past, "past_ids"), (past_segments, "past_segment_ids")):
        history = equal(c, history, part, f"{name} must be [batch, max_ngram_size - 1]")
    return Shape((*ids, heads)), history, history, Shape((batch, state_update_capacity, max_ngram_size - 1))


def _tell_hash(c: InferenceContext, multipliers: Shape, end: Shape | None, orders: int) -> None:
    (count,) = c.require_rank(multipliers, 1, "multipliers")
    c.at_least(count, orders, "multipliers must hold max_ngram_size values")
    scalar(c, end, "eos_token_id")


def _head_vectors(c: InferenceContext, sizes: Shape, offsets: Shape | None, orders: int, heads: int) -> int:
    """The number of hashes a token, told to the vectors that hold one value for each."""
    if orders < 2 or heads < 1:
        c.fail("max_ngram_size must be at least 2 and n_head_per_ngram at least 1", orders, heads)
    total = (orders - 1) * heads
    vector(c, sizes, total, "vocab_sizes must hold one value a head")
    vector(c, offsets, total, "head_offsets must hold one value a head")
    return total
