"""Shapes and dims from known contents of inputs, with TensorFlow's error messages."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from opdefs.tf.context.structure import StructureContext
from shapeinf.errors import ShapeError
from shapeinf.expr import Dimension, DimSize
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.lattice.dtypes import INT64_MAX, INTEGER_RANGES, KINDS, TF_NAMES
from shapeinf.ops.context import tf_shape

if TYPE_CHECKING:
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"

MAX_DIMENSIONS = 254
MAX_UNKNOWN_DIMENSIONS = 1 << 25


class _KnownTensor(NamedTuple):
    """A tensor whose elements are all known: the name of its type in numpy, its sizes, its elements row by row."""

    dtype: str
    sizes: Sequence[int]
    elements: Sequence[Any]


def _from_array(array: Array) -> _KnownTensor:
    return _KnownTensor(array.dtype.name, array.shape, array.reshape(-1).tolist())


def _known_tensor(tensor: PartialTensor) -> _KnownTensor | None:
    """The tensor if all its elements are known; integers, which most of them are, without numpy."""
    dtype, elements = tensor.dtype or "", tensor.elements
    if elements is not None and KINDS.get(dtype) == "integer":
        least, greatest = INTEGER_RANGES[dtype]
        if all([type(e) is int and least <= e <= greatest for e in elements]):
            return _KnownTensor(dtype, [d for d in tensor.shape if isinstance(d, int)], elements)
    array = tensor.array()
    return None if array is None else _from_array(array)


def _scalar(tensor: _KnownTensor, index: int | None = None) -> int:
    """The value of a scalar, or one element of a vector."""
    rank = len(tensor.sizes)
    if index is None:
        if rank != 0:
            raise ShapeError(f"Input must be scalar but has rank {rank}")
        if tensor.dtype not in ("int16", "int32", "int64"):
            raise ShapeError("Scalar input must be int16, int32 or int64.")
        return int(tensor.elements[0])
    if rank != 1:
        raise ShapeError(f"Input must be 1D but has rank {rank}")
    if tensor.dtype not in ("int32", "int64"):
        raise ShapeError("Tensor input must be int32 or int64.")
    if not 0 <= index < len(tensor.elements):
        raise ShapeError(f"Invalid index {index} for Tensor of size {len(tensor.elements)}")
    return int(tensor.elements[index])


class ContentsContext(StructureContext):
    """Methods that read shapes and dims from the contents of inputs."""

    input_tensors: Sequence[Array | None] | None = None
    input_tensors_as_shapes: Sequence[Shape | None] | None = None

    def input(self, which: int | str) -> Shape:
        """The shape of an input."""
        raise NotImplementedError

    def input_tensor(self, index: int) -> Array | None:
        """The contents of an input as an array; None where not all are known."""
        if self.input_tensors is not None:
            return self.input_tensors[index] if index < len(self.input_tensors) else None
        tensor = self.value(index)
        return None if tensor is None else tensor.array()

    def _known_input(self, index: int) -> _KnownTensor | None:
        """The contents of an input; None where not all are known."""
        if self.input_tensors is not None:
            array = self.input_tensor(index)
            return None if array is None else _from_array(array)
        tensor = self.value(index)
        return None if tensor is None else _known_tensor(tensor)

    def input_tensor_as_shape(self, index: int) -> Shape | None:
        """The contents of a vector as a shape, unknown elements as unknown dims; None where all or none are known."""
        if self.input_tensors_as_shapes is not None:
            shapes = self.input_tensors_as_shapes
            return shapes[index] if index < len(shapes) else None
        tensor = self.value(index)
        if tensor is None or tensor.shape.rank != 1 or _known_tensor(tensor) is not None:
            return None
        return Shape(self._element(e) for e in tensor.elements or ())

    def _element(self, element: object) -> DimSize:
        known = isinstance(element, (int, Dimension)) and self.prove_le(0, element) is True
        return element if known and isinstance(element, (int, Dimension)) else self.unknown_dim()

    def make_shape_from_shape_tensor(self, index: int, *, scalar_is_unknown: bool = False) -> Shape:
        """The shape in a vector input; with `scalar_is_unknown` a scalar of unknown contents is an unknown shape."""
        shape = self.store.canon_shape(self.input(index))
        shape = self.with_rank_at_most(shape, 1) if scalar_is_unknown else self.with_rank(shape, 1)
        partial = self.input_tensor_as_shape(index)
        if partial is not None and partial.dims is not None:
            return partial
        tensor = self._known_input(index)
        if tensor is None and scalar_is_unknown and shape.rank == 0:
            return self.unknown_shape()
        return self._shape_of_length(shape) if tensor is None else self._shape_in(tensor)

    def make_shape_from_shape_tensor_treat_scalar_as_unknown_shape(self, index: int) -> Shape:
        """TensorFlow's name for `make_shape_from_shape_tensor(index, scalar_is_unknown=True)`."""
        return self.make_shape_from_shape_tensor(index, scalar_is_unknown=True)

    def _shape_of_length(self, shape: Shape) -> Shape:
        length = None if shape.rank != 1 else self.concrete(shape[0])
        if length is None:
            return self.unknown_shape()
        if length >= MAX_UNKNOWN_DIMENSIONS:
            limit = f"as these would be more than maximum of {MAX_UNKNOWN_DIMENSIONS}"
            raise ShapeError(f"Cannot create a tensor with {length} dimensions, {limit}")
        return self.unknown_shape_of_rank(length)

    def _shape_in(self, tensor: _KnownTensor) -> Shape:
        sizes, elements = tensor.sizes, tensor.elements
        if tensor.dtype not in ("int32", "int64"):
            name = TF_NAMES.get(tensor.dtype, tensor.dtype)
            raise ShapeError(f"Input tensor must be int32 or int64, but was {name}")
        if not sizes:
            if elements[0] == -1:
                return self.unknown_shape()
            message = (
                "Input tensor must be rank 1, or if its rank 0 it must have value -1 (representing an unknown shape)."
            )
            raise ShapeError(f"{message}  Saw value: {elements[0]}")
        if len(sizes) != 1:
            text = tf_shape(Shape(sizes))
            raise ShapeError(f"Input tensor must be rank 1, but was rank {len(sizes)}. Saw tensor shape {text}")
        for size in elements:
            if size < -1:
                raise ShapeError(f"Invalid value in tensor used for shape: {size}")
        return self.make_shape(elements)

    def make_shape_from_shape_proto(self, dims: Sequence[int] | None, unknown_rank: bool = False) -> Shape:
        """A shape in the form of TensorShapeProto and PartialTensorShape: -1 is unknown, None an unknown rank."""
        if unknown_rank or dims is None:
            if dims:
                raise ShapeError("An unknown shape must not have any dimensions set.")
            return self.unknown_shape()
        text = "[" + ",".join("?" if d == -1 else str(d) for d in dims) + "]"
        if any(d < -1 for d in dims):
            raise ShapeError(f"Shape {text} has dimensions with values below -1 (where -1 means unknown)")
        if len(dims) > MAX_DIMENSIONS:
            raise ShapeError(f"Shape {text} has too many dimensions")
        if prod(d for d in dims if d >= 0) > INT64_MAX:
            raise ShapeError(f"Shape {text} is too large (more than 2**63 - 1 entries)")
        return self.make_shape(dims)

    def get_scalar_from_tensor(self, tensor: Array, index: int | None = None) -> int:
        """The value of a scalar, or one element of a vector."""
        return _scalar(_from_array(tensor), index)

    def make_dim_for_scalar_input(self, index: int) -> DimSize:
        """The size in a scalar input, unknown when the contents are."""
        symbolic = self._symbolic_scalar(index)
        if symbolic is not None:
            return symbolic
        tensor = self._known_input(index)
        if tensor is None:
            return self.unknown_dim()
        value = _scalar(tensor)
        if value < 0:
            message = f"Dimension size, given by scalar input {index}, must be non-negative but is {value}"
            raise ShapeError(message)
        return value

    def _symbolic_scalar(self, index: int) -> DimSize | None:
        tensor: PartialTensor | None = self.value(index) if self.input_tensors is None else None
        if tensor is None or tensor.shape.rank != 0 or not tensor.elements or _known_tensor(tensor):
            return None
        return self._element(tensor.elements[0])

    def make_dim_for_scalar_input_with_negative_indexing(self, index: int, rank: int) -> DimSize:
        """The position in a scalar input, counted from the front; rank -1 is unknown."""
        tensor = self._known_input(index)
        if tensor is None:
            return self.unknown_dim()
        value = _scalar(tensor)
        if rank >= 0:
            if not -rank <= value < rank:
                message = f"Dimension size, given by scalar input {value} must be in range [-{rank}, {rank})"
                raise ShapeError(message)
            return value + rank if value < 0 else value
        return self.unknown_dim() if value < 0 else value
