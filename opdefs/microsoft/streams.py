"""Several streams of features side by side (hyper-connections), and gates that mix them."""

from __future__ import annotations

from opdefs.microsoft.dialect import MS, onnx
from opdefs.rules.operands import either, equal, one_or, part
from shapeinf.expr import Dim
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


def _lead_and_width(c: InferenceContext, streams: Shape, branches: int) -> tuple[tuple[Dim, ...], Dim]:
    """[*S] and H of [*S, C, H], or of [*S, C*H] with a number of branches."""
    if branches:
        return streams[:-1], part(c, streams[-1], branches, "the last axis must split into equal branches")
    if len(streams) < 2:
        c.fail("streams must be [.., branches, features]", streams)
    return streams[:-2], streams[-1]


@onnx("HyperConnectionPreMix", domain=MS)
def pre_mix(c: InferenceContext, streams: Shape, gates: Shape, *, num_branches: int = 0) -> Shape:
    """[*S, C, H], or [*S, C*H] with `num_branches` -> [*S, H]."""
    lead, width = _lead_and_width(c, streams, num_branches)
    _tell_gates(c, gates, (*lead, num_branches or streams[-2]), width, bool(num_branches))
    return Shape((*lead, width))


def _tell_gates(c: InferenceContext, gates: Shape, branches: tuple[Dim, ...], width: Dim, packed: bool) -> None:
    """Gates are [*S, C], [*S, C, 1] or [*S, C, H]; of packed streams also [*S, C*H]."""
    message = "the gates must be [.., branches], [.., branches, 1] or [.., branches, features]"
    if gates.dims is None:
        return
    lead, count = Shape(branches[:-1]), branches[-1]
    if len(gates.dims) == len(branches) + 1:
        c.merge(Shape(gates.dims[:-1]), Shape(branches), message)
        one_or(c, gates.dims[-1], width, message)
        return
    if len(gates.dims) != len(branches):
        c.fail(message, gates)
    c.merge(Shape(gates.dims[:-1]), lead, message)
    either(c, gates.dims[-1], (count, count * width if packed else count), message)


@onnx("HyperConnectionPostMix", domain=MS)
def post_mix(
    c: InferenceContext,
    streams: Shape,
    block: Shape,
    gates: Shape,
    mix: Shape | None = None,
    *,
    num_branches: int = 0,
) -> Shape:
    """[*S, C, H], or [*S, C*H] with `num_branches`, and [*S, H] -> the shape of the streams."""
    if streams.dims is not None:
        lead, width = _lead_and_width(c, streams, num_branches)
        c.merge(Shape((*lead, width)), block, "block_output must have the features of one stream")
        count = num_branches or streams[-2]
        _tell_gates(c, gates, (*lead, count), width, bool(num_branches))
        equal(c, Shape((*lead, count, count)), mix, "stream_mix must be [.., branches, branches]")
    return streams


@onnx("EngramGate", domain=MS)
def engram_gate(
    c: InferenceContext,
    key: Shape,
    query: Shape,
    value: Shape,
    key_scale: Shape,
    query_scale: Shape,
    conv_scale: Shape | None = None,
) -> tuple[Shape, Shape]:
    """[B, S, C, H], [B, S, C, H], [B, S, H] -> [B, S, C, H], twice."""
    key = equal(c, c.require_rank(key, 4, "key"), query, "key and query must be of equal shape")
    c.merge(Shape((key[0], key[1], key[3])), value, "the value must be [batch, sequence, hidden] of the key")
    for scale in (key_scale, query_scale, conv_scale):
        equal(c, Shape(key[2:]), scale, "a scale must be [branches, hidden]")
    return key, key
