"""The memory of a model in a runtime: what `shapeinf memory --runtime` prints, and its JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from shapeinf.errors import MissingSizeError
from shapeinf.memory import Buffer
from shapeinf.memory.planning import Unplaced
from shapeinf.memory.runtimes.onnxruntime.session_memory import RunAt, SessionMemory
from shapeinf.memory.runtimes.planned_arena import PlannedArena
from shapeinf.memory.runtimes.protocol import TEMPORARIES
from shapeinf.texts import exact_bytes, format_bytes, format_count, qualify, shorten_end

MAX_KERNELS = 4
"""Limit on the listed kernels of one cause; the JSON has all."""
MAX_FORMULA = 400
"""Limit on the characters of a printed formula; the JSON has all of it."""


@attrs.frozen
class UnknownTemporaries:
    """A kernel whose temporaries are not known, and are not counted.

    Args:
        node: its node.
        cause: why they are not known.
    """

    node: str
    cause: str


@attrs.frozen
class RuntimeRecord:
    """The memory of a model in a runtime, in bytes. What depends on sizes is None where sizes are missing.

    Args:
        runtime: the runtime.
        threads: the threads in a kernel.
        unknown_temporaries: the kernels whose temporaries are not counted.
        notes: what may differ in a session.
        temporaries: those of the kernel at the peak of a first run.
        idle: the buffers in use at that peak that no value needs there, as they are kept for later values.
        held: what a session holds after it is created: initializers and packed weights.
        block: the block in which later runs of the same shapes place their buffers; None without one.
        later: the peak of a later run; a bound as that of the first run is (`at_least`, `at_most`).
        first_with_blocks: the peak of a first run in which trips of loops have blocks, as in a later run.
        first_regions: the regions that the arena takes from the system in a first run; None without an arena.
        later_regions: those that it takes in the next run.
    """

    runtime: str
    threads: int
    unknown_temporaries: tuple[UnknownTemporaries, ...]
    notes: tuple[str, ...]
    temporaries: int | None = None
    idle: Mapping[str, int] | None = None
    held: int | None = None
    block: int | None = None
    later: int | None = None
    first_with_blocks: int | None = None
    first_regions: tuple[int, ...] | None = None
    later_regions: tuple[int, ...] | None = None


@attrs.frozen
class ArenaFormulaRecord:
    """A formula of an arena, in the dims of inputs.

    Args:
        sizes: the sizes of a dim that it holds for, as text; empty for all sizes.
        formula: the bytes.
    """

    sizes: str
    formula: str

    def __str__(self) -> str:
        """`192*n bytes for n >= 4`."""
        sizes = f" for {self.sizes}" if self.sizes else ""
        return f"{shorten_end(self.formula, MAX_FORMULA)} bytes{sizes}"


@attrs.frozen
class ArenaRecord:
    """The arena that a runtime plans, for the largest sizes or for those of a run.

    Args:
        runtime: the runtime.
        planner: the algorithm that chooses the offsets.
        alignment: every offset is a multiple of it.
        bytes: the arena; None where dims have no upper bound, or no size.
        unbounded: these dims.
        unplaced: the tensors of other unknown sizes, which are not in the arena.
        notes: what else a program needs.
        at_bounds: whether the arena is that of the largest sizes.
        parts: what the runtime takes besides, or parts of the arena, by name.
        unknown_temporaries: the kernels whose temporaries are not counted.
        formulas: the arena at other sizes than those of a run; none where it depends on nothing else.
        formula_part: the part of the arena that these have the bytes of.
        no_formula: why other sizes have none.
        at_most: the largest arena over all sizes, where it has no bytes; None where it is not known.
    """

    runtime: str
    planner: str
    alignment: int
    bytes: int | None
    unbounded: tuple[str, ...]
    unplaced: tuple[Unplaced, ...]
    notes: tuple[str, ...]
    at_bounds: bool = True
    parts: Mapping[str, int] = attrs.Factory(dict)
    unknown_temporaries: tuple[UnknownTemporaries, ...] = ()
    formulas: tuple[ArenaFormulaRecord, ...] = ()
    formula_part: str = ""
    no_formula: str = ""
    at_most: int | None = None


def arena_record(memory: PlannedArena, sizes: Mapping[str, int]) -> ArenaRecord:
    """The arena of a runtime as plain data."""
    unbounded: tuple[str, ...] = ()
    size: int | None = None
    unplaced: tuple[Unplaced, ...] = ()
    parts: Mapping[str, int] = {}
    unknown = tuple([UnknownTemporaries(_node(buffer), buffer.cause) for buffer in memory.unknown_scratch])
    try:
        plan = memory.plan(sizes)
        unplaced, parts = plan.unplaced, memory.parts(sizes)
        size = memory.arena_bytes(plan.arena, parts)
    except MissingSizeError as error:
        unbounded = error.names
    formula = memory.formula({} if size is not None else sizes) if memory.labels and not memory.at_bounds else None
    return ArenaRecord(
        memory.name,
        memory.planner,
        memory.alignment,
        size,
        unbounded,
        unplaced,
        memory.notes,
        memory.at_bounds,
        parts,
        unknown,
        () if formula is None else tuple([ArenaFormulaRecord(*texts) for texts in formula.texts()]),
        memory.formula_part,
        "" if formula is None else formula.reason,
        None if formula is None or size is not None or memory.formula_part != "arena" else formula.bound(),
    )


def arena_lines(arena: ArenaRecord) -> Iterator[str]:
    """The lines on an arena, and what is not in it."""
    if arena.bytes is None:
        dims = ", ".join(arena.unbounded)
        if arena.at_bounds:
            yield f"arena        no bound: specify upper bounds of {dims} with --dim, or sizes with --bind"
        elif arena.at_most is not None:
            yield f"arena        at most {exact_bytes(arena.at_most)} for all sizes, by {arena.planner}"
        else:
            yield f"arena        depends on sizes: specify {dims} with --bind"
    else:
        size = qualify(exact_bytes(arena.bytes), bool(arena.unplaced), False)
        where = " at upper bounds" if arena.at_bounds else ""
        yield f"arena        {size} by {arena.planner}{where}, at multiples of {arena.alignment}"
    yield from (f"             {exact_bytes(size)} {name}" for name, size in arena.parts.items())
    for record in arena.formulas:
        yield f"  {arena.formula_part:<9}  {record}"
    if arena.no_formula:
        yield f"  no formula{' at other sizes' if arena.formulas else ''}: {arena.no_formula}"
    yield from (
        f"not known    the temporaries of {kernel.node}: {kernel.cause}" for kernel in arena.unknown_temporaries
    )
    yield from (f"note         {note}" for note in arena.notes)


def runtime_record(memory: SessionMemory, run: RunAt | None) -> RuntimeRecord:
    """The memory of a runtime as plain data; `run` at the sizes of the user, None where some are missing."""
    unknown = tuple(UnknownTemporaries(_node(buffer), buffer.cause) for buffer in memory.unknown_scratch)
    if run is None:
        return RuntimeRecord(memory.name, memory.options.threads, unknown, memory.notes)
    return RuntimeRecord(
        memory.name,
        memory.options.threads,
        unknown,
        memory.notes,
        run.scratch,
        {buffer.name: size for buffer, size in run.idle},
        run.held,
        run.block,
        run.later,
        run.first_with_blocks,
        run.first_regions,
        run.later_regions,
    )


def note_of(buffer: Buffer, run: RunAt) -> str:
    """What a buffer in use at the peak is kept for, where no value needs it there."""
    return " (kept for a later value)" if any(buffer is other for other, _ in run.idle) else ""


def runtime_lines(memory: SessionMemory, run: RunAt | None) -> Iterator[str]:
    """The lines on runs after the first one, the arena, what the session holds, and what is not known."""
    if run is not None:
        if run.first_with_blocks > run.first.bytes:
            most = qualify(exact_bytes(run.first_with_blocks), run.first.at_least, run.first.at_most)
            yield f"first run    {most}: with a memory pattern, trips of a loop after the first one have a block"
        if run.block is not None:
            later = qualify(exact_bytes(run.later), run.first.at_least, run.first.at_most)
            blocks = [f"a block of {format_bytes(run.block)}"] if run.block else []
            blocks += ["blocks of bodies"] if memory.has_blocks_of_bodies else []
            yield f"later runs   {later}: {', '.join([*blocks, 'outputs', 'temporaries'])}"
        if run.first_regions is not None:
            more = f", then {_sum(run.later_regions)}" if run.later_regions else ""
            regions = qualify(f"{_sum(run.first_regions)}{more}", run.first.at_least, run.first.at_most)
            yield f"arena        {regions}: regions that are not returned"
        yield f"held         {exact_bytes(run.held)} after the session is created"
    yield from _unknown_lines(memory.unknown_scratch)
    yield from (f"note         {note}" for note in memory.notes)


def _sum(regions: Iterable[int]) -> str:
    return " + ".join(map(format_bytes, regions)) or "nothing"


def _unknown_lines(buffers: Iterable[Buffer]) -> Iterator[str]:
    """The kernels whose temporaries are not known, a line for each cause."""
    causes: dict[str, list[str]] = {}
    for buffer in buffers:
        causes.setdefault(buffer.cause, []).append(_node(buffer))
    for cause, nodes in causes.items():
        more = f" and {len(nodes) - MAX_KERNELS} more" if len(nodes) > MAX_KERNELS else ""
        listed = ", ".join(nodes[:MAX_KERNELS])
        yield f"not known    the temporaries of {format_count(len(nodes), 'kernel')} ({listed}{more}): {cause}"


def _node(buffer: Buffer) -> str:
    return buffer.name.removeprefix(TEMPORARIES)
