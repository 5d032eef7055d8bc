"""`SessionMemory`: the memory that a session of onnxruntime allocates to run a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from shapeinf.engine.inference import Inference
from shapeinf.inputs.reader import as_sizes
from shapeinf.memory.memory import Memory
from shapeinf.memory.peak import Peak, PeakAt
from shapeinf.memory.peak.query import merge_specs
from shapeinf.memory.runtimes.onnxruntime.arena import regions_of
from shapeinf.memory.runtimes.onnxruntime.blocks import Block
from shapeinf.memory.runtimes.onnxruntime.bodies import run_bodies
from shapeinf.memory.runtimes.onnxruntime.options import OnnxRuntimeOptions
from shapeinf.memory.runtimes.onnxruntime.pattern import MODEL_BLOCK, SizedBuffer, fill_blocks
from shapeinf.memory.runtimes.onnxruntime.walk import Walk
from shapeinf.memory.runtimes.runtime_memory import RuntimeMemory, kernels_of
from shapeinf.memory.runtimes.trace import peak_of, trace
from shapeinf.memory.timeline import Buffer
from shapeinf.sharing import cached_property, synchronized
from shapeinf.solver.budget import WORK


@attrs.frozen
class RunAt:
    """The memory of a run at some sizes, in bytes.

    Args:
        first: the peak of a first run with these shapes.
        idle: the buffers in use at that peak that no value needs there, with their bytes: kept for later values.
        held: what the session holds after it is created.
        block: the block in which later runs with these shapes place their buffers; None without a memory pattern.
            Bodies have blocks of their own.
        later: the peak of a later run: the blocks in use, and outputs and temporaries apart.
        first_with_blocks: the peak of a first run with a memory pattern: as `first`, but the trips of a loop after the
            first one of the same shapes have a block, as later runs do.
        first_regions: the regions that the arena takes from the system in the first run; None without an arena.
        later_regions: those that it takes in the next run.
        unknown: the buffers that nothing here counts, as their size is not known, each with the cause.
    """

    first: PeakAt
    idle: tuple[tuple[Buffer, int], ...]
    held: int
    block: int | None
    later: int
    first_with_blocks: int
    first_regions: tuple[int, ...] | None
    later_regions: tuple[int, ...] | None
    unknown: tuple[Buffer, ...]

    @property
    def bytes(self) -> int:
        """The larger of the peaks of a first and of a later run."""
        return max(self.first.bytes, self.first_with_blocks, self.later)

    @property
    def scratch(self) -> int:
        """The bytes of the temporaries at the peak of the first run."""
        return sum(size for buffer, size in self.first.alive if buffer.role == "scratch")


@synchronized
class SessionMemory(RuntimeMemory):
    """The buffers that a session allocates over one run, rounded up as its allocator does, with all temporaries.

    Its peak is that of a first run without an arena, for all sizes; `at` has later runs and the arena at some sizes.
    Weights are what the session holds after its creation.
    """

    def __init__(self, inference: Inference, options: OnnxRuntimeOptions, *, work: int = WORK) -> None:
        """Raises ShapeInferenceError for a model of a dialect that onnxruntime does not run."""
        self.options = options
        run = Walk(inference, kernels_of(inference, "onnxruntime"), options, run_bodies).run()
        self._idle, self._blocks = run.idle, run.blocks
        self._begin_run(inference, "onnxruntime", run.timeline, run.notes, work)

    @property
    def has_blocks_of_bodies(self) -> bool:
        """Whether later runs have blocks of bodies, in use while these run."""
        return any(block.path for block in self._blocks)

    def _with_inference(self, inference: Inference) -> Memory:
        return SessionMemory(inference, self.options, work=self.work)

    def at(self, sizes: Mapping[str, int] | None = None, /, **more: int) -> RunAt:
        """The memory at these sizes. Raises as `Peak.at` does."""
        sizes = as_sizes(merge_specs(sizes, more))
        memory = self._memory_for(sizes)
        assert isinstance(memory, SessionMemory)
        return memory.at(sizes) if memory is not self else self._at(sizes)

    def _at(self, sizes: Mapping[str, int]) -> RunAt:
        first, buffers = self.peak.at(sizes), self.peak.buffers_at(sizes)
        later = self._in_blocks(buffers, self._blocks)
        repeated = self._in_blocks(buffers, [block for block in self._blocks if block.is_repeated])
        runs = [list(trace(repeated)), list(trace(later))]
        first_regions, later_regions = regions_of(runs) if self.options.arena else (None, None)
        idle = tuple([(buffer, size) for buffer, size in first.alive if self._is_idle(buffer, first.index)])
        held = self._held.at(sizes).bytes if self._held.timeline.points else 0
        block = sum(size for buffer, size in later if buffer.name == MODEL_BLOCK) if self.options.pattern else None
        return RunAt(
            first,
            idle,
            held,
            block,
            peak_of(runs[1]),
            peak_of(runs[0]),
            first_regions,
            later_regions,
            self.unsized,
        )

    def _in_blocks(self, buffers: Sequence[SizedBuffer], blocks: Sequence[Block]) -> list[SizedBuffer]:
        """The buffers of a run, some of them in blocks if there are patterns of memory."""
        return fill_blocks(buffers, blocks) if self.options.pattern else list(buffers)

    def _is_idle(self, buffer: Buffer, point: int) -> bool:
        """Whether no value needs a buffer at a program point where it is in use."""
        return any(start <= point < end for start, end in self._idle.get(buffer.name, ()))

    @cached_property
    def _held(self) -> Peak:
        """The weights, as a peak: all of them are in use at all times."""
        return Peak(self.timeline, self.store, ["weight"], labels=self.labels, work=self.work)
