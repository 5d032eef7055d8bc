"""The inferred shapes of a recorded graph, compared with those of its runs."""

from __future__ import annotations

import attrs

from shapeinf import infer_shapes
from shapeinf.expr import evaluate
from shapeinf.lattice import Shape
from tests.differential.observed import agrees, observed_sizes
from tests.differential.tf.graphs.case import Input


@attrs.define
class Comparison:
    """`wrong`: messages; `exact` and `unknown`: numbers of dims that the sizes of the inputs determine."""

    wrong: list = attrs.field(factory=list)
    exact: int = 0
    unknown: int = 0


def compare(record, inputs, *, min_dim, registry=None):
    """Compare at all bindings with sizes of at least `min_dim`, which inference assumes."""
    turns = [i for i, binding in enumerate(record.bindings) if min(binding.values(), default=min_dim) >= min_dim]
    bindings = [record.bindings[i] for i in turns]
    declared = {f"x{i}:0": list(x.dims) for i, x in enumerate(map(Input.parse, inputs)) if x.ranked}
    result = infer_shapes(record.model, inputs=declared, min_dim=min_dim, registry=registry)
    comparison = Comparison()
    comparison.wrong += [str(note) for note in result.diagnostics if note.severity == "error" or note.code == "S301"]
    for binding in bindings:
        verdict = result.contract.check({name: binding[name] for name in _symbols(declared)})
        if verdict.verdict is False:
            comparison.wrong.append(f"{binding}: {verdict}")
    sizes = [_sizes_in_turn(record, result, turn) for turn in turns]
    for name, (dtype, dims) in record.tensors.items():
        _compare_tensor(comparison, result, name, dtype, dims, turns, sizes)
    return comparison


def _symbols(declared):
    return {dim for dims in declared.values() for dim in dims if isinstance(dim, str)}


def _sizes_in_turn(record, result, turn):
    """The sizes of inputs and of unknowns that do not vary between the runs of a turn."""
    shapes = []
    for name, (_, dims) in record.tensors.items():
        inferred, columns = result.tensors[name].shape, [_column(dim, [turn])[0] for dim in dims or ()]
        pairs = zip(inferred.dims or (), columns, strict=False)
        fixed = [(dim, least) for dim, (least, most) in pairs if least == most]
        shapes.append((Shape(tuple(dim for dim, _ in fixed)), [size for _, size in fixed]))
    return observed_sizes(shapes, record.bindings[turn])


def _compare_tensor(comparison, result, name, dtype, dims, turns, bindings):
    info = result.tensors[name]
    if info.dtype not in (None, dtype):
        comparison.wrong.append(f"{name}: {info.dtype} is not {dtype}")
    if dims is None:
        if info.shape.dims is not None:
            comparison.wrong.append(f"{name}: {info.shape}, but the rank varies")
        return
    columns = [_column(dim, turns) for dim in dims]
    if info.shape.dims is None:
        comparison.unknown += sum(_is_determined(column) for column in columns)
    elif len(info.shape.dims) != len(dims):
        comparison.wrong.append(f"{name}: {info.shape} is of another rank than {dims}")
    else:
        for axis, (dim, column) in enumerate(zip(info.shape.dims, columns, strict=True)):
            known = isinstance(dim, int) or not dim.is_anonymous
            if not _contains(result, dim, column, bindings):
                comparison.wrong.append(f"{name}, axis {axis}: {dim} is not {column} at {bindings}")
            elif _is_determined(column):
                comparison.exact += known
                comparison.unknown += not known


def _column(dim, turns):
    """(least, most) of a dim at each of these bindings."""
    items = [dim[i] if isinstance(dim, list) else dim for i in turns]
    return [tuple(item) if isinstance(item, list) else (item, item) for item in items]


def _is_determined(column):
    return all(least == most for least, most in column)


def _contains(result, dim, column, sizes):
    """Whether a dim, or its bounds where it is unknown, agrees with the sizes of the runs."""
    if isinstance(dim, int) or not dim.is_anonymous:
        return [(evaluate(dim, turn),) * 2 for turn in sizes] == column
    interval = result.interval(dim)
    return all(
        least in interval and most in interval and (least != most or agrees(result, dim, least, turn))
        for (least, most), turn in zip(column, sizes, strict=True)
    )
