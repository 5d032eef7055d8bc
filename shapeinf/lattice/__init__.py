"""Shapes and types of values, and how they merge and relax."""

from shapeinf.lattice.broadcasting import broadcast, broadcast_dim, quick_broadcast
from shapeinf.lattice.dtypes import element_bits
from shapeinf.lattice.index_tuples import IndexTuples
from shapeinf.lattice.joins import relax_type
from shapeinf.lattice.mapping import drop_shape, map_dims, map_type, type_symbols
from shapeinf.lattice.merging import merge_shape, merge_type
from shapeinf.lattice.relaxer import Alternatives, Relaxer
from shapeinf.lattice.shape import SCALAR, OptionalAxes, Shape
from shapeinf.lattice.shape_store import ShapeStore
from shapeinf.lattice.size_policy import SizePolicy
from shapeinf.lattice.types import (
    MAX_ELEMENTS,
    MAX_TYPE_DEPTH,
    NOT_CONCRETE,
    BoundedTensor,
    BroadcastAxes,
    ChosenIndices,
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
    has_numpy_type,
    numpy_dtype,
    to_partial,
    type_text,
)

__all__ = [
    "MAX_ELEMENTS",
    "MAX_TYPE_DEPTH",
    "NOT_CONCRETE",
    "SCALAR",
    "Alternatives",
    "BoundedTensor",
    "BroadcastAxes",
    "ChosenIndices",
    "Condition",
    "Element",
    "FloatInterval",
    "HandleType",
    "IndexTuples",
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
    "SizePolicy",
    "TensorType",
    "Type",
    "broadcast",
    "broadcast_dim",
    "dims_in",
    "drop_shape",
    "element_bits",
    "has_numpy_type",
    "map_dims",
    "map_type",
    "merge_shape",
    "merge_type",
    "numpy_dtype",
    "quick_broadcast",
    "relax_type",
    "to_partial",
    "type_symbols",
    "type_text",
]
