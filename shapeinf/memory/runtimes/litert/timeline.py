"""The timeline of the arena of a subgraph: its buffers with symbolic sizes, and the nodes that need them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shapeinf.expr import DimSize
from shapeinf.lattice import Shape, TensorType
from shapeinf.memory.runtimes.litert.planner import IN_ARENA, Lifetimes, find_lifetimes
from shapeinf.memory.runtimes.litert.subgraph import PreparedGraph
from shapeinf.memory.runtimes.protocol import TEMPORARIES
from shapeinf.memory.timeline import Buffer, ProgramPoint, Role, Timeline

SYMBOLIC = 1 << 62
"""Sizes from here on stand for formulas: two are equal where the formulas are."""


def timeline_of(graph: PreparedGraph) -> Timeline:
    """The timeline of a subgraph. Its nodes begin after the program point of the inputs."""
    points = [ProgramPoint(call.node.split(" ")[0], _op(call.node)) for call in graph.subgraph.calls]
    lifetimes = find_lifetimes(graph.arena_graph(_tokens([tensor.size for tensor in graph.tensors])))
    buffers = [*_weights(graph, len(points)), *_buffers(graph, lifetimes, len(points)), *_unknown(graph)]
    return Timeline(tuple(points), tuple(buffers))


def _op(node: str) -> str:
    return node.partition("(")[2].rstrip(")")


def _tokens(sizes: Sequence[DimSize | None]) -> list[int]:
    """A number for each size: its own, or one that only equal formulas have."""
    tokens: dict[object, int] = {}
    return [
        size if isinstance(size, int) else tokens.setdefault(object() if size is None else size, SYMBOLIC + len(tokens))
        for size in sizes
    ]


def _weights(graph: PreparedGraph, end: int) -> Iterator[Buffer]:
    """The constants of the file."""
    for value in graph.subgraph.values:
        if value.is_constant:
            yield _buffer(value.name, value.size, 0, end, "weight", value.type, (value.name,), value.cause)


def _buffers(graph: PreparedGraph, lifetimes: Lifetimes, end: int) -> Iterator[Buffer]:
    """The tensors in the arena, and in blocks of their own; those that share memory are one buffer."""
    members: dict[int, list[int]] = {}
    for index in range(len(graph.tensors)):
        members.setdefault(lifetimes.shared.get(index, index), []).append(index)
    for root, group in members.items():
        tensor = graph.tensors[root]
        if tensor.storage not in (*IN_ARENA, "heap") or (root not in lifetimes.first and tensor.node is None):
            continue
        number = tensor.node
        first = lifetimes.first.get(root, number or 0)
        last = lifetimes.last.get(root) if number is None else number
        death = end if last is None or tensor.storage == "heap" else last + 1
        names = tuple([graph.tensors[index].name for index in group])
        role = _role(graph, group)
        name = f"{TEMPORARIES}{tensor.name}:{root}" if number is not None else tensor.name
        type_ = None if number is not None else graph.subgraph.values[root].type
        values = names if number is None else (name,)
        yield _buffer(name, tensor.size, first, max(death, first + 1), role, type_, values, tensor.cause)


def _unknown(graph: PreparedGraph) -> Iterator[Buffer]:
    """Kernels whose temporaries are not known."""
    for number, cause in graph.unknown.items():
        name = f"{TEMPORARIES}{graph.subgraph.calls[number].node}"
        yield _buffer(name, None, number, number + 1, "scratch", None, (name,), cause)


def _role(graph: PreparedGraph, group: Sequence[int]) -> Role:
    if graph.tensors[group[0]].node is not None:
        return "scratch"
    if group[0] in graph.inputs:
        return "input"
    return "output" if any(index in graph.outputs for index in group) else "activation"


def _buffer(
    name: str,
    size: DimSize | None,
    birth: int,
    death: int,
    role: Role,
    value: object,
    values: tuple[str, ...],
    cause: str,
) -> Buffer:
    is_tensor = isinstance(value, TensorType)
    dtype = value.dtype if isinstance(value, TensorType) else None
    shape = value.shape if isinstance(value, TensorType) and is_tensor else Shape.unknown()
    cause = (cause or "its size is not known") if size is None else ""
    return Buffer(name, size, birth, death, role, dtype, shape, values, cause)
