"""Loops that generate tokens, and compiled graphs."""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.rules.operands import require_single_inputs
from opdefs.rules.requested import scalar_size_or_fresh
from shapeinf.expr import DimSize
from shapeinf.lattice import Shape, TensorType
from shapeinf.ops import InferenceContext, Value


def _vocabulary(c: InferenceContext, size: int) -> DimSize:
    """The size of the vocabulary: the attribute, where it is positive."""
    return size if size > 0 else c.fresh("vocabulary", 1)


@onnx("BeamSearch", domain=MS)
def beam_search(
    c: InferenceContext,
    ids: Shape,
    max_length: Value,
    min_length: Shape | None,
    num_beams: Value,
    num_return_sequences: Value,
    *others: Shape | None,
    vocab_size: int = -1,
    model_type: int = 0,
) -> tuple[TensorType, Shape, Shape]:
    """[B, S] ids or [B, S, H] features -> [B, returned, length], [B, returned], [steps, B, beams, vocabulary]."""
    if model_type != 2:  # speech features have one more axis
        ids = c.require_rank(ids, 2, "input_ids")
    limits = (max_length.shape, min_length, num_beams.shape, num_return_sequences.shape, *others[:2])
    require_single_inputs(c, limits, 1)
    batch, longest = ids[0], scalar_size_or_fresh(c, max_length, "length")
    returned = scalar_size_or_fresh(c, num_return_sequences, "returned")
    beams = scalar_size_or_fresh(c, num_beams, "beams")
    steps = longest - ids[1] if model_type == 0 else c.fresh("steps", 0, c.interval(longest).hi)
    scores = Shape((steps, batch, beams, _vocabulary(c, vocab_size)))
    return TensorType("int32", Shape((batch, returned, longest))), Shape((batch, returned)), scores


@onnx("WhisperBeamSearch", domain=MS)
def whisper_beam_search(
    c: InferenceContext,
    ids: Shape,
    max_length: Value,
    min_length: Shape | None,
    num_beams: Value,
    num_return_sequences: Value,
    length_penalty: Shape | None = None,
    repetition_penalty: Shape | None = None,
    vocab_mask: Shape | None = None,
    prefix_vocab_mask: Shape | None = None,
    attention_mask: Shape | None = None,
    decoder_input_ids: Shape | None = None,
    logits_processor: Shape | None = None,
    layer_heads: Shape | None = None,
    extra_decoding_ids: Shape | None = None,
    temperature: Shape | None = None,
    *,
    vocab_size: int = -1,
    model_type: int = 2,
) -> tuple[TensorType, Shape, Shape, Shape, Shape]:
    """As BeamSearch; then cross attention [B, returned, layers*heads, tokens, frames], no-speech probabilities [B]."""
    sequences, scores, steps = beam_search(
        c, ids, max_length, min_length, num_beams, num_return_sequences, vocab_size=vocab_size, model_type=model_type
    )
    batch, returned, longest = sequences.shape
    layers = c.fresh("layer_heads") if layer_heads is None else c.require_rank(layer_heads, 2, "cross_qk_layer_head")[0]
    tokens = c.fresh("tokens", 0, c.interval(longest).hi)
    cross = Shape((batch, returned, layers, tokens, c.fresh("frames")))
    return sequences, scores, steps, cross, Shape((batch,))


@onnx("GreedySearch", "Sampling", domain=MS)
def greedy_search(
    c: InferenceContext, ids: Shape, max_length: Value, *others: Shape | None, vocab_size: int = -1
) -> tuple[Shape, Shape]:
    """[B, S] -> [B, length] and scores [B, vocabulary]."""
    batch = c.require_rank(ids, 2, "input_ids")[0]
    require_single_inputs(c, (max_length.shape,), 1)
    return Shape((batch, scalar_size_or_fresh(c, max_length, "length"))), Shape((batch, _vocabulary(c, vocab_size)))


@onnx("EPContext", "Snpe", domain=MS)
def compiled_graph(c: InferenceContext, *xs: Shape | None) -> Shape:
    """Unknown: the node contains a compiled graph."""
    raise c.unknowable("the node contains a compiled graph; the shapes of its outputs are known only where declared")
