"""The tensors whose size is that of an allocation that failed."""

from __future__ import annotations

from shapeinf.engine.inference import Inference
from shapeinf.engine.runs import walk_runs
from shapeinf.failures.report import LikelyTensor
from shapeinf.lattice import TensorType
from shapeinf.lattice.dtypes import element_bits

MOST_TENSORS = 12
"""The most tensors that are listed."""

ALIGNMENT = 256
"""Allocators round sizes up to a multiple of at most this."""


def likely_tensors(inference: Inference, requested: int | None) -> tuple[LikelyTensor, ...]:
    """The tensors of known sizes that take this many bytes, or as many when they are rounded up.

    Those of exactly this size come first.
    """
    if not requested:
        return ()
    tensors: dict[str, LikelyTensor] = {}
    for run in walk_runs(inference):
        compiled, path = run.inference.compiled, run.inference.path
        for slot, name in enumerate(compiled.names):
            value = run.inference.type_of(slot)
            size = tensor_bytes(value) if isinstance(value, TensorType) else None
            if size is not None and size <= requested < size + ALIGNMENT:
                index = compiled.producers[slot]
                node = "" if index is None else path + compiled.step(index).node_name
                tensors.setdefault(path + name, LikelyTensor(path + name, str(value), node, size))
    return tuple(sorted(tensors.values(), key=lambda tensor: requested - tensor.bytes)[:MOST_TENSORS])


def tensor_bytes(value: TensorType) -> int | None:
    """The bytes of a tensor; None where they are not known."""
    bits = element_bits(value.dtype)
    if bits is None or value.shape.dims is None:
        return None
    count = 1
    for dim in value.shape.dims:
        if not isinstance(dim, int):
            return None
        count *= dim
    return -(-count * bits // 8)
