"""Reshapes: the same elements with other dims, axes in another order, and axes of size 1 at unknown positions."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.elements import move_elements, requested_dims
from opdefs.rules.contents.progressions import reshape_elements, transpose_progression
from opdefs.rules.operands import is_unit, prove_unit
from opdefs.rules.unknowns import cover_dim
from shapeinf.expr import DimSize, constant_divisor, exact_quotient
from shapeinf.lattice import OptionalAxes, PartialTensor, Progression, Shape
from shapeinf.ops import InferenceContext

COUNT = "the element count must not change"
NO_QUOTIENT = "-1 cannot be inferred when another dimension is 0"


def reshape_dims(c: InferenceContext, x: Shape, wanted: Sequence[DimSize | None], zero_copies: bool) -> Shape:
    """The shape that `wanted` requests: -1 is inferred, 0 copies an axis (with `zero_copies`), None is unknown."""
    dims = [
        d if isinstance(d, int) and d > 0 else _requested_dim(c, x, i, d, zero_copies) for i, d in enumerate(wanted)
    ]
    open_axes = [i for i, d in enumerate(dims) if d is None]
    inferred = wanted.count(-1)
    if inferred > 1:
        c.fail("only one dimension may be -1", list(wanted))
    if len(open_axes) > 1 or x.dims is None:
        high = None if x.dims is None else _largest_part(c, c.numel(x))
        return Shape(c.fresh(f"reshape.{i}", 0, high) if d is None else d for i, d in enumerate(dims))
    known = [d for d in dims if d is not None]
    if not open_axes:
        _require_count(c, x.dims, known)
        return Shape(known)
    size = _quotient_of_rests(c, x.dims, known)
    known.insert(open_axes[0], size if size is not None else _inferred_dim(c, x.dims, known, bool(inferred)))
    return Shape(known)


def _require_count(c: InferenceContext, x: Sequence[DimSize], dims: Sequence[DimSize]) -> None:
    """Require that two shapes have the same number of elements."""
    rest, wanted = _without_common_axes(x, dims)
    if c.numel(rest) != c.numel(wanted):
        _require_even_parts(c, x, rest, wanted)
        c.same_count(c.numel(x), c.numel(dims), COUNT)


def _require_even_parts(c: InferenceContext, x: Sequence[DimSize], rest: list[DimSize], wanted: list[DimSize]) -> None:
    """Require that k divides n for each axis n that becomes `n // k` and k, if all axes that differ do so.

    No product of parts exceeds its axis, so that all are equal if those of all axes are, and no axis is empty.
    """
    parts: list[tuple[DimSize, int]] = []
    remaining = list(wanted)
    for d in wanted:
        k = constant_divisor(d)
        n = None if k is None or k not in remaining else next((size for size in rest if size // k == d), None)
        if k is not None and n is not None:
            parts.append((n, k))
            remaining.remove(k)
            remaining.remove(d)
    if not remaining and len(parts) == len(rest) and all(c.store.bounds(size)[0] >= 1 for size in x):
        for n, k in parts:
            c.divisible(n, k, COUNT)


def _without_common_axes(x: Sequence[DimSize], dims: Sequence[DimSize]) -> tuple[list[DimSize], list[DimSize]]:
    """The dims of two shapes without those in both, so that their products are simple."""
    rest, wanted = list(x), []
    for d in dims:
        if d in rest:
            rest.remove(d)
        else:
            wanted.append(d)
    return rest, wanted


def _quotient_of_rests(c: InferenceContext, x: Sequence[DimSize], dims: Sequence[DimSize]) -> DimSize | None:
    """The size of the only open axis, an exact quotient of the dims that differ. None if there is none, or a 0."""
    if any([c.store.bounds(d)[0] < 1 for d in dims]):
        return None
    rest, wanted = _without_common_axes(x, dims)
    divisor = c.numel(wanted)
    if divisor in rest:  # several axes become one
        rest.remove(divisor)
        divisor = 1
    return c.numel(rest) if divisor == 1 else exact_quotient(c.numel(rest), divisor)


def _largest_part(c: InferenceContext, total: DimSize) -> int | None:
    """The largest possible size of an axis of a tensor with `total` elements; None if the tensor may be empty."""
    bounds = c.interval(total)
    return bounds.hi if bounds.lo is not None and bounds.lo >= 1 else None


def _requested_dim(c: InferenceContext, x: Shape, index: int, d: DimSize | None, zero_copies: bool) -> DimSize | None:
    """The dim that element `index` requests; None if it is open: unknown or inferred."""
    if d is None or (isinstance(d, int) and d == -1) or (x.dims is None and zero_copies and d == 0):
        return None
    if isinstance(d, int):
        if d < -1:
            c.fail("a dimension must be -1 or at least 0", d)
        if d == 0 and zero_copies:
            if index >= len(x):
                c.fail(f"dimension {index} copies an axis that the input does not have", x)
            return x[index]
        return d
    if c.store.bounds(d)[0] >= 1:
        return d
    if c.prove_le(0, d) is not True:  # it may be -1
        return None
    return d if not zero_copies or _never_copies(c, x, index, d) else None


def _never_copies(c: InferenceContext, x: Shape, index: int, d: DimSize) -> bool:
    """Whether a symbolic size is its own request: it is not 0, or the axis that 0 copies is 0 too."""
    if c.prove_le(1, d) is True:
        return True
    if x.dims is None:
        return False
    if index >= len(x.dims):
        c.at_least(d, 1, f"dimension {index} would copy an axis that the input does not have")
        return True
    return exact_quotient(x[index], d) is not None


def _inferred_dim(c: InferenceContext, x: Sequence[DimSize], dims: Sequence[DimSize], inferred: bool) -> DimSize:
    """The size of the only open axis. If `inferred` from -1, no other size may be 0."""
    total, known = c.numel(x), c.numel(dims)
    if inferred and known == 0:
        c.fail(NO_QUOTIENT)
    if inferred and c.prove_le(1, known) is not True:
        c.at_least(known, 1, NO_QUOTIENT)
    if known == 0 or (not inferred and c.prove_le(1, known) is not True):
        return c.fresh("reshape")  # any size is possible for an empty tensor
    if isinstance(total, int) and isinstance(known, int):
        if total % known:
            c.fail(COUNT, f"{total} elements", f"a multiple of {known}")
        return total // known
    exact = exact_quotient(total, known)
    if exact is None and isinstance(known, int):
        c.divisible(total, known, COUNT)
    elif exact is None and c.prove_le(1, known) is True:
        c.merge(total // known * known, total, COUNT)
    return total // known


def insert_unit_axes(c: InferenceContext, x: Shape, count: int) -> Shape:
    """The shape with `count` axes of size 1 at unknown positions: each axis is new, or at most `count` further back."""
    dims = x.require()
    new = (1,) if count else ()
    return Shape(
        cover_dim(c, (*new, *dims[max(at - count, 0) : at + 1]), f"unsqueeze.{at}") for at in range(len(dims) + count)
    )


def _candidates(c: InferenceContext, x: Shape) -> tuple[int, ...]:
    """The axes that may have size 1."""
    return tuple(i for i, d in enumerate(x.require()) if prove_unit(c, d) is not False)


def constrain_unit_axes(c: InferenceContext, x: Shape, count: DimSize) -> None:
    """Require that as many axes as are named may have size 1."""
    if not isinstance(count, int) and x.dims is not None:
        c.at_most(count, len(_candidates(c, x)), "axes may only name axes of size 1")


def unit_axes(c: InferenceContext, x: Shape, count: int) -> tuple[int, ...] | None:
    """The axes of size 1 if there are exactly `count`; None if there may be more. Raises ShapeError for fewer."""
    axes = _candidates(c, x)
    if len(axes) < count:
        c.fail(f"the input must have {count} axes of size 1 to be squeezed", x)
    return axes if len(axes) == count else None


def remove_unit_axes(c: InferenceContext, x: Shape, count: int) -> Shape:
    """The shape without `count` unknown axes of size 1: each axis is one of at most `count` positions further back."""
    dims = x.require()
    before = [0]
    for d in dims:
        before.append(before[-1] + (prove_unit(c, d) is not False))

    def may_move(source: int, by: int) -> bool:
        return by <= before[source] and count - by <= before[-1] - before[source + 1]

    return Shape(
        cover_dim(c, [dims[at + by] for by in range(count + 1) if may_move(at + by, by)], f"squeeze.{at}")
        for at in range(len(dims) - count)
    )


def insert_axes(c: InferenceContext, x: PartialTensor, axes: Sequence[int]) -> PartialTensor:
    """The tensor with axes of size 1 inserted at these positions of the result."""
    dims = list(x.shape.require())
    new = sorted(c.axes(axes, len(dims) + len(axes)))
    for axis in new:
        dims.insert(axis, 1)
    if not isinstance(x, Progression):
        return reshape_elements(x, Shape(dims))
    steps = list(x.steps)
    for axis in new:
        steps.insert(axis, 0)
    return Progression(x.dtype, Shape(dims), x.base, steps)


def squeeze_axes(c: InferenceContext, x: PartialTensor, axes: Sequence[int]) -> PartialTensor:
    """The tensor without these axes, which must have size 1."""
    dims = x.shape.require()
    gone = set(c.axes(axes, len(dims)))
    for axis in gone:
        if not is_unit(dims[axis]):
            c.merge(dims[axis], 1, f"axis {axis} must have size 1 to be squeezed")
    return reshape_elements(x, Shape([d for i, d in enumerate(dims) if i not in gone]))


def squeeze_units(c: InferenceContext, x: PartialTensor, axes: Sequence[int] | None = None) -> PartialTensor:
    """The tensor without its axes of size 1; with `axes`, counted from the front, only without those of these."""
    candidates = range(len(x.shape)) if axes is None else axes
    verdicts = [prove_unit(c, d) if i in candidates else False for i, d in enumerate(x.shape)]
    remaining = [(d, verdict is None) for d, verdict in zip(x.shape, verdicts, strict=True) if not verdict]
    if None in verdicts:
        raise c.unknowable_rank("it is undecided which axes have size 1", OptionalAxes(remaining))
    return reshape_elements(x, Shape(d for d, _ in remaining))


def transpose(x: PartialTensor, order: Sequence[int]) -> PartialTensor:
    """The tensor with its axes in another order, a permutation of all axes."""
    dims = x.shape.require()
    shape = Shape([dims[i] for i in order])
    if x.contents is None:  # as of most tensors
        return PartialTensor(x.dtype, shape, None)
    if isinstance(x, Progression):
        return transpose_progression(x, shape, order)
    return move_elements(x, shape, lambda array: array.transpose(order))


def flip(x: PartialTensor, axes: Sequence[int]) -> PartialTensor:
    """The tensor reversed along these axes, which are counted from the front."""
    index = tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(len(x.shape)))
    return move_elements(x, x.shape, lambda array: array[index]) if axes else x


def shape_from_sizes(c: InferenceContext, sizes: PartialTensor, name: str) -> Shape:
    """The shape whose sizes are the elements of a vector, with a fresh unknown for each unknown one.

    Requires that none is negative. Of unknown rank where the length of the vector is unknown; `name` is its name.
    """
    vector = c.require_rank(sizes.shape, 1, f"`{name}`")
    if c.concrete(vector[0]) is None and sizes.elements is None:
        return c.unknown_shape()
    return shape_of_sizes(c, requested_dims(c, sizes, name), name)


def shape_of_sizes(c: InferenceContext, sizes: Sequence[DimSize | None], name: str) -> Shape:
    """The shape of these sizes, with a fresh unknown for each None. Requires that none is negative."""
    return Shape(_nonnegative(c, d, f"{name}.{i}") for i, d in enumerate(sizes))


def _nonnegative(c: InferenceContext, size: DimSize | None, hint: str) -> DimSize:
    if size is None:
        return c.fresh(hint)
    if isinstance(size, int):
        if size < 0:
            c.fail("a size must be at least 0", size)
        return size
    if c.prove_le(0, size) is not True:
        c.at_least(size, 0, "a size must be at least 0")
    return size
