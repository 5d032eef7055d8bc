"""The sizes of a run: those of the user, those of the user's arrays, and small legal ones for all other dims."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import attrs

from shapeinf.engine.diagnostics import certain_violations
from shapeinf.engine.input_symbols import input_symbols
from shapeinf.errors import ShapeInferenceError
from shapeinf.expr import Dimension, DimSize, axis_label, evaluate, quote_name
from shapeinf.inputs.dim_names import first_aliases
from shapeinf.inputs.reader import SpecLike, input_names, key_by_input
from shapeinf.lattice import Element, TensorType
from shapeinf.result import Result
from shapeinf.solver.sampling import Binding, distinct_bindings

MAX_CHECKED = 12
"""The most bindings with which the graph is inferred; the first one without a violation is chosen."""
MAX_SIZES = 4
"""The most times that a model runs at other sizes, chosen here, because the runtime refuses the first ones."""
LARGEST = 128
"""The largest size of a dim that is solved for."""
MAX_RANKED = 512
"""The most bindings that are ranked by the contract."""
MAX_EVALUATED = 100_000
"""The most conditions that are evaluated to rank bindings; `MAX_CHECKED` bindings are ranked in any case."""

Infer = Callable[[Mapping[str, int], Mapping[str, SpecLike]], Result]
"""Runs the inference with these sizes of named dims and shapes of inputs, under the user's assumptions."""


@attrs.frozen
class RunSizes:
    """The sizes of one run, and the types inferred with them.

    Args:
        sizes: the size of every dim of the inputs by its label.
        chosen: those that were chosen here.
        shapes: the shape of every input.
        result: the inference at these sizes.
        elements: the elements of the inputs whose values the user specifies; None for an unknown element.
    """

    sizes: dict[str, int]
    chosen: dict[str, int]
    shapes: dict[str, tuple[int, ...]]
    result: Result
    elements: dict[str, tuple[Element, ...]] = attrs.Factory(dict)


def choose_sizes(
    symbolic: Result, infer: Infer, sizes: Mapping[str, int], arrays: Mapping[str, tuple[int, ...]]
) -> RunSizes:
    """The first of `legal_sizes`, which see."""
    return next(legal_sizes(symbolic, infer, sizes, arrays))


def legal_sizes(
    symbolic: Result, infer: Infer, sizes: Mapping[str, int], arrays: Mapping[str, tuple[int, ...]]
) -> Iterator[RunSizes]:
    """Sizes for a run: the user's, with small legal ones for all other dims, several times; at least one.

    The contract decides what is legal; where no small sizes are, it is solved for one dim after the other.

    `arrays` has the shapes of the user's arrays by input. Raises UnknownNameError for a dim or input that the model
    does not have, ShapeInferenceError where the shapes of arrays contradict the model or each other, and where no
    small sizes are legal.
    """
    names = input_names(symbolic.graph)
    arrays = key_by_input(arrays, symbolic.graph)
    bind = _add_sizes_of_arrays(symbolic, sizes, arrays)
    first = infer(bind, {name: list(shape) for name, shape in arrays.items()})
    open_dims = _open_dims(first, names)
    fallback: RunSizes | None = None
    is_legal = False

    def run_at(binding: Binding) -> RunSizes:
        shapes = {name: _shape(first, name, binding) for name in names if first.tensors[name].kind == "tensor"}
        named = {name: size for name, size in binding.items() if not first.engine.scope.symbol(name).is_anonymous}
        replaced = {name: _specified(symbolic, name, shape, name in arrays) for name, shape in shapes.items()}
        replaced = {name: spec for name, spec in replaced.items() if spec is not None}
        result = infer({**_without_axes(symbolic, bind), **named}, replaced)
        chosen = {label: binding[symbol.name] for symbol, label in open_dims.items()}
        return RunSizes({**bind, **chosen}, chosen, shapes, result, _elements(result, names))

    for binding in _candidates(first, open_dims):
        run = run_at(binding)
        if not certain_violations(run.result.engine.inference):
            is_legal = True
            yield run
        fallback = fallback or run
    if is_legal:
        return
    assert fallback is not None
    solved = _solve_sizes(first, open_dims)
    run = fallback if solved is None else run_at(solved)
    yield fallback if certain_violations(run.result.engine.inference) else run


def _without_axes(symbolic: Result, sizes: Mapping[str, int]) -> dict[str, int]:
    """The sizes without those of unnamed axes of inputs, which the shapes of these inputs have."""
    labels = input_symbols(symbolic.engine.inference)
    axes = {symbol.name for symbol in labels if symbol.is_anonymous} | {
        label for symbol, label in labels.items() if symbol.is_anonymous
    }
    return {name: size for name, size in sizes.items() if name not in axes}


