"""Node data for Model Explorer: one value for each node of a graph, in the JSON that it reads as custom node data.

The keys are names of output tensors. The format is that of `GraphNodeData` in the package ai-edge-model-explorer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args

from shapeinf.engine.compiled import NodeStep
from shapeinf.errors import MissingSizeError
from shapeinf.expr import DimSize
from shapeinf.graph import UNUSED
from shapeinf.memory.sizes import size_of
from shapeinf.report.model import named_dims
from shapeinf.result import Result

Quantity = Literal["shapes", "bytes", "macs"]
QUANTITIES: tuple[str, ...] = get_args(Quantity)

_GRADIENT = [{"stop": 0, "bgColor": "#ffffff", "textColor": "#000000"}, {"stop": 1, "bgColor": "#d9480f"}]
"""From the least to the largest value; both backgrounds have enough contrast with black text."""


def node_data(result: Result, quantity: Quantity) -> dict[str, Any]:
    """A value for each node: the shapes of its outputs as text, their bytes, or its multiply-accumulates.

    Nodes whose value is not known, because it depends on data or an operator has no rule, have none. Raises
    MissingSizeError for bytes and multiply-accumulates where a dim of an input has no size.

    >>> from shapeinf import infer_shapes
    >>> result = infer_shapes("examples/convnet.onnx", bind={"batch": 1, "height": 32, "width": 32})
    >>> node_data(result, "shapes")["results"]["half"], node_data(result, "macs")["results"]["half"]
    ({'value': 'float32[1, 8, 16, 16]'}, {'value': 0})
    """
    if quantity == "shapes":
        return {"results": dict(_results(result, lambda step: _shapes(result, step)))}
    missing = [dim.name for dim in named_dims(result)]
    if missing:
        raise MissingSizeError(missing, "bind them to sizes")
    if quantity == "bytes":
        return {"results": dict(_results(result, lambda step: _bytes(result, step))), "gradient": _GRADIENT}
    macs = {node.name: node.macs for node in result.cost().nodes}
    return {"results": dict(_results(result, lambda step: macs.get(step.node_name))), "gradient": _GRADIENT}


def _results(
    result: Result, value: Callable[[NodeStep], str | DimSize | None]
) -> Iterator[tuple[str, dict[str, str | int]]]:
    """The values of all nodes that have one, by the name of the first output."""
    compiled = result.engine.inference.compiled
    for step in compiled.steps:
        names = [compiled.names[slot] for slot in step.outputs if slot != UNUSED]
        amount = value(step) if names else None
        if isinstance(amount, (str, int)):
            yield names[0], {"value": amount}


def _shapes(result: Result, step: NodeStep) -> str:
    names = (result.engine.inference.compiled.names[slot] for slot in step.outputs if slot != UNUSED)
    return ", ".join(str(result.tensors[name]) for name in names)


def _bytes(result: Result, step: NodeStep) -> DimSize | None:
    """The bytes of all outputs; None where one of them is not known."""
    types = (result.engine.inference.type_of(slot) for slot in step.outputs if slot != UNUSED)
    sizes = [size_of(result.engine.store, value).bytes for value in types]
    return None if None in sizes else sum(size for size in sizes if isinstance(size, int))
