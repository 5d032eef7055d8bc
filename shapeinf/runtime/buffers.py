"""Buffers that are exactly as large as we say, for the outputs of a run, with guards around them."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.formats.onnx.names import ONNX_CODES
from shapeinf.result import Result
from shapeinf.runtime.compare import Real
from shapeinf.runtime.records import Mismatch, Skipped
from shapeinf.runtime.sessions import Feeds, Refusal, Sessions, numpy_type

GUARD = 256
"""Bytes before and after a buffer that a run must leave alone."""
ALIGNMENT = 64
PATTERN = 0xA5
PACKED = ("int4", "uint4", "float4e2m1", "int2", "uint2")
"""Several elements of these share a byte."""
MAX_BYTES = 1 << 33
"""Buffers larger than this are not made."""


@attrs.frozen
class Buffer:
    """The memory of one output: `size` bytes at `start` of `memory`, guards around them."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    memory: Any
    start: int
    size: int

    @classmethod
    def make(cls, name: str, dtype: str, shape: tuple[int, ...], size: int) -> Buffer:
        """A buffer of `size` bytes at an aligned address."""
        memory = np.full(size + 2 * GUARD + ALIGNMENT, PATTERN, np.uint8)
        start = GUARD + -(memory.ctypes.data + GUARD) % ALIGNMENT
        return cls(name, dtype, shape, memory, start, size)

    @property
    def address(self) -> int:
        """Where it starts."""
        return int(self.memory.ctypes.data) + self.start

    @property
    def intact(self) -> bool:
        """Whether all around it is as it was."""
        around = (self.memory[: self.start], self.memory[self.start + self.size :])
        return all(bool(np.all(side == PATTERN)) for side in around)


@attrs.define
class Buffers:
    """The outputs of a run that have buffers of ours, those that have none, and what came of it."""

    buffers: list[Buffer] = attrs.Factory(list)
    unbound: list[Skipped] = attrs.Factory(list)
    written: dict[str, int] = attrs.Factory(dict)
    mismatches: list[Mismatch] = attrs.Factory(list)

    def claim(self, name: str, info: TensorInfo, most: int | None, real: object) -> None:
        """Make a buffer for an output, of the size that we say; what it was in the first run is `real`.

        The runtime takes a buffer of another shape than that of the run for an error. So an output of which only bounds
        are known gets none, but must fit into as many bytes as its bounds allow.
        """
        reason = _why_not(info, most)
        if not reason and isinstance(info.shape.dims, tuple) and all(isinstance(d, int) for d in info.shape.dims):
            shape = tuple(int(str(d)) for d in info.shape.dims)
            self.buffers.append(Buffer.make(name, info.dtype or "", shape, most or 0))
            return
        self.unbound.append(Skipped(name, reason or f"its size depends on data; it has at most {most} bytes"))
        if most is not None and isinstance(real, Real) and real.dtype is not None:
            size = int(np.prod(real.shape, dtype=object)) * numpy_type(real.dtype).itemsize
            if size > most:
                self.mismatches.append(Mismatch(name, "", "", f"at most {most} bytes", f"{size} bytes", "buffer"))

    def run(self, sessions: Sessions, feeds: Feeds, result: Result) -> None:
        """Run the model into the buffers and look at them. Raises Refusal."""
        if feeds.values is None:
            self.unbound += [Skipped(one.name, "with inputs of strings nothing can be bound") for one in self.buffers]
            return
        session = sessions.plain()
        binding = session.io_binding()
        for name, value in feeds.values.items():
            binding.bind_ortvalue_input(name, value)
        for one in self.buffers:
            binding.bind_output(one.name, "cpu", 0, ONNX_CODES[one.dtype], list(one.shape), one.address)
        for name in result.graph.outputs:
            if all(one.name != name for one in self.buffers):
                binding.bind_output(name)
        with sessions.running() as options:
            session.run_with_iobinding(binding, options)
        if not all(one.intact for one in self.buffers):
            raise Refusal("it wrote outside of a buffer of the shape that it had agreed to")
        for one, value in zip(self.buffers, binding.get_outputs(), strict=False):  # in the order of the binding
            self._look(one, value)

    def _look(self, one: Buffer, value: Any) -> None:
        real = Real.of(value)
        moved = one.size > 0 and value.data_ptr() != one.address  # nothing is nowhere
        if moved or real != Real(one.dtype, one.shape):
            said = f"{Real(one.dtype, one.shape)} in our buffer"
            self.mismatches.append(Mismatch(one.name, "", "", said, f"{real} elsewhere", "buffer"))
        else:
            self.written[one.name] = one.size


def _why_not(info: TensorInfo, most: int | None) -> str:
    """Why an output cannot have a buffer, whatever its size."""
    if info.kind != "tensor":
        return f"a {info.kind} has no buffer of its own"
    if info.dtype == "string":
        return "strings have no fixed size"
    if info.dtype in PACKED:
        return f"several elements of {info.dtype} share a byte"
    if most is None:
        return "its size has no upper bound"
    return f"{most} bytes are too many for a buffer here" if most > MAX_BYTES else ""
