"""Shapes and types of values, and how they merge and relax."""

from shapeinf.lattice.bounded import BoundedTensor
from shapeinf.lattice.dtypes import element_bits
from shapeinf.lattice.joins import Relaxer, broadcast, broadcast_dim, merge_shape, quick_broadcast
from shapeinf.lattice.progressions import Progression
from shapeinf.lattice.shape import SCALAR, OptionalAxes, RankNotKnown, Shape
from shapeinf.lattice.shape_store import ShapeStore
from shapeinf.lattice.type_joins import merge_type, relax_type
from shapeinf.lattice.types import (
    MAX_ELEMENTS,
    Condition,
    Element,
    MapType,
    OptionalType,
    PartialTensor,
    Quotient,
    SequenceType,
    TensorType,
    Type,
    dims_in,
    numpy_dtype,
)

__all__ = [
    "MAX_ELEMENTS",
    "SCALAR",
    "BoundedTensor",
    "Condition",
    "Element",
    "MapType",
    "OptionalAxes",
    "OptionalType",
    "PartialTensor",
    "Progression",
    "Quotient",
    "RankNotKnown",
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
    "merge_shape",
    "merge_type",
    "numpy_dtype",
    "quick_broadcast",
    "relax_type",
]
