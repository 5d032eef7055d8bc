"""Rows of a table, summed in bags."""

from __future__ import annotations

from opdefs.rules.gathering import constrain_indices
from opdefs.torch.dialect import torch
from shapeinf.lattice import Shape, TensorType, to_partial
from shapeinf.ops import InferenceContext

MAXIMUM = 2


@torch(
    "aten.embedding_bag.default",
    "aten.embedding_bag.padding_idx",
    "aten._embedding_bag.default",
    "aten._embedding_bag_forward_only.default",
)
def embedding_bag(
    c: InferenceContext,
    weight: TensorType,
    indices: TensorType,
    offsets: TensorType,
    per_sample_weights: Shape | None = None,
    *,
    mode: int = 0,
    include_last_offset: bool = False,
) -> tuple[TensorType, TensorType, TensorType, TensorType]:
    """[V, D], indices [I], offsets [B] -> [B, D], and three tables for gradients, whose sizes differ by device.

    With `include_last_offset` the last offset is the number of indices, and there are B - 1 bags.
    """
    table = c.require_rank(weight.shape, 2, "weight")
    rows = c.require_rank(indices.shape, 1, "indices")
    constrain_indices(c, to_partial(indices), table[0], from_end=False)
    first = c.require_rank(offsets.shape, 1, "offsets")
    if mode not in (0, 1, MAXIMUM):
        c.fail("mode must be 0 (sum), 1 (mean) or 2 (maximum)", mode)
    if per_sample_weights is not None:
        if mode:
            c.fail("with per_sample_weights the mode must be 0 (sum)", mode)
        c.merge(per_sample_weights, rows, "per_sample_weights must have one element for each index")
    if include_last_offset:
        c.at_least(first[0], 1, "offsets must have at least one element")
    if mode == MAXIMUM and c.store.bounds(rows[0])[0] >= 1:
        c.at_least(first[0], 1, "the maximum of indices requires at least one bag")
    bags = first[0] - 1 if include_last_offset else first[0]
    maxima = Shape((bags, table[1])) if mode == MAXIMUM else Shape((c.fresh("maxima"),))
    return (
        TensorType(weight.dtype, Shape((bags, table[1]))),
        TensorType(None, Shape((c.fresh("bags"),))),
        TensorType(None, Shape((c.fresh("sizes"),))),
        TensorType(None, maxima),
    )
