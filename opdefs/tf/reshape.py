"""Reshapes, permutations of axes, reversals, bit casts and diagonals."""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.contents.conversion import reinterpret
from opdefs.rules.contents.elements import is_listable, known_dims, known_ints, requested_dims
from opdefs.rules.contents.progressions import reshape_elements
from opdefs.rules.contents.rearrangement import diagonal_matrix, diagonal_part, reverse_parts, roll_elements
from opdefs.rules.reshaping import flip, insert_unit_axes, reshape_dims, squeeze_units
from opdefs.rules.reshaping import transpose as transpose_axes
from opdefs.tf.common import require_scalars, warn
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from shapeinf.errors import NotKnown, ShapeError
from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice import PartialTensor, Shape, element_bits
from shapeinf.ops import Ints, Value


@tf("Reshape", views={0: 0})
def reshape(c: TensorFlowContext, tensor: Value, shape: Value) -> PartialTensor:
    """[*S], [R] -> the sizes in `shape`, where -1 is inferred. The kernel accepts a scalar for a vector of one size."""
    if shape.shape.rank == 0:
        shape = PartialTensor(shape.dtype, Shape((1,)), shape.elements)
    c.with_rank(shape.shape, 1)
    wanted = requested_dims(c, shape)
    for d in wanted:
        if isinstance(d, int) and d < -1:
            c.fail(f"Invalid value in tensor used for shape: {d}")
    if wanted.count(-1) > 1:
        warn(c, "only one size may be -1", list(wanted))
        wanted = tuple(None if d == -1 else d for d in wanted)
    inferred = _infer_of_empty(c, tensor.shape, wanted)
    if inferred is not None:
        return reshape_elements(tensor, inferred)
    try:
        result = reshape_dims(c, tensor.shape, wanted, False)
    except ShapeError as error:
        _fail_as_tensorflow(c, tensor.shape, wanted)
        raise error
    return reshape_elements(tensor, result)


def _infer_of_empty(c: TensorFlowContext, x: Shape, wanted: Sequence[DimSize | None]) -> Shape | None:
    """The result if -1 is inferred and another size is or may be 0: of empty tensors, kernels count sizes above 0."""
    sizes = [d for d in wanted if d != -1]
    if len(sizes) != len(wanted) - 1:
        return None
    quotient = _quotient_besides_empty_axes(c, x, sizes)
    if quotient is not None:
        return Shape(quotient if d == -1 else c.make_dim(d) for d in wanted)
    if 0 not in sizes and not any(_may_be_zero(c, d) for d in sizes):
        return None
    if x.dims is None and 0 not in sizes:
        return None
    if x.dims is not None and 0 not in x.dims and x.is_concrete:
        return None
    positive = [d for d in sizes if isinstance(d, int) and d > 0]
    inferred: DimSize = c.fresh("reshape")
    if x.is_concrete and x.dims is not None and len(positive) + sizes.count(0) == len(sizes):
        total, known = c.numel(d for d in x.dims if d != 0), c.numel(positive)
        inferred = total // known  # the kernel does not check the remainder
    return Shape(inferred if d == -1 else c.fresh(f"reshape.{i}") if d is None else d for i, d in enumerate(wanted))


def _may_be_zero(c: TensorFlowContext, d: DimSize | None) -> bool:
    return isinstance(d, Dimension) and c.prove_le(1, d) is not True


def _quotient_besides_empty_axes(c: TensorFlowContext, x: Shape, sizes: Sequence[DimSize | None]) -> DimSize | None:
    """The inferred size where requested sizes that may be 0 are axes of the tensor, and no other axis may be 0.

    These axes and sizes are counted on both sides, or on none. None where there are no such sizes.
    """
    possible = [d for d in sizes if _may_be_zero(c, d)]
    if not possible or x.dims is None:
        return None
    rest = list(x.dims)
    for d in possible:
        if d not in rest:
            return None
        rest.remove(d)
    others = [d for d in sizes if d not in possible]
    if any(d is None or c.prove_le(1, d) is not True for d in [*rest, *others]):
        return None
    return c.numel(rest) // c.numel(d for d in others if d is not None)


