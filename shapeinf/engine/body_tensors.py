"""The values inside bodies and functions, and what computes each value of a model; for results and reports.

The name of a value inside a body begins with the path of that body: the nodes on the way to it, each followed by the
label of the body where the operator has one (`loop/body/x`), by the name of the attribute where the node has several
bodies without labels, else by nothing (`call/x`). A body may run several times; the type of a value is the join of its
types in all runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from shapeinf.engine.inference import Inference
from shapeinf.engine.runs import Calls, body_path, trips, type_in, walk
from shapeinf.engine.tensor_info import TensorInfo, tensor_info
from shapeinf.graph import UNUSED
from shapeinf.lattice import PartialTensor, SequenceType, Shape, TensorType, Type, relax_type


def body_tensors(inference: Inference) -> dict[str, TensorInfo]:
    """The types of all values of the bodies and functions that ran, by path and name."""
    return {name: info for body in _bodies(inference) for name, info in _values(body)}


class Producer(NamedTuple):
    """What computes a value: an operator and the name of its node, or the operator `input` without a node.

    `constant`: the node has no inputs, and the elements of the value are known.
    """

    op: str
    node: str
    constant: bool = False


INPUT = Producer("input", "")


def body_producers(inference: Inference) -> dict[str, Producer]:
    """The producers of the values inside bodies, by the names of `body_tensors`; without constants of the graphs."""
    return {
        body.path + name: producer._replace(node=body.path + producer.node) if producer.node else producer
        for body in _bodies(inference)
        for name, producer in producers(body.runs[0]).items()
    }


def producers(inference: Inference) -> dict[str, Producer]:
    """The producer of each value, inputs first, then in the order of the file; without constants of the graph."""
    return dict(iterate_producers(inference))


def iterate_producers(inference: Inference) -> Iterator[tuple[str, Producer]]:
    """The pairs of `producers`, one by one."""
    compiled = inference.compiled
    graph, names, operations = compiled.graph, compiled.names, compiled.operations
    yield from ((name, INPUT) for name in graph.inputs if name not in graph.constants)
    for index in compiled.file_order:
        key, inputs, outputs, node_name = compiled.rows[index]
        for slot in outputs:
            if slot != UNUSED:
                node_name = node_name or names[slot]
                constant = not inputs and _has_elements(inference, slot)
                yield names[slot], Producer(operations[key].kind.op, node_name, constant)


def count_computed_values(inference: Inference) -> int:
    """The number of values that are computed: all but constants, unless these are outputs of the graph."""
    compiled = inference.compiled
    graph, outputs = compiled.graph, {compiled.slots[name] for name in compiled.graph.outputs}
    count = sum(name not in graph.constants for name in graph.inputs)
    count += sum(name in graph.constants for name in set(graph.outputs))
    return count + len(compiled.output_slots) - sum(slot not in outputs for slot in _constant_slots(inference))


def _constant_slots(inference: Inference) -> Iterator[int]:
    """The slots of outputs of nodes without inputs whose elements are known."""
    if any(map(_type_has_elements, inference.table.types)):  # most graphs have none: no row is visited
        for _, inputs, outputs, _ in inference.compiled.rows:
            if not inputs:
                yield from (slot for slot in outputs if slot != UNUSED and _has_elements(inference, slot))


def _has_elements(inference: Inference, slot: int) -> bool:
    return _type_has_elements(inference.type_of(slot))


def _type_has_elements(value: Type | None) -> bool:
    return isinstance(value, TensorType) and value.elements is not None


class _Body(NamedTuple):
    """A body or function: all its runs, the prefix of the names of its values, and the names of its captures."""

    runs: Sequence[Inference]
    path: str
    captures: frozenset[str]


def _bodies(inference: Inference) -> Iterator[_Body]:
    """The bodies of the nodes of a graph, in order, each followed by the bodies inside it."""
    calls = Calls()

    def inner(body: _Body) -> Iterator[_Body]:
        compiled = body.runs[0].compiled
        for run in body.runs:
            calls.enter(run)
        for index, row in enumerate(compiled.rows):
            operation = compiled.operations[row[0]]
            if operation.bodies or operation.call is None:
                step = compiled.step(index)
                last = [calls.bodies(run, step) for run in body.runs]
                for name in dict.fromkeys(name for children in last for name in children):
                    runs = [run for children in last if name in children for run in trips(children[name])]
                    yield _Body(runs, body_path(body.path, step, name), frozenset(operation.captures))

    return walk(inner(_Body((inference,), "", frozenset())), inner)


def _values(body: _Body) -> Iterator[tuple[str, TensorInfo]]:
    """The values of a body with their types, without captures."""
    runs, path = body.runs, body.path
    for slot, name in enumerate(runs[0].compiled.names):
        if name not in body.captures:
            types = [type_in(run, run.numbers[slot]) for run in runs]
            joined = types[0]
            for other in types[1:]:
                joined = _join(runs[0], joined, other, f"{path}{name} in any run")
            yield path + name, tensor_info(joined)


def _join(run: Inference, a: Type | None, b: Type | None, label: str) -> Type | None:
    if a is None or b is None:
        return b if a is None else a
    if a == b:
        return a
    if isinstance(a, SequenceType) != isinstance(b, SequenceType) or a.kind != b.kind:
        return PartialTensor(None, Shape.unknown(), None)
    return relax_type(run.store.relaxer, a, b, label)
