"""Protocol buffers: their fields as tensors."""

from __future__ import annotations

from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape
from shapeinf.ops import InferenceContext


@tf("DecodeProtoV2")
def decode_proto(
    c: InferenceContext,
    bytes: Shape,
    *,
    field_names: tuple[str, ...],
    output_types: tuple[str, ...],
) -> tuple[Shape, ...]:
    """[*S] messages -> how often each field occurs, [*S, F], and the values of each field, [*S, most]."""
    if len(field_names) != len(output_types) or len(output_types) != c.num_outputs - 1:
        c.fail("each field must have a type and an output", field_names, output_types)
    values = [c.concatenate(bytes, c.vector(c.fresh(f"field.{i}"))) for i in range(len(output_types))]
    return (c.concatenate(bytes, c.vector(len(field_names))), *values)


@tf("EncodeProto")
def encode_proto(
    c: InferenceContext,
    sizes: Shape,
    *values: Shape,
    field_names: tuple[str, ...],
) -> Shape:
    """[*S, F] occurrences and [*S, most] values of each field -> [*S] messages."""
    batch = _prefix(c, sizes)
    for value in values:
        batch = c.merge(batch, _prefix(c, value))
    known = c.store.canon_shape(sizes)
    if known.dims is not None:
        c.merge(known.dims[-1], len(field_names))
    return batch


def _prefix(c: InferenceContext, shape: Shape) -> Shape:
    """All axes but the last."""
    return c.subshape(c.with_rank_at_least(shape, 1), 0, -1)
