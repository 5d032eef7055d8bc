"""Outputs of a run in buffers of exactly the inferred size, with guards around them."""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np

from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.lattice.dtypes import DTYPES
from shapeinf.result import Result
from shapeinf.runtime.array_types import has_arrays, numpy_type
from shapeinf.runtime.protocol import Buffer, LoadedModel, ObservedType, Refusal, WrittenOutput
from shapeinf.runtime.records import Mismatch, Skipped

PACKED = frozenset(dtype.name for dtype in DTYPES if dtype.bits is not None and dtype.bits <= 4)
"""The element types of which several elements share a byte."""
MAX_BYTES = 1 << 33
"""The most bytes of a buffer."""


@attrs.define
class BoundOutputs:
    """The buffers of the outputs of a run, the outputs without one, and the results of the run."""

    buffers: list[Buffer] = attrs.Factory(list)
    unbound: list[Skipped] = attrs.Factory(list)
    written: dict[str, int] = attrs.Factory(dict)
    redeclared: list[str] = attrs.Factory(list)
    mismatches: list[Mismatch] = attrs.Factory(list)

    def allocate(self, name: str, info: TensorInfo, max_bytes: int | None, observed: object) -> None:
        """Allocate the buffer of an output; `observed` is its type in the first run.

        A runtime refuses a buffer of another shape than that of the run. So an output with a size that depends on data
        gets no buffer, but must fit into `max_bytes`, the bytes that its bounds allow.
        """
        reason = binding_obstacle(info, max_bytes)
        if not reason and isinstance(info.shape.dims, tuple) and all(isinstance(d, int) for d in info.shape.dims):
            shape = tuple(int(str(d)) for d in info.shape.dims)
            self.buffers.append(Buffer.allocate(name, info.dtype or "", shape, max_bytes or 0))
            return
        self.unbound.append(Skipped(name, reason or f"its size depends on data; it has at most {max_bytes} bytes"))
        if max_bytes is not None and isinstance(observed, ObservedType) and observed.dtype is not None:
            size = int(np.prod(observed.shape, dtype=object)) * numpy_type(observed.dtype).itemsize
            if size > max_bytes:
                self.mismatches.append(Mismatch(name, "", "", f"at most {max_bytes} bytes", f"{size} bytes", "buffer"))

    def run(self, model: LoadedModel, feeds: Any) -> None:
        """Run the model with its outputs in the buffers and check them. Raises Refusal."""
        outputs = model.run_into(self.buffers, feeds)
        if not all(buffer.intact for buffer in self.buffers):
            raise Refusal("the runtime wrote outside of a buffer whose shape it had accepted")
        for buffer, output in zip(self.buffers, outputs, strict=True):
            self._check(buffer, output)

    def _check(self, buffer: Buffer, output: WrittenOutput) -> None:
        moved = buffer.size > 0 and output.address != buffer.address  # an empty tensor has no address
        inferred = ObservedType(buffer.dtype, buffer.shape)
        if moved or output.type != inferred:
            observed = f"{output.type} elsewhere"
            self.mismatches.append(Mismatch(buffer.name, "", "", f"{inferred} in the bound buffer", observed, "buffer"))
        else:
            self.written[buffer.name] = buffer.size
            self.redeclared += [buffer.name] if output.redeclared else []


def binding_obstacle(info: TensorInfo, max_bytes: int | None) -> str:
    """Why an output cannot have a buffer; empty where it can, if its sizes are known."""
    if info.kind != "tensor":
        return f"a {info.kind} has no buffer of its own"
    if info.dtype == "string":
        return "strings have no fixed size"
    if info.dtype in PACKED:
        return f"several elements of {info.dtype} share a byte"
    if max_bytes is None:
        return "its size has no upper bound"
    return f"a buffer of {max_bytes} bytes is not allocated" if max_bytes > MAX_BYTES else ""


def max_shape(result: Result, name: str) -> tuple[int, ...] | None:
    """The largest size of each axis of a tensor; None where an axis has no bound."""
    dims = result.tensors[name].shape.dims
    sizes = [d if isinstance(d, int) else result.interval(d).hi for d in dims] if dims is not None else [None]
    return None if None in sizes else tuple(size for size in sizes if size is not None)


def max_bytes(result: Result, name: str) -> int | None:
    """The most bytes of a tensor; None where there is no bound, or its elements have no fixed size."""
    info = result.tensors[name]
    if info.kind != "tensor" or info.dtype is None or info.dtype == "string" or not has_arrays(info.dtype):
        return None
    shape = max_shape(result, name)
    return None if shape is None else math.prod(shape) * numpy_type(info.dtype).itemsize
