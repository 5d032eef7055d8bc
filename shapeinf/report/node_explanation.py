"""A node as a record and as lines: its operator, attributes, inputs, outputs, and what it requires of sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from shapeinf.graph import FunctionReference, Graph, InputContents
from shapeinf.lattice import PartialTensor
from shapeinf.lattice.contents import format_contents
from shapeinf.result import Result
from shapeinf.schemas import json_record
from shapeinf.texts import format_count, shorten_text

MAX_ATTRIBUTE = 200
"""Characters of the value of an attribute."""


@attrs.frozen
class ValueRecord:
    """An input or an output of a node; both are empty for one that is absent."""

    name: str
    type: str


@json_record("shapeinf.explain.node/1")
@attrs.frozen
class NodeExplanation:
    """A node: the output of `shapeinf explain MODEL NODE --json`.

    Args:
        model: the path of the model on a command line; else empty.
        node: its name, else that of its first output.
        op: the operator with its version, as in messages.
        attributes: those that the node sets, as texts.
        inputs: in order.
        outputs: in order.
        conditions: what it requires of the sizes of inputs.
    """

    model: str = attrs.field(default="", kw_only=True)
    node: str
    op: str
    attributes: Mapping[str, str]
    inputs: tuple[ValueRecord, ...]
    outputs: tuple[ValueRecord, ...]
    conditions: tuple[str, ...]


def explain_node(result: Result, name: str) -> NodeExplanation | None:
    """The node of a name; None where the graph has none."""
    step = next((step for step in result.engine.inference.compiled.steps if step.node_name == name), None)
    if step is None:
        return None
    node = step.node
    with result.engine.lock:
        return NodeExplanation(
            name,
            str(step.operation),
            {key: shorten_text(_value_text(value), MAX_ATTRIBUTE) for key, value in node.attrs.items()},
            _values(result, node.inputs),
            _values(result, node.outputs),
            tuple(dict.fromkeys(str(p) for p in result.contract.preconditions if p.node == name)),
        )


def node_names(result: Result) -> list[str]:
    """The names of all nodes of the graph."""
    return [step.node_name for step in result.engine.inference.compiled.steps]


def _values(result: Result, names: Iterable[str]) -> tuple[ValueRecord, ...]:
    return tuple([ValueRecord(name, str(result.tensors[name]) if name else "") for name in names])


def _value_text(value: object) -> str:
    """The value of an attribute as text."""
    if isinstance(value, PartialTensor):
        return f"{value.dtype or '?'}{value.shape} {format_contents(value)}".rstrip()
    if isinstance(value, Graph):
        return f"a graph of {format_count(len(value.nodes), 'node')}"
    if isinstance(value, FunctionReference):
        return f"the function {value.function[1]}"
    if isinstance(value, InputContents):
        return f"the contents of input {value.input}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value_text, value))}]"
    return repr(value) if isinstance(value, str) else str(value)


def node_lines(explanation: NodeExplanation) -> Iterator[str]:
    """The operator, then a line for each attribute, input, output and condition."""
    yield f"{explanation.op} {explanation.node}"
    yield from (f"  attribute {name} = {text}" for name, text in explanation.attributes.items())
    for kind, values in (("input", explanation.inputs), ("output", explanation.outputs)):
        yield from (f"  {kind} {k} {f'{v.name}: {v.type}' if v.name else 'is absent'}" for k, v in enumerate(values))
    yield from (f"  condition {condition}" for condition in explanation.conditions)
