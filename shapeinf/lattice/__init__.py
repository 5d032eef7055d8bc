"""Shapes and types of values, and how they merge and relax."""

from shapeinf.lattice.dtypes import element_bits
from shapeinf.lattice.joins import (
    broadcast,
    broadcast_dim,
    merge_shape,
    merge_type,
    quick_broadcast,
    relax_type,
)
from shapeinf.lattice.mapping import map_dims, map_type, type_symbols
from shapeinf.lattice.relaxer import Relaxer
from shapeinf.lattice.shape import SCALAR, OptionalAxes, Shape
from shapeinf.lattice.shape_store import ShapeStore
from shapeinf.lattice.types import (
    MAX_ELEMENTS,
    NOT_CONCRETE,
    BoundedTensor,
    BroadcastAxes,
    Condition,
    Element,
    FloatInterval,
    HandleType,
    MapType,
    OptionalType,
    PartialTensor,
    Progression,
    Quotient,
    SequenceType,
    TensorType,
    Type,
    dims_in,
    numpy_dtype,
    to_partial,
)

__all__ = [
    "MAX_ELEMENTS",
    "NOT_CONCRETE",
    "SCALAR",
    "BoundedTensor",
    "BroadcastAxes",
    "Condition",
    "Element",
    "FloatInterval",
    "HandleType",
    "MapType",
    "OptionalAxes",
    "OptionalType",
    "PartialTensor",
    "Progression",
    "Quotient",
    "Relaxer",
    "SequenceType",
    "Shape",
    "ShapeStore",
    "TensorType",
    "Type",
    "broadcast",
    "broadcast_dim",
    "dims_in",
    "element_bits",
    "map_dims",
    "map_type",
    "merge_shape",
    "merge_type",
    "numpy_dtype",
    "quick_broadcast",
    "relax_type",
    "to_partial",
    "type_symbols",
]