def _fail_as_tensorflow(c: TensorFlowContext, x: Shape, wanted: Sequence[DimSize | None]) -> None:
    """Raise TensorFlow's error for sizes that are ints, if it has one."""
    dims = c.store.canon_shape(x).dims or ()
    sizes = [d for d in wanted if isinstance(d, int) and d != -1]
    known, total = c.numel(sizes), c.numel(d for d in dims if isinstance(d, int))
    if not isinstance(known, int) or not isinstance(total, int) or not all(isinstance(d, int) for d in wanted):
        return
    inferred, unknown = len(wanted) - len(sizes), sum(not isinstance(d, int) for d in dims)
    if inferred and known and not unknown and total % known:
        raise ShapeError(f"Dimension size must be evenly divisible by {known} but is {total}")
    if not inferred and unknown == 1 and total and known % total:
        raise ShapeError(f"Dimension size must be evenly divisible by {total} but is {known}")
    if not unknown and total != known:
        text = "[" + ",".join("?" if d == -1 else str(d) for d in wanted) + "]"
        raise ShapeError(f"Cannot reshape a tensor with {total} elements to shape {text} ({known} elements)")


@tf("QuantizedReshape", views={0: 0})
def quantized_reshape(
    c: TensorFlowContext, tensor: Value, shape: Value, input_min: Shape, input_max: Shape
) -> tuple[PartialTensor | Shape, ...]:
    """As Reshape, with the range [], []."""
    require_scalars(c, input_min, input_max)
    try:
        result = reshape(c, tensor, shape)
    except NotKnown:
        result = PartialTensor(tensor.dtype, c.unknown_shape(), None)
    return result, c.scalar(), c.scalar()


@tf("Squeeze", views={0: 0})
def squeeze(c: TensorFlowContext, x: Value, *, squeeze_dims: Ints = ()) -> PartialTensor:
    """[*P, 1, *Q] -> [*P, *Q]: without the axes in `squeeze_dims`, or all of size 1."""
    rank = len(x.shape)
    if not squeeze_dims:
        return squeeze_units(c, x)
    removed = set()
    for position, axis in enumerate(squeeze_dims):
        if not -rank <= axis < rank:
            c.fail(f"squeeze_dims[{position}] not in [-{rank},{rank}).")
        at = axis % rank
        size = c.concrete(x.shape[at])
        if size not in (None, 1):
            c.fail(f"Can not squeeze dim[{at}], expected a dimension of 1, got {size}")
        c.merge(x.shape[at], 1, f"Can not squeeze dim[{at}], expected a dimension of 1")
        removed.add(at)
    return reshape_elements(x, Shape(d for i, d in enumerate(x.shape) if i not in removed))


@tf("ExpandDims", views={0: 0})
def expand_dims(c: TensorFlowContext, x: Value, dim: Value) -> PartialTensor:
    """[*P, *Q], dim [] -> [*P, 1, *Q]."""
    count = None if dim.shape.dims is None else c.concrete(c.numel(dim.shape))
    if count not in (None, 1):
        c.fail("'dim' input must be a tensor with a single value")
    rank = len(x.shape)
    axis = known_ints(dim)
    if axis is None:
        return PartialTensor(x.dtype, insert_unit_axes(c, x.shape, 1), None)
    if not -rank - 1 <= axis[0] <= rank:
        c.fail(f"dim {axis[0]} not in the interval [{-rank - 1}, {rank}].")
    at = axis[0] % (rank + 1)
    return reshape_elements(x, Shape((*x.shape[:at], 1, *x.shape[at:])))


@tf("Transpose", "ConjugateTranspose")
def transpose(c: TensorFlowContext, x: Value, perm: Value) -> PartialTensor:
    """[*S], [R] -> the axes in the order of `perm`."""
    count = None if perm.shape.dims is None else c.concrete(c.numel(perm.shape))
    order = known_dims(perm)
    if count is None and x.shape.dims is None:
        return x if order == () else PartialTensor(x.dtype, c.unknown_shape(), None)
    rank = len(x.shape.dims) if x.shape.dims is not None else len(order) if order is not None else count
    assert rank is not None
    if count is not None and count != rank:
        c.fail(f"Dimension must be {rank} but is {count}")
    if count is None and perm.shape.dims is not None:
        c.merge(c.numel(perm.shape), rank, "perm must have one value for each axis of the input")
    shape = c.with_rank(x.shape, rank)
    for axis in order or ():
        if isinstance(axis, int) and not -rank <= axis < rank:
            c.fail(f"perm dim {axis} is out of range of input rank {rank}")
    axes = [axis % rank if isinstance(axis, int) else None for axis in order or (None,) * rank]
    if rank <= 1:
        return PartialTensor(x.dtype, shape, x.elements)
    if None not in axes and len(set(axes)) < rank:
        warn(c, "perm must name all axes once", axes)
    if order is None or set(axes) != set(range(rank)):
        return PartialTensor(x.dtype, _permute_known_axes(c, shape, axes), None)
    ranked = x if x.shape.dims is not None else PartialTensor(x.dtype, shape, None)
    return transpose_axes(ranked, [axis for axis in axes if axis is not None])


