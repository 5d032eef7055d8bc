"""The subgraphs of a model as the interpreter prepares them: what its kernels decide, before memory is planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from shapeinf.errors import NotKnown
from shapeinf.expr import DimSize
from shapeinf.lattice import ShapeStore, Type
from shapeinf.memory.runtimes.guarded_sizes import Bytes
from shapeinf.memory.runtimes.kernels import KernelOptions
from shapeinf.memory.runtimes.litert.kernels import LiteRtContext, LiteRtKernels, PreparedBody, Temporary
from shapeinf.memory.runtimes.litert.planner import UNSIZED, ArenaGraph, ArenaNode, ArenaTensor, Storage
from shapeinf.ops import OpDef


@attrs.frozen(eq=False)
class Value:
    """A tensor of a subgraph.

    Args:
        name: its name.
        type: its type.
        size: its bytes; None where they are not known, and then `cause` has the reason.
        stated: the bytes that the file states.
        is_constant: whether the file has its contents.
        is_variable: whether it outlives a run.
        scales: its scales, where it is quantized.
        is_sparse: whether the file has only some of its elements.
    """

    name: str
    type: Type | None
    size: DimSize | None
    stated: int
    is_constant: bool = False
    is_variable: bool = False
    scales: tuple[float, ...] = ()
    is_sparse: bool = False
    cause: str = ""


@attrs.frozen(eq=False)
class Call:
    """A node, with indices of values; -1 stands for an absent input.

    Args:
        node: its name.
        op_def: its operator; None where it is not known.
        bodies: the subgraphs that it runs.
        intermediates: the number of tensors that only have scales.
    """

    node: str
    op_def: OpDef | None
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    attributes: Mapping[str, object]
    bodies: tuple[Subgraph, ...] = ()
    intermediates: int = 0


@attrs.frozen(eq=False)
class Subgraph:
    """A subgraph with its values and its nodes, in the order of the file; `index` is its number there."""

    index: int
    name: str
    values: tuple[Value, ...]
    calls: tuple[Call, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@attrs.frozen(eq=False)
class PreparedTensor:
    """A tensor, and where it is; a temporary has the index of the node that needs it."""

    name: str
    size: DimSize | None
    storage: Storage
    stated: int
    initial: Storage
    node: int | None = None
    cause: str = ""


@attrs.frozen(eq=False)
class PreparedGraph:
    """A subgraph after its kernels were prepared.

    Args:
        tensors: its values, then the temporaries of its kernels.
        nodes: its nodes.
        bodies: by node, the subgraphs that it runs.
        unknown: by node, why its temporaries are not known.
        delegated: the nodes that the default delegate runs, where there is one.
    """

    subgraph: Subgraph
    tensors: tuple[PreparedTensor, ...]
    nodes: tuple[ArenaNode, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    variables: tuple[int, ...]
    bodies: Mapping[int, tuple[PreparedGraph, ...]]
    unknown: Mapping[int, str]
    delegated: frozenset[int]

    @property
    def has_unsized(self) -> bool:
        """Whether preparation stops at a node, or an output has no size before a run."""
        unsized = {i for i, tensor in enumerate(self.tensors) if tensor.storage in UNSIZED}
        return any(i in unsized for node in self.nodes for i in node.outputs) or any(i in unsized for i in self.outputs)

    def arena_graph(self, sizes: Sequence[Bytes]) -> ArenaGraph:
        """The subgraph with the bytes of each tensor."""
        tensors = [
            ArenaTensor(size, tensor.storage, tensor.stated, tensor.initial)
            for tensor, size in zip(self.tensors, sizes, strict=True)
        ]
        return ArenaGraph(tuple(tensors), self.nodes, self.inputs, self.outputs, self.variables)


def prepare(
    subgraph: Subgraph,
    kernels: LiteRtKernels,
    store: ShapeStore,
    options: KernelOptions,
    *,
    callers: Sequence[int] = (),
    unused: bool = False,
) -> PreparedGraph:
    """The subgraph after its kernels were prepared.

    `callers` are the positions of inputs that are tensors of the caller; with `unused`, inputs that no node reads are
    absent.
    """
    return _Preparation(subgraph, kernels, store, options, callers, unused).run()


class _Preparation:
    """Prepares the nodes of a subgraph in order."""

    def __init__(
        self,
        subgraph: Subgraph,
        kernels: LiteRtKernels,
        store: ShapeStore,
        options: KernelOptions,
        callers: Sequence[int],
        unused: bool,
    ) -> None:
        self.subgraph, self.kernels, self.store, self.options = subgraph, kernels, store, options
        self.readers: dict[int, int] = {}
        for index in (*subgraph.outputs, *[i for call in subgraph.calls for i in call.inputs]):
            self.readers[index] = self.readers.get(index, 0) + 1
        stored = [i for i in subgraph.inputs if i >= 0 and (not unused or self.readers.get(i))]
        self.inputs = tuple(stored)
        self.storage = [_initial_storage(value) for value in subgraph.values]
        self.initial = list(self.storage)
        for position in callers:
            if subgraph.inputs[position] in stored:
                self.storage[subgraph.inputs[position]] = "caller"
        self.sizes = [value.size for value in subgraph.values]
        self.temporaries: list[PreparedTensor] = []
        self.bodies: dict[int, tuple[PreparedGraph, ...]] = {}
        self.unknown: dict[int, str] = {}
        self.delegated: set[int] = set()
        self.stopped = False
        """Whether an earlier node has an output without a size: memory is planned before the others are prepared."""

    def run(self) -> PreparedGraph:
        """Prepare all nodes."""
        nodes = [self._node(number, call) for number, call in enumerate(self.subgraph.calls)]
        values = self.subgraph.values
        tensors = [
            PreparedTensor(value.name, self.sizes[i], self.storage[i], value.stated, self.initial[i], None, value.cause)
            for i, value in enumerate(values)
        ]
        variables = tuple([i for i, value in enumerate(values) if value.is_variable])
        return PreparedGraph(
            self.subgraph,
            (*tensors, *self.temporaries),
            tuple(nodes),
            self.inputs,
            tuple([i for i in self.subgraph.outputs if i >= 0]),
            variables,
            self.bodies,
            self.unknown,
            frozenset(self.delegated),
        )

    def _node(self, number: int, call: Call) -> ArenaNode:
        inputs = tuple([i for i in call.inputs if i >= 0])
        outputs = tuple([i for i in call.outputs if i >= 0])
        if call.op_def is None:
            self.unknown[number] = "the operator is not known"
            return ArenaNode(inputs, outputs)
        if call.bodies:
            self._prepare_bodies(number, call)
        c = self._context(call, self.bodies.get(number, ()))
        if self.kernels.is_delegated(c):
            self.delegated.add(number)
        storage = self._storage(number, c)
        if storage != "arena":
            for index in outputs:
                self.storage[index] = storage
        if storage == "late" and outputs:
            self.sizes[outputs[0]] = self.sizes[inputs[0]]
        temporaries = self._temporaries(number, c)
        outputs = self._without_dropped(call, c, outputs)
        sharing = self.kernels.find_sharing(call.op_def.domain, call.op_def.name)
        shared = [call.inputs[p] for p in sharing.inputs if p < len(call.inputs) and call.inputs[p] >= 0]
        self.stopped |= any(self.storage[i] in UNSIZED for i in outputs)
        return ArenaNode(inputs, outputs, temporaries, tuple(shared), sharing.copies)

    def _storage(self, number: int, c: LiteRtContext) -> Storage:
        """Where the outputs of a node are; where that is not known, a run decides it."""
        try:
            return self.kernels.find_storage(c)
        except NotKnown as unknown:
            self.unknown[number] = unknown.reason
            return "heap"

    def _without_dropped(self, call: Call, c: LiteRtContext, outputs: tuple[int, ...]) -> tuple[int, ...]:
        """The outputs without those that the node does not write; decided too late if an earlier node has no size."""
        dropped = {call.outputs[position] for position in self.kernels.find_dropped(c)}
        unread = {index for index in dropped if not self.readers.get(index)}
        for index in unread if self.stopped else ():
            self.sizes[index] = self.subgraph.values[index].stated
            self.storage[index] = self.initial[index]
        return outputs if self.stopped else tuple([index for index in outputs if index not in unread])

    def _prepare_bodies(self, number: int, call: Call) -> None:
        assert call.op_def is not None
        roles = self.kernels.find_body_roles(call.op_def.domain, call.op_def.name, len(call.bodies))
        prepared = []
        for body, role in zip(call.bodies, roles, strict=False):
            callers = range(len(body.inputs)) if role.shares_inputs else ()
            prepared.append(
                prepare(body, self.kernels, self.store, self.options, callers=callers, unused=role.drops_unused)
            )
        self.bodies[number] = tuple(prepared)

    def _temporaries(self, number: int, c: LiteRtContext) -> tuple[int, ...]:
        try:
            temporaries: Sequence[Temporary] = self.kernels.find_temporaries(c)
        except NotKnown as unknown:
            self.unknown[number] = unknown.reason
            return ()
        first = len(self.subgraph.values) + len(self.temporaries)
        name = self.subgraph.calls[number].node
        self.temporaries += [
            PreparedTensor(name, temporary.size, temporary.storage, 0, temporary.storage, number)
            for temporary in temporaries
        ]
        return tuple(range(first, first + len(temporaries)))

    def _context(self, call: Call, bodies: Sequence[PreparedGraph]) -> LiteRtContext:
        assert call.op_def is not None
        values = self.subgraph.values
        present = [(position, i) for position, i in enumerate(call.inputs) if i >= 0]
        return LiteRtContext(
            call.op_def,
            [None if i < 0 else values[i].type for i in call.inputs],
            [None if i < 0 else values[i].type for i in call.outputs],
            call.attributes,
            self.store,
            constants=[position for position, i in present if values[i].is_constant],
            known=[position for position, i in present if self.storage[i] == "read_only"],
            scales={position: values[i].scales for position, i in present},
            sparse=[position for position, i in present if values[i].is_sparse],
            intermediates=call.intermediates,
            bodies=[_body(graph) for graph in bodies],
            options=self.options,
        )


def _initial_storage(value: Value) -> Storage:
    """Where a tensor is before the node that writes it was prepared."""
    if value.is_constant:
        return "constant"
    if value.is_variable:
        return "persistent"
    dtype = getattr(value.type, "dtype", None)
    return "heap" if dtype in ("string", "resource", "variant") else "arena"


def _body(graph: PreparedGraph) -> PreparedBody:
    """What a node reads of a subgraph that it runs."""
    subgraph = graph.subgraph
    passed = [p for p, (i, o) in enumerate(zip(subgraph.inputs, subgraph.outputs, strict=False)) if i == o]
    types = [None if i < 0 else subgraph.values[i].type for i in subgraph.outputs]
    return PreparedBody(tuple(types), graph.has_unsized, tuple(passed))
