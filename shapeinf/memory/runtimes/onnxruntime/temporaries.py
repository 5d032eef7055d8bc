"""The temporaries of the kernel of one node, in all trips of the graph that it is in."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs

from shapeinf.engine.compiled import NodeStep
from shapeinf.engine.inference import Inference
from shapeinf.engine.runs import type_in
from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize, maximum
from shapeinf.graph import MISSING, UNUSED
from shapeinf.lattice import Type
from shapeinf.memory.liveness import GraphInstance
from shapeinf.memory.runtimes.kernels import KernelContext, RuntimeKernels
from shapeinf.memory.runtimes.onnxruntime.options import OnnxRuntimeOptions


@attrs.frozen
class Temporaries:
    """The bytes of temporaries `before` the outputs are allocated, and `during` their lives.

    `cause` is why some are not known; `first`: the kernel allocates the second kind before its outputs; `is_bound`: the
    kernel may need less.
    """

    before: tuple[DimSize | None, ...] = ()
    during: tuple[DimSize | None, ...] = ()
    cause: str = ""
    first: bool = False
    is_bound: bool = False


def find_temporaries(
    kernels: RuntimeKernels,
    instance: GraphInstance,
    step: NodeStep,
    constants: Collection[int],
    options: OnnxRuntimeOptions,
) -> Temporaries:
    """The temporaries of a node; the largest of all trips. `constants` are the slots of initializers."""
    try:
        scratches = [kernels.find_scratch(kernel_context(run, step, constants, options)) for run in instance.runs]
    except NotKnown as unknown:
        return Temporaries(during=(None,), cause=unknown.reason)
    before = _largest([scratch.before_outputs for scratch in scratches])
    during = _largest([scratch.with_outputs for scratch in scratches])
    is_bound = any(scratch.is_bound for scratch in scratches)
    return Temporaries(before, during, first=scratches[0].first, is_bound=is_bound)


def kernel_context(
    run: Inference, step: NodeStep, constants: Collection[int], options: OnnxRuntimeOptions
) -> KernelContext:
    """One call of a kernel. Raises NotKnown for an operator that is not known."""
    operation, graph = step.operation, run.compiled.graph
    if operation.op_def is None:
        raise NotKnown("the operator is not known")
    return KernelContext(
        operation.op_def,
        [None if slot == MISSING else _type(run, slot) for slot in step.arguments],
        [None if slot == UNUSED else _type(run, slot) for slot in step.outputs],
        operation.kind.attrs,
        run.store if run.undone is None else run.undone[1],
        graph.opsets.get(operation.kind.domain, 0),
        constants=[position for position, slot in enumerate(step.arguments) if slot in constants],
        options=options.kernels,
    )


def _type(run: Inference, slot: int) -> Type | None:
    return type_in(run, run.table.canonical[run.numbers[slot]])


def _largest(trips: Sequence[Sequence[DimSize]]) -> tuple[DimSize, ...]:
    """The largest of each temporary over all trips."""
    count = max(map(len, trips))
    return tuple([maximum(*[trip[i] for trip in trips if i < len(trip)]) for i in range(count)])