def _permute_known_axes(c: TensorFlowContext, x: Shape, axes: Sequence[int | None]) -> Shape:
    """The shape for a permutation with unknown entries; the only unknown one is the remaining axis."""
    unused = [i for i in range(len(x)) if i not in axes]
    if axes.count(None) == 1 and len(unused) == 1:
        axes = [unused[0] if axis is None else axis for axis in axes]
    sizes = {x[i] for i in unused}
    common = sizes.pop() if len(sizes) == 1 else None

    def size(position: int, axis: int | None) -> DimSize:
        if axis is not None:
            return x[axis]
        return c.fresh(f"transpose.{position}") if common is None else common

    return Shape(size(position, axis) for position, axis in enumerate(axes))


@tf("InvertPermutation")
def invert_permutation(c: TensorFlowContext, x: Value) -> PartialTensor:
    """[n] -> [n]."""
    shape = c.with_rank(x.shape, 1)
    order = known_ints(x)
    if order is None or not order:
        return PartialTensor(x.dtype, shape, None if order is None else ())
    if sorted(order) != list(range(len(order))):
        c.fail("the input must be a permutation of 0, 1, ...", list(order))
    return PartialTensor(x.dtype, shape, [order.index(i) for i in range(len(order))])


@tf("Bitcast", views={0: 0})
def bitcast(c: TensorFlowContext, x: Value, *, type_: str) -> PartialTensor:
    """[*S] -> [*S, k] for a type k times narrower; [*S, k] -> [*S] for a wider one."""
    return reinterpret(x, type_, _bitcast_shape(c, x.shape, type_))