def _add_sizes_of_arrays(
    symbolic: Result, sizes: Mapping[str, int], arrays: Mapping[str, tuple[int, ...]]
) -> dict[str, int]:
    """The user's sizes, and those of the named dims of arrays."""
    known = dict(sizes)
    for name, shape in arrays.items():
        dims = symbolic.tensors[name].shape.dims
        if dims is None:
            continue
        if len(dims) != len(shape):
            raise ShapeInferenceError(f"the array for input {name} has {len(shape)} axes, not {len(dims)}")
        for axis, (dim, size) in enumerate(zip(dims, shape, strict=True)):
            where = f"axis {axis} of the array for input {name}"
            if isinstance(dim, int) and dim != size:
                raise ShapeInferenceError(f"{where} is {size}, but {dim} in the model")
            named = dim.name if isinstance(dim, Dimension) and dim.is_symbol and not dim.is_anonymous else None
            if named is not None and known.setdefault(named, size) != size:
                raise ShapeInferenceError(f"{where} is {size}, but {named} is {known[named]}")
    return known


def _open_dims(result: Result, names: list[str]) -> dict[Dimension, str]:
    """The symbols of the inputs without a size, with their labels. Raises ShapeInferenceError for an unknown rank."""
    labels: dict[Dimension, str] = {}
    aliases = first_aliases(result.graph.aliases)
    for symbol, label in input_symbols(result.engine.inference).items():
        if result.engine.store.canon(symbol) is symbol:
            labels[symbol] = label
    for name in names:
        info = result.tensors[name]
        if info.kind != "tensor":
            continue
        if info.shape.dims is None:
            raise ShapeInferenceError(f"the rank of input {name} is unknown: specify an array or a shape")
        for axis, dim in enumerate(info.shape.dims):
            if isinstance(dim, Dimension):
                for symbol in sorted(dim.symbols(), key=str):
                    labels.setdefault(symbol, quote_name(axis_label(aliases.get(name, name), axis)))
    return labels


def _candidates(result: Result, open_dims: Mapping[Dimension, str]) -> list[Binding]:
    """Small bindings that satisfy all constraints on the open dims; one empty binding where there are no such dims."""
    if not open_dims:
        return [{}]
    conditions = result.contract.preconditions
    count = min(MAX_RANKED, max(MAX_CHECKED, MAX_EVALUATED // max(1, len(conditions))))
    bindings = distinct_bindings(result.engine.store, open_dims, count)
    if not bindings:
        solved = _solve_sizes(result, open_dims)
        if solved is not None:
            return [solved]
        names = ", ".join(sorted(map(str, open_dims)))
        raise ShapeInferenceError(f"no small sizes of {names} are legal: specify sizes with --at")
    # A runtime may refuse what the contract only advises against, so those that satisfy all conditions come first.
    return sorted(bindings, key=lambda b: sum(p.holds(b) is False for p in conditions))[:MAX_CHECKED]


def _solve_sizes(result: Result, open_dims: Mapping[Dimension, str]) -> Binding | None:
    """Legal sizes of one dim after the other by the contract; None where one has none up to `LARGEST`."""
    binding: Binding = {}
    known: dict[str, int] = {}
    for symbol, label in open_dims.items():
        legal = list(result.contract.bind(known).solve(label, range(1, LARGEST + 1)))
        if not legal:
            return None
        binding[symbol.name] = known[label] = next((size for size in legal if size > 1), legal[0])
    return binding


def _elements(result: Result, names: list[str]) -> dict[str, tuple[Element, ...]]:
    """The elements of the inputs with known contents, by name."""
    types = ((name, result.engine.inference.input_types.get(name)) for name in names)
    known = {name: t.elements for name, t in types if isinstance(t, TensorType) and t.elements is not None}
    canon = result.engine.store.canon
    return {
        name: tuple(canon(e) if isinstance(e, Dimension) else e for e in elements) for name, elements in known.items()
    }


def _shape(result: Result, name: str, binding: Binding) -> tuple[int, ...]:
    return tuple(_size(dim, binding, name) for dim in result.tensors[name].shape)


def _size(dim: DimSize, binding: Binding, name: str) -> int:
    size = int(evaluate(dim, binding))
    if size < 0:
        raise ShapeInferenceError(f"a size of input {name} is {size}: specify other sizes")
    return size


def _specified(symbolic: Result, name: str, shape: tuple[int, ...], is_array: bool) -> SpecLike:
    """What replaces the shape of an input: all of it for an array or an unknown rank, else the axes without a name."""
    dims = symbolic.tensors[name].shape.dims
    if is_array or dims is None:
        return list(shape)
    unnamed = [any(s.is_anonymous for s in dim.symbols()) if isinstance(dim, Dimension) else False for dim in dims]
    return {axis: size for axis, size in enumerate(shape) if unnamed[axis]} or None
