"""`MinimizedMemory`: the predicted memory of a file that was written for a runtime, and of the file that was read."""

from __future__ import annotations

from typing import Literal

import attrs

from shapeinf.schemas import json_record
from shapeinf.texts import format_bytes

Declarations = Literal["none", "outputs", "shared", "some", "chains"]
"""Which types a file declares of computed values.

"none": those of the file that was read; "shared": also those of values that may share a buffer; "some": also those of
values in buffers that nothing needed at the peak. "outputs": those of the outputs. "chains": those of all values.
"""


@attrs.frozen
class RunBytes:
    """The predicted bytes of a run.

    Args:
        first: the peak of a first run.
        later: the peak of a later run with the same shapes.
    """

    first: int
    later: int


@json_record()
@attrs.frozen
class MinimizedMemory:
    """The predicted memory of a written file, and of the file that was read.

    Args:
        runtime: the runtime.
        optimized: whether the files are predicted as a session with all optimizations runs them; else as they are.
        cause: why they are predicted as they are; else empty.
        sizes: the sizes of dims at which files were compared; the first ones are those of `file` and `original`.
        file: the written file.
        original: the file that was read.
        proven: whether the peak of a first run is proven to be no larger than that of the bare file at all sizes.
        declared: which types of computed values are written.
        reordered: whether nodes have another order than in the file that was read.
    """

    runtime: str
    optimized: bool
    cause: str
    sizes: tuple[dict[str, int], ...]
    file: RunBytes
    original: RunBytes
    proven: bool
    declared: Declarations
    reordered: bool

    def __str__(self) -> str:
        """Two lines: the bytes of both files, and what holds at other sizes."""
        at = ", ".join(f"{name}={size}" for name, size in self.sizes[0].items())
        first = f"{self.runtime} needs {format_bytes(self.file.first)}{f' at {at}' if at else ''}"
        later = f"in later runs {format_bytes(self.file.later)}"
        pairs = ((first, self.file.first, self.original.first), (later, self.file.later, self.original.later))
        gains = ", ".join(f"{text} ({_gain(file, original)})" for text, file, original in pairs)
        return f"{gains}\n{self._scope()}"

    def _scope(self) -> str:
        """For which sizes and sessions the file needs no more memory."""
        session = "a session with all optimizations" if self.optimized else f"the model as it is ({self.cause})"
        count = len(self.sizes)
        compared = f" at {count} choices of sizes" if count > 1 else " at these sizes" if self.sizes[0] else ""
        where = " at any size" if self.proven and self.sizes[0] else compared
        return f"predicted for {session}: no first run{where} needs more than with the bare file"


def _gain(file: int, original: int) -> str:
    if file == original:
        return "as the bare file"
    percent = 100 * (file - original) / max(original, 1)
    return f"bare file {format_bytes(original)}, {percent:+{'.0f' if abs(percent) >= 1 else '.1g'}} %"
