"""tract's operations on shapes as values: symbols, dims, ranges, broadcasts; references to other files."""

from __future__ import annotations

from opdefs.nnef.attributes import Listed, flatten
from opdefs.nnef.dialect import nnef
from opdefs.nnef.tract_elementwise import read_dtype
from opdefs.rules.contents.elements import move_elements, to_dim
from opdefs.rules.contents.numpy_functions import numpy_function
from opdefs.rules.contents.progressions import arithmetic_range
from opdefs.rules.numbers import read_ints
from shapeinf.expr import Dimension, DimSize, parse_dim_lenient
from shapeinf.lattice import SCALAR, PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Value


def read_extents(c: InferenceContext, value: object, name: str) -> tuple[DimSize, ...]:
    """The sizes in an attribute, whose items may be tensors of several sizes; a new unknown for an unknown size."""
    items = flatten(value if isinstance(value, tuple) else (value,))
    return tuple([_read_extent(c, item, name) for item in items])


def _read_extent(c: InferenceContext, item: object, name: str) -> DimSize:
    if item is None:
        return c.fresh(name)
    dim = to_dim(item) if isinstance(item, (int, float, Dimension)) else None
    if dim is None:
        c.fail(f"the items of `{name}` must be integers", item)
    c.at_least(dim, 0, f"the items of `{name}` must be at least 0")
    return dim


def read_extent(c: InferenceContext, value: object, name: str) -> DimSize:
    """The single size in an attribute."""
    dims = read_extents(c, value, name)
    if len(dims) != 1:
        c.fail(f"`{name}` must be one number", value)
    return dims[0]


@nnef("extent_of_text")
def extent_of_text(c: InferenceContext, text: Value) -> PartialTensor:
    """The extent that a text names, as a scalar; the reader writes this operation for a symbol in an expression."""
    named = text.elements[0] if text.elements else None
    if not isinstance(named, str):
        raise c.unknowable("the name of the extent is unknown", "int64")
    c.created_unknowns = True  # symbols belong to one inference: the result must not be memoized
    dim, _ = parse_dim_lenient(named, c.store.scope, 0)
    return PartialTensor("int64", SCALAR, None if dim is None else (c.store.canon(dim),))


@nnef("tract_core_shape_of")
def shape_of(c: InferenceContext, input: Shape) -> PartialTensor | TensorType:
    """[*S] -> [rank], the sizes of the input."""
    if input.dims is None:
        return TensorType("int64", Shape((c.fresh("rank"),)))
    return PartialTensor("int64", Shape((len(input.dims),)), input.dims)


@nnef("tract_core_range")
def range_(c: InferenceContext, start: Value, end: Value, step: Value | None = None) -> PartialTensor:
    """`ceil((end - start) / step)` elements, at least 0."""
    unit = PartialTensor(start.dtype, SCALAR, (1,))
    if any(part is not None and part.elements is not None and len(part.elements) != 1 for part in (start, end, step)):
        c.fail("start, end and step must each be one number")
    return arithmetic_range(c, start, end, unit if step is None else step)


@nnef("tract_core_broadcast")
def broadcast(c: InferenceContext, input: Value, *, shape: Listed) -> PartialTensor:
    """The broadcast of the input and the attribute `shape`, aligned at the last axis as in numpy."""
    result = c.broadcast(input.shape, Shape(read_extents(c, shape, "shape")))
    return move_elements(input, result, lambda array: numpy_function("broadcast_to")(array, [*result]))


@nnef("tract_core_force_eval")
def force_eval(c: InferenceContext, *inputs: Value, slots: Listed) -> tuple[PartialTensor, ...]:
    """The inputs at the positions `slots`."""
    known = read_ints(c, slots, "slots", 0)
    if any(slot >= len(inputs) for slot in known):
        c.fail(f"the items of slots must lie in 0..{len(inputs) - 1}", known)
    return tuple(inputs[slot] for slot in known)


@nnef("tract_core_load")
def load(c: InferenceContext, input: Shape) -> TensorType:
    """[*S] -> [*S]: the stored tensor, or the input if nothing is stored."""
    return TensorType(c.dtype(0), input)


@nnef("tract_core_store")
def store(c: InferenceContext, input: Shape, state: Shape) -> TensorType:
    """[*S] -> [*S]: the input."""
    return TensorType(c.dtype(0), input)


@nnef("tract_resource_get")
def resource_get(c: InferenceContext, *, label: str, key: str) -> Shape:
    """Unknown: a value of another file."""
    raise c.unknowable(f"{key!r} of the resource {label!r} is in another file")


@nnef("tract_core_submodel")
def submodel(c: InferenceContext, *inputs: Shape, label: str) -> Shape:
    """Unknown: the output of another model."""
    raise c.unknowable(f"the model {label!r} is in another file")


@nnef("tract_onnx_random")
def random(c: InferenceContext, *, datum_type: str, shape: Listed) -> TensorType:
    """The attribute `shape`."""
    return TensorType(read_dtype(c, datum_type), Shape(read_extents(c, shape, "shape")))
