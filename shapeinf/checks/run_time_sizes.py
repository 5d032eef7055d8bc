"""Tensors whose sizes follow from those of the inputs, but for which a runtime plans no memory before it runs.

The kernel of such a node takes the size from the contents of an operand, which the runtime does not follow.
"""

from __future__ import annotations

from collections.abc import Collection

from shapeinf.checks.checked_model import CheckedModel
from shapeinf.diagnostics import Diagnostic, register_code
from shapeinf.expr import Dimension
from shapeinf.formats import FORMATS
from shapeinf.lattice import Shape

C158 = register_code(
    "C158",
    "note",
    "a tensor of known size that the runtime allocates when it runs",
    "Its size is an operand that the runtime computes in each run: make it a constant, or a part of the shape of an "
    "input, for memory that is planned before.",
)


def check_run_time_sizes(model: CheckedModel) -> list[Diagnostic]:
    """The values that get their sizes in a run of the interpreter of the format, although the inputs determine them."""
    read_from = FORMATS.format_of(model.graph)
    if read_from is None or not read_from.interpreter:
        return []
    memory = model.result.memory(runtime=read_from.interpreter)
    late, dims = set(memory.sized_in_runs), [dim for dims in model.input_dims.values() for dim in dims]
    free = {symbol for dim in dims if isinstance(dim, Dimension) for symbol in dim.symbols()}
    written = [(node, name) for node in model.graph.nodes for name in node.outputs if name in late]
    return [
        Diagnostic("note", C158, _text(name, shape, memory.name), node.name, node.op, tensor=name)
        for node, name in written
        for shape in (model.result.tensors[name].shape,)
        if _is_known(shape, free)
    ]


def _text(name: str, shape: Shape, runtime: str) -> str:
    return f"{name} has the shape {shape}, but {runtime} knows its sizes only when the node runs"


def _is_known(shape: Shape, free: Collection[Dimension]) -> bool:
    """Whether the sizes of the inputs determine a shape."""
    return shape.dims is not None and all(symbol in free or not symbol.is_anonymous for symbol in shape.symbols())