def _bitcast_shape(c: TensorFlowContext, x: Shape, type_: str) -> Shape:
    """The shape of the same bytes in another type."""
    dtype = c.dtype(0) or c.attributes.get("T")
    if not isinstance(dtype, str):
        raise c.unknowable("the element type of the input is unknown")
    old, new = _bytes(dtype), _bytes(type_)
    if not old or not new:
        c.fail(f"Cannot bitcast type {dtype} to {type_} because one of the type sizes is zero")
    if x.dims is None or old == new:
        return x
    if new < old:
        return Shape((*x.dims, old // new))
    ratio = new // old
    if not x.dims:
        c.fail(f"Cannot bitcast a scalar of type {dtype} to the wider type {type_}")
    last = c.concrete(x.dims[-1])
    if last not in (None, ratio):
        c.fail(f"Cannot bitcast due to shape. {last} does not match {ratio}.")
    c.merge(x.dims[-1], ratio, f"the last axis must have {ratio} elements to be cast to {type_}")
    return Shape(x.dims[:-1])


def _bytes(dtype: str) -> int:
    """The number of bytes of an element, at least 1; 0 for strings and handles."""
    bits = element_bits(dtype)
    return 0 if bits is None else max(bits // 8, 1)


REVERSE_LIMIT = 8
"""The largest rank of tensors that the kernels reverse."""


@tf("Reverse")
def reverse(c: TensorFlowContext, tensor: Value, dims: Value) -> PartialTensor:
    """[*S], [R] -> [*S], reversed along the axes whose bool is true."""
    flags = c.with_rank(dims.shape, 1)
    rank = c.concrete(flags[0])
    shape = tensor.shape
    if rank is not None:
        if rank > REVERSE_LIMIT:
            c.fail("reverse does not work on tensors with more than 8 dimensions")
        shape = c.with_rank(shape, rank)
    chosen = dims.array()
    axes = None if chosen is None else [i for i, flag in enumerate(chosen.tolist()) if flag]
    return _reverse(tensor, shape, axes)


@tf("ReverseV2")
def reverse_axes(c: TensorFlowContext, tensor: Value, axis: Value) -> PartialTensor:
    """[*S], axes [n] -> [*S], reversed along these axes."""
    named = c.with_rank(axis.shape, 1)
    shape = tensor.shape
    if shape.rank is not None and shape.rank > REVERSE_LIMIT:
        c.fail("reverse does not work on tensors with more than 8 dimensions")
    axes = known_ints(axis)
    if shape.dims == ():
        return tensor  # of a scalar, the kernel does not read the axes
    if axes is not None and shape.dims is not None:
        c.axes(axes, len(shape.dims))
    elif c.concrete(named[0]) == 0:
        axes = ()
    return _reverse(tensor, shape, axes)


def _reverse(tensor: PartialTensor, shape: Shape, axes: Sequence[int] | None) -> PartialTensor:
    """The tensor of `shape`, reversed along these axes (None: unknown)."""
    if axes is None or shape.dims is None:
        return PartialTensor(tensor.dtype, shape, None)
    if not axes:
        return tensor
    return flip(PartialTensor(tensor.dtype, shape, tensor.elements), [axis % len(shape.dims) for axis in axes])


@tf("ReverseSequence")
def reverse_sequence(
    c: TensorFlowContext, x: Value, seq_lengths: Value, *, seq_dim: int, batch_dim: int = 0
) -> PartialTensor:
    """[*S], lengths [B] -> [*S], where axis `batch_dim` has size B; so many elements of axis `seq_dim` are reversed."""
    shape = _check_sequences(c, x.shape, seq_lengths.shape, seq_dim, batch_dim)
    known = known_ints(seq_lengths)
    if x.elements is None or known is None or any(not 0 <= n <= int(x.shape[seq_dim]) for n in known):
        return PartialTensor(x.dtype, shape, None)
    return reverse_parts(x, known, batch_dim, seq_dim)


def _check_sequences(c: TensorFlowContext, x: Shape, seq_lengths: Shape, seq_dim: int, batch_dim: int) -> Shape:
    lengths = c.with_rank(seq_lengths, 1)
    for name, axis in (("batch_dim", batch_dim), ("seq_dim", seq_dim)):
        if x.dims is not None and not 0 <= axis < len(x.dims):
            c.fail(f"{name} must be < input rank: {axis} vs. {len(x.dims)}")
    if batch_dim == seq_dim:
        c.fail("batch_dim and seq_dim must be different", batch_dim)
    return x if x.dims is None else c.replace_dim(x, batch_dim, c.merge(x[batch_dim], lengths[0]))


@tf("Roll")
def roll(c: TensorFlowContext, x: Value, shift: Value, axis: Value) -> PartialTensor:
    """[*S], shifts, axes -> [*S], of rank 1 or more: the elements shifted in a circle."""
    c.with_rank_at_least(x.shape, 1)
    c.with_rank_at_most(shift.shape, 1)
    c.with_rank_at_most(axis.shape, 1)
    shifts, axes = known_ints(shift), known_ints(axis)
    rank = len(x.shape.dims or ())
    if x.elements is None or shifts is None or axes is None or len(shifts) != len(axes):
        return PartialTensor(x.dtype, x.shape, None)
    if any(not -rank <= at < rank for at in axes):
        return PartialTensor(x.dtype, x.shape, None)
    return roll_elements(x, shifts, axes)


@tf("Diag")
def diagonal(c: TensorFlowContext, x: Value) -> PartialTensor:
    """[*D] -> [*D, *D]."""
    shape = c.with_rank_at_least(x.shape, 1)
    result = c.concatenate(shape, shape)
    if x.elements is None or not is_listable(result):
        return PartialTensor(x.dtype, result, None)
    flat = Shape((len(x.elements),))
    square = diagonal_matrix(PartialTensor(x.dtype, flat, x.elements), Shape((*flat, *flat)))
    return PartialTensor(x.dtype, result, square.elements)


@tf("DiagPart")
def diagonal_of_tensor(c: TensorFlowContext, x: Value) -> PartialTensor:
    """[*D, *D] -> [*D]."""
    shape = _half(c, x.shape)
    if x.elements is None or not is_listable(shape):
        return PartialTensor(x.dtype, shape, None)
    count = c.numel(shape)
    square = PartialTensor(x.dtype, Shape((count, count)), x.elements)
    return PartialTensor(x.dtype, shape, diagonal_part(square, Shape((count,))).elements)


def _half(c: TensorFlowContext, x: Shape) -> Shape:
    """[*D, *D] -> [*D]."""
    dims = x.require()
    if not dims or len(dims) % 2:
        c.fail("Input must have even and non-zero rank", f"input rank is {len(dims)}")
    half = len(dims) // 2
    return Shape(c.merge(a, b) for a, b in zip(dims[:half], dims[half:], strict=True))
