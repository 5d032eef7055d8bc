"""tract's operations on shapes as values: symbols, dims, ranges, broadcasts; and what only other files know."""

from __future__ import annotations

import numpy as np

from opdefs.nnef.dialect import nnef
from opdefs.nnef.laws import Listed, in_a_row, ints_of
from opdefs.nnef.tract_elementwise import named_dtype
from opdefs.rules.elements import as_dim, moved
from opdefs.rules.ranges import arithmetic_range
from shapeinf.expr import Dim, Dimension, parse_dim_lenient
from shapeinf.lattice import SCALAR, PartialTensor, Shape, TensorType
from shapeinf.ops import InferenceContext, Value


def sizes(c: InferenceContext, given: object, what: str) -> tuple[Dim, ...]:
    """The sizes that an attribute gives, in one row: tract takes a tensor of several for an item too."""
    items = in_a_row(given if isinstance(given, tuple) else (given,))
    return tuple([_size(c, item, what) for item in items])


def _size(c: InferenceContext, given: object, what: str) -> Dim:
    if given is None:
        return c.fresh(what)
    found = as_dim(given) if isinstance(given, (int, float, Dimension)) else None
    if found is None:
        c.fail(f"`{what}` must be made of whole numbers", given)
    c.at_least(found, 0, f"`{what}` must be made of sizes, at least 0")
    return found


def size(c: InferenceContext, given: object, what: str) -> Dim:
    """The one size that an attribute gives."""
    found = sizes(c, given, what)
    if len(found) != 1:
        c.fail(f"`{what}` must be one number", given)
    return found[0]


@nnef("extent_of_text")
def extent_of_text(c: InferenceContext, text: Value) -> PartialTensor:
    """The extent that a text names, as a scalar; readers write it where a document has a symbol in an expression."""
    named = text.elements[0] if text.elements else None
    if not isinstance(named, str):
        raise c.unknowable("the text that names an extent is not known", "int64")
    c.created_unknowns = True  # symbols belong to one inference: the result must not be kept for another
    dim, _ = parse_dim_lenient(named, c.store.scope, 0)
    return PartialTensor("int64", SCALAR, None if dim is None else (c.store.canon(dim),))


@nnef("tract_core_shape_of")
def shape_of(c: InferenceContext, input: Shape) -> PartialTensor | TensorType:
    """The sizes of the input."""
    if input.dims is None:
        return TensorType("int64", Shape((c.fresh("rank"),)))
    return PartialTensor("int64", Shape((len(input.dims),)), input.dims)


@nnef("tract_core_range")
def range_(c: InferenceContext, start: Value, end: Value, step: Value | None = None) -> PartialTensor:
    """`ceil((end - start) / step)` elements, at least none."""
    one = PartialTensor(start.dtype, SCALAR, (1,))
    if any(part is not None and part.elements is not None and len(part.elements) != 1 for part in (start, end, step)):
        c.fail("start, end and step must be single numbers")
    return arithmetic_range(c, start, end, one if step is None else step)


@nnef("tract_core_broadcast")
def broadcast(c: InferenceContext, input: Value, *, shape: Listed) -> PartialTensor:
    """Numpy's broadcast of the input to `shape`: shapes align at their last axes here."""
    result = c.broadcast(input.shape, Shape(sizes(c, shape, "shape")))
    return moved(input, result, lambda array: np.broadcast_to(array, [d for d in result if isinstance(d, int)]))


@nnef("tract_core_force_eval")
def force_eval(c: InferenceContext, *inputs: Value, slots: Listed) -> tuple[PartialTensor, ...]:
    """Some of the inputs."""
    known = ints_of(c, slots, "slots", 0)
    if any(slot >= len(inputs) for slot in known):
        c.fail(f"a slot must lie in 0..{len(inputs) - 1}", known)
    return tuple(inputs[slot] for slot in known)


@nnef("tract_core_load")
def load(c: InferenceContext, input: Shape) -> TensorType:
    """What was stored, or the input before anything was: of its shape."""
    return TensorType(c.dtype(0), input)


@nnef("tract_core_store")
def store(c: InferenceContext, input: Shape, state: Shape) -> TensorType:
    """The input."""
    return TensorType(c.dtype(0), input)


@nnef("tract_resource_get")
def resource_get(c: InferenceContext, *, label: str, key: str) -> Shape:
    """A value of another file."""
    raise c.unknowable(f"{key!r} of the resource {label!r} is in another file")


@nnef("tract_core_submodel")
def submodel(c: InferenceContext, *inputs: Shape, label: str) -> Shape:
    """What another model makes."""
    raise c.unknowable(f"the model {label!r} is in another file")


@nnef("tract_onnx_random")
def random(c: InferenceContext, *, datum_type: str, shape: Listed) -> TensorType:
    """The given shape."""
    return TensorType(named_dtype(c, datum_type), Shape(sizes(c, shape, "shape")))
