"""Protocol buffers: the fields of messages as tensors."""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.lattice import Shape


@tf("DecodeProtoV2")
def decode_proto(
    c: TensorFlowContext,
    bytes: Shape,
    *,
    field_names: tuple[str, ...],
    output_types: tuple[str, ...],
) -> tuple[Shape, ...]:
    """Messages [*S] -> the number of values [*S, F] of F fields, and the values of each field [*S, most]."""
    if len(field_names) != len(output_types) or len(output_types) != c.num_outputs - 1:
        c.fail("each field must have a type and an output", field_names, output_types)
    values = [c.concatenate(bytes, c.vector(c.fresh(f"field.{i}"))) for i in range(len(output_types))]
    return (c.concatenate(bytes, c.vector(len(field_names))), *values)


@tf("EncodeProto")
def encode_proto(
    c: TensorFlowContext,
    sizes: Shape,
    *values: Shape,
    field_names: tuple[str, ...],
) -> Shape:
    """The numbers of values [*S, F] of F fields, values [*S, most] of each field -> messages [*S]."""
    batch = _prefix(c, sizes)
    for value in values:
        batch = c.merge(batch, _prefix(c, value))
    known = c.store.canon_shape(sizes)
    if known.dims is not None:
        c.merge(known.dims[-1], len(field_names))
    return batch


def _prefix(c: TensorFlowContext, shape: Shape) -> Shape:
    """[*S, n] -> [*S]."""
    return c.subshape(c.with_rank_at_least(shape, 1), 0, -1)
