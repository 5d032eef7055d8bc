"""`evaluate_expression`: the type of a single expression of a PNNX network, for inputs of some shapes."""

from __future__ import annotations

from collections.abc import Sequence

from shapeinf.api import infer_shapes
from shapeinf.errors import SpecError
from shapeinf.formats.pnnx.expression.graph import VALUE, expression_graph
from shapeinf.lattice import Type

InputShape = str | Sequence[int | str | None] | None
"""The shape of an input: text such as `"[N, 3]i64"`, a list of sizes and names, or None for an unknown rank."""


def evaluate_expression(expression: str, inputs: Sequence[InputShape] = ()) -> Type:
    """The type of an expression, with the contents of numbers and lists; an input without an element type is float32.

    >>> evaluate_expression("add(@0,@1)", ["[N, 3]f16", [1, 3]])
    float32[N, 3]
    >>> evaluate_expression("[floor_divide(size(@0,0),2),-1]", [["N", 6]])
    int64[2]{N//2, -1}

    Raises:
        ExpressionError: the expression is malformed; the error has the position.
        ShapeError: the expression is not defined for these inputs.
        SpecError: a text in `inputs` is no shape.
    """
    if isinstance(inputs, str):
        raise SpecError(inputs, 0, "a list of shapes, one for each input")
    shapes = [None if isinstance(shape, str) else shape for shape in inputs]
    graph = expression_graph(expression, shapes)
    texts = {name: shape for name, shape in zip(graph.inputs, inputs, strict=True) if isinstance(shape, str)}
    inference = infer_shapes(graph, inputs=texts, mode="strict").engine.inference
    value = inference.type_of(inference.compiled.slots[VALUE])
    assert value is not None
    return value
