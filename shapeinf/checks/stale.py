"""One diagnostic where the declarations inside a graph are those of other sizes, or of another element type.

After an edit of the inputs and outputs alone, such as another batch, the value_info of the file is still that of the
sizes before it: hundreds of declarations differ, and all of them for one reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import attrs

from shapeinf.api import infer
from shapeinf.checks.checked_model import CheckedModel, dim_spec
from shapeinf.constraints.records import try_evaluate
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import Dimension, DimSize
from shapeinf.inputs.options import InferenceOptions

STALE = "C110"
"""The code of declarations inside the graph that differ."""


class _Axis(NamedTuple):
    """An axis of a value inside the graph that is declared with a number, and its inferred size."""

    tensor: str
    axis: int
    declared: int
    size: DimSize


def summarize_stale(diagnostics: list[Diagnostic], model: CheckedModel) -> list[Diagnostic]:
    """The diagnostics, with a single one for all declarations inside the graph that hold for other sizes of inputs.

    And a single one for those with the same other element type.
    """
    if sum(d.code == STALE and d.fails for d in diagnostics) < 2:
        return diagnostics
    diagnostics = _merge(diagnostics, model, *_stale_sizes(diagnostics, model))
    return _merge(diagnostics, model, *_stale_dtypes(diagnostics, model))


def _merge(
    diagnostics: list[Diagnostic], model: CheckedModel, axes: set[tuple[str, int | None]], text: str
) -> list[Diagnostic]:
    """The diagnostics with one in place of those at several values; unchanged where they are at a single value."""
    merged = [d for d in diagnostics if d.code == STALE and d.fails and (d.tensor, d.axis) in axes]
    tensors = {d.tensor for d in merged}
    if len(tensors) < 2:
        return diagnostics
    first = min(merged, key=lambda d: model.order.get(d.node, 0))
    declared, computed = model.declared[first.tensor], model.result.tensors[first.tensor]
    example = f"{first.tensor} is declared as {_declared_text(declared)} but the graph computes {computed}"
    message = f"the declarations of {len(tensors)} values inside the graph {text}: {example}"
    help = "the value_info is stale: infer the shapes of the file again"
    others = set(map(id, merged)) - {id(first)}
    summary = attrs.evolve(first, message=message, help=help, axis=None, cause="")
    return [summary if d is first else d for d in diagnostics if id(d) not in others]


def _declared_text(declared: object) -> str:
    dims = getattr(declared, "dims", None) or ()
    dtype = getattr(declared, "dtype", None) or "?"
    return f"{dtype}[{', '.join('?' if d is None else str(d) for d in dims)}]"


# -- sizes -------------------------------------------------------------------------------------------------------------


def _stale_sizes(diagnostics: Sequence[Diagnostic], model: CheckedModel) -> tuple[set[tuple[str, int | None]], str]:
    """The axes whose declarations hold for other sizes of the inputs, and a text that names these sizes."""
    different = {(d.tensor, d.axis) for d in diagnostics if d.code == STALE and d.fails and d.axis is not None}
    axes = list(_declared_axes(model))
    stale = [axis for axis in axes if (axis.tensor, axis.axis) in different]
    sizes = _sizes_of_names(model, axes, stale)
    if sizes:
        binding = {symbol.name: size for symbol, size in sizes.items()}
        explained = {(a.tensor, a.axis) for a in stale if a.declared == try_evaluate(a.size, binding)}
        return set(explained), f"hold for {model.binding_text(binding)}"
    numbers = [axis for axis in stale if isinstance(axis.size, int)]
    for replaced in _replaced_numbers(model, numbers):
        if _hold_with(model, axes, replaced):
            texts = (f"{name}.shape[{axis}] = {new} ({old} now)" for (name, axis), (old, new) in replaced.items())
            return {(a.tensor, a.axis) for a in numbers}, f"hold for {', '.join(texts)}"
    return set(), ""


def _declared_axes(model: CheckedModel) -> Iterator[_Axis]:
    for tensor, declared in model.declared.items():
        computed = model.result.tensors.get(tensor)
        dims = None if computed is None else computed.shape.dims
        if tensor in model.graph.outputs or dims is None or len(dims) != len(declared.dims or ()):
            continue
        for axis, (size, dim) in enumerate(zip(declared.dims or (), dims, strict=True)):
            if isinstance(size, int) and size >= 0:
                yield _Axis(tensor, axis, size, model.store.canon(dim))


def _sizes_of_names(model: CheckedModel, axes: Sequence[_Axis], stale: Sequence[_Axis]) -> dict[Dimension, int]:
    """The size of each symbol of the inputs for which all declared numbers hold that depend on it alone."""
    sizes: dict[Dimension, int] = {}
    for axis in stale:
        if isinstance(axis.size, Dimension) and axis.size in model.axes:
            sizes.setdefault(axis.size, axis.declared)
    wrong = {
        symbol
        for axis in axes
        if isinstance(axis.size, Dimension)
        for symbol in axis.size.symbols() & sizes.keys()
        if len(axis.size.symbols()) == 1 and try_evaluate(axis.size, {symbol.name: sizes[symbol]}) != axis.declared
    }
    return {symbol: size for symbol, size in sizes.items() if symbol not in wrong}


_Replaced = Mapping[tuple[str, int], tuple[int, int]]
"""The size of each axis of an input that changes, before and after."""


def _replaced_numbers(model: CheckedModel, stale: Sequence[_Axis]) -> Iterator[_Replaced]:
    """Other numbers for axes of the inputs: those of all stale declarations, or of the first stale value."""
    for axes in (stale, [axis for axis in stale if axis.tensor == stale[0].tensor]) if stale else ():
        pairs = {(axis.size, axis.declared) for axis in axes}
        before, after = {old for old, _ in pairs}, {new for _, new in pairs}
        if len(before) < len(pairs) or not before.isdisjoint(after):
            continue
        new = dict(pairs)
        replaced = {
            (name, axis): (dim, new[dim])
            for name, dims in model.input_dims.items()
            for axis, dim in enumerate(() if name in model.graph.constants else dims)
            if isinstance(dim, int) and dim in new
        }
        if replaced:
            yield replaced


def _hold_with(model: CheckedModel, axes: Sequence[_Axis], replaced: _Replaced) -> bool:
    """Whether all declared numbers inside the graph are what it computes with other sizes of its inputs."""
    shapes = {name: dims for name, dims in model.input_dims.items() if name not in model.graph.constants}
    inputs = {name: list(map(dim_spec, dims)) for name, dims in shapes.items()}
    for (name, axis), (_, size) in replaced.items():
        inputs[name][axis] = size
    options = InferenceOptions(inputs=inputs, values=model.result.values, declared="ignore")
    try:
        tensors = infer(model.graph, options).tensors
    except ShapeInferenceError:
        return False
    return all(_dim_at(tensors.get(axis.tensor), axis.axis) == axis.declared for axis in axes)


def _dim_at(info: TensorInfo | None, axis: int) -> DimSize | None:
    dims = () if info is None else info.shape.dims or ()
    return dims[axis] if axis < len(dims) else None


# -- element types -----------------------------------------------------------------------------------------------------


def _stale_dtypes(diagnostics: Sequence[Diagnostic], model: CheckedModel) -> tuple[set[tuple[str, int | None]], str]:
    """The values that are declared with one element type where the graph computes another one, and a text."""
    different = {d.tensor for d in diagnostics if d.code == STALE and d.fails and d.axis is None}
    pairs = {
        tensor: (declared.dtype, computed.dtype)
        for tensor, declared in model.declared.items()
        if tensor not in model.graph.outputs and (computed := model.result.tensors.get(tensor)) is not None
    }
    stale = {pairs[tensor] for tensor in different & pairs.keys() if pairs[tensor][0] != pairs[tensor][1]}
    if len(stale) != 1:
        return set(), ""
    ((declared_dtype, dtype),) = stale
    all_stale = all(old == declared_dtype for old, new in pairs.values() if new == dtype)
    tensors = {(t, None) for t in different if pairs.get(t) == (declared_dtype, dtype)} if all_stale else set()
    return set(tensors), f"are of {declared_dtype}, not of {dtype}"
