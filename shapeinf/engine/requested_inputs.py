"""Requested shapes of inputs against the declarations that they replace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shapeinf.diagnostics import Diagnostic, register_code
from shapeinf.engine.diagnostics import certain_violations
from shapeinf.engine.inference import Inference
from shapeinf.errors import ShapeInferenceError, Source
from shapeinf.graph import DeclaredType
from shapeinf.inputs.dim_names import first_aliases
from shapeinf.inputs.reader import InputReader
from shapeinf.lattice import Shape, TensorType, Type

S123 = register_code(
    "S123",
    "warning",
    "a requested shape of an input that its declaration contradicts",
    "Its rank differs; or a declared number differs, and the graph has errors: the axes may be in another order.",
)


def require_stated_sizes(reader: InputReader, declared: DeclaredType, requested: Type | None, name: str) -> None:
    """Require the sizes of an input that the file states as numbers.

    Raises ShapeInferenceError for another size or rank, Contradiction for a size with other constraints.
    """
    shape = requested.shape if isinstance(requested, TensorType) else Shape.unknown()
    if declared.dims is None or shape.dims is None:
        return
    label = reader.user_name(name)
    if len(shape.dims) != len(declared.dims):
        raise ShapeInferenceError(
            f"{label} has rank {len(declared.dims)} in the file, which a strict resize keeps: {shape} is requested"
        )
    for axis, (stated, dim) in enumerate(zip(declared.dims, shape.dims, strict=True)):
        if not isinstance(stated, int) or stated == dim:
            continue
        where = f"{reader.axis_name(name, axis)} is {stated} in the file, which a strict resize keeps"
        if isinstance(dim, int):
            raise ShapeInferenceError(f"{where}: {dim} is requested")
        reader.store.add_equal(dim, stated, Source("", where))


def contradicted_requests(inference: Inference, names: Iterable[str]) -> Iterator[Diagnostic]:
    """S123 for the requested inputs of these names: another rank; where the graph has errors, also other numbers.

    Declared shapes of a traced run are those of that run, and contradict nothing.
    """
    graph = inference.compiled.graph
    if graph.traced:
        return
    aliases = first_aliases(graph.aliases)
    for name in names:
        declared, requested = graph.declared.get(name), inference.input_types.get(name)
        if declared is None or declared.dims is None or not isinstance(requested, TensorType):
            continue
        if _differs(inference, declared, requested.shape):
            dims = ", ".join("?" if dim is None else str(dim) for dim in declared.dims)
            text = f"the requested shape of {aliases.get(name, name)} is {requested.shape}, the model declares [{dims}]"
            yield Diagnostic("warning", S123, text, tensor=name)


def _differs(inference: Inference, declared: DeclaredType, shape: Shape) -> bool:
    if shape.dims is None or declared.dims is None:
        return False
    if len(shape.dims) != len(declared.dims):
        return True
    pairs = zip(declared.dims, shape.dims, strict=True)
    numbers = any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs)
    return numbers and bool(certain_violations(inference))
