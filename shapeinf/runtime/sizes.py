"""The sizes of a run: those of the user, those of the user's arrays, and small legal ones for all other dims."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import attrs

from shapeinf.checks.sampling import Binding, legal_bindings
from shapeinf.engine.inference import certain_violations
from shapeinf.errors import ShapeInferenceError, UnknownNameError
from shapeinf.expr import Dim, Dimension, evaluate
from shapeinf.inputs.reader import SpecLike, input_names
from shapeinf.result import Result

MAX_DRAWN = 512
"""Candidates that are drawn for the sizes without a user value."""
MAX_CHECKED = 12
"""Those of them that are tried on the graph; the first that no rule forbids is used."""

Infer = Callable[[Mapping[str, int], Mapping[str, SpecLike]], Result]
"""Inference with these sizes of named dims and shapes of inputs, under the user's assumptions."""


@attrs.frozen
class RunSizes:
    """The sizes of one run, and what is inferred with them.

    Args:
        sizes: the size of every dim of the inputs by its label.
        chosen: those of them without a user value.
        shapes: the shape of every input.
        result: the inference with these sizes bound.
    """

    sizes: dict[str, int]
    chosen: dict[str, int]
    shapes: dict[str, tuple[int, ...]]
    result: Result


def choose_run_sizes(
    symbolic: Result, infer: Infer, requested: Mapping[str, int], arrays: Mapping[str, tuple[int, ...]]
) -> RunSizes:
    """Sizes for a run at the requested ones; `arrays` has the shapes of the user's arrays by input.

    Raises UnknownNameError for a dim or input that the model does not have, ShapeInferenceError where the shapes of
    arrays contradict the model or each other, and where no small legal sizes exist.
    """
    names = input_names(symbolic.graph)
    for name in arrays:
        if name not in names:
            raise UnknownNameError("input", name, names)
    bind = _with_arrays(symbolic, requested, arrays)
    first = infer(bind, {name: list(shape) for name, shape in arrays.items()})
    open_dims = _open_dims(first, names)
    fallback: RunSizes | None = None
    for chosen in _choices(first, frozenset(open_dims)) if open_dims else [{}]:
        shapes = {name: _sizes(first, name, chosen) for name in names if first.tensors[name].kind == "tensor"}
        named = {name: size for name, size in chosen.items() if not first.scope.symbol(name).is_anonymous}
        replaced = {name: list(shape) for name, shape in shapes.items() if name in arrays or _nameless(symbolic, name)}
        result = infer({**bind, **named}, replaced)
        labelled = {label: chosen[symbol.name] for symbol, label in open_dims.items()}
        candidate = RunSizes({**bind, **labelled}, labelled, shapes, result)
        if not certain_violations(result.inference):
            return candidate
        fallback = fallback or candidate
    assert fallback is not None
    return fallback


def _with_arrays(
    symbolic: Result, requested: Mapping[str, int], arrays: Mapping[str, tuple[int, ...]]
) -> dict[str, int]:
    """The requested sizes, and those that arrays have for named dims."""
    sizes = dict(requested)
    for name, shape in arrays.items():
        dims = symbolic.tensors[name].shape.dims
        if dims is None:
            continue
        if len(dims) != len(shape):
            raise ShapeInferenceError(f"the array for input {name} has {len(shape)} axes, the model {len(dims)}")
        for axis, (dim, size) in enumerate(zip(dims, shape, strict=True)):
            if isinstance(dim, int) and dim != size:
                raise ShapeInferenceError(f"axis {axis} of the array for input {name} is {size}, in the model {dim}")
            named = dim.name if isinstance(dim, Dimension) and dim.is_symbol and not dim.is_anonymous else None
            if named is not None and sizes.setdefault(named, size) != size:
                where = f"axis {axis} of the array for input {name}"
                raise ShapeInferenceError(f"{where} is {size}, but {named} is {sizes[named]}")
    return sizes


def _open_dims(result: Result, names: list[str]) -> dict[Dimension, str]:
    """The symbols of the inputs that have no size yet, each with its label. Raises where a rank is unknown."""
    labels: dict[Dimension, str] = {}
    for name in names:
        info = result.tensors[name]
        if info.kind != "tensor":
            continue
        if info.shape.dims is None:
            raise ShapeInferenceError(f"the rank of input {name} is unknown: give an array or a shape for it")
        for axis, dim in enumerate(info.shape.dims):
            if isinstance(dim, Dimension):
                for symbol in sorted(dim.symbols(), key=str):
                    label = f"{name}.shape[{axis}]" if symbol.is_anonymous else symbol.name
                    labels.setdefault(symbol, label)
    return labels


def _choices(result: Result, symbols: frozenset[Dimension]) -> list[Binding]:
    """Small sizes that the constraints allow: where possible no 1 (it broadcasts) and no size twice."""
    drawn = list(itertools.islice(legal_bindings(result.store, symbols), MAX_DRAWN))
    if not drawn:
        names = ", ".join(sorted(map(str, symbols)))
        raise ShapeInferenceError(f"no small sizes are legal for {names}: give them")
    return sorted(drawn, key=_oddness)[:MAX_CHECKED]


def _oddness(binding: Binding) -> tuple[int, int, int]:
    values = list(binding.values())
    return sum(v < 2 for v in values), len(values) - len(set(values)), sum(values)


def _sizes(result: Result, name: str, chosen: Binding) -> tuple[int, ...]:
    return tuple(_size(dim, chosen, name) for dim in result.tensors[name].shape)


def _size(dim: Dim, chosen: Binding, name: str) -> int:
    size = int(evaluate(dim, chosen))
    if size < 0:
        raise ShapeInferenceError(f"a size of input {name} comes out as {size}: give other sizes")
    return size


def _nameless(result: Result, name: str) -> bool:
    shape = result.tensors[name].shape
    return shape.dims is None or any(symbol.is_anonymous for symbol in shape.symbols())
