"""Arrays in memory: layouts, tiles, padding, their text form, sizes, element indices, and bitcasts."""

from shapeinf.errors import LayoutError
from shapeinf.layout.alignment import align_layouts, dims_unmodified_by_reshape
from shapeinf.layout.array_type import OPAQUE, TOKEN, ArrayType, OpaqueType, PhysicalType, TupleType
from shapeinf.layout.bitcast import deduce_transpose, reshape_is_bitcast, transpose_is_bitcast
from shapeinf.layout.comparing import compatible, equal, layouts_equal, same_dims
from shapeinf.layout.counting import has_degenerate_dims, is_effective_scalar, is_empty, true_rank
from shapeinf.layout.edits import (
    delete_dim,
    descending,
    drop_degenerate_dims,
    insert_dim,
    move_dim_to_major,
    permute_dims,
)
from shapeinf.layout.element_types import ELEMENT_TYPES, ElementType, element_type
from shapeinf.layout.indexing import indices, linear_index, multi_index, next_index
from shapeinf.layout.layout import Layout, Split
from shapeinf.layout.placing import PaddedLayout, lay_out, linear_indices, take_out
from shapeinf.layout.sizes import (
    byte_size,
    byte_strides,
    data_byte_size,
    physical_byte_size,
    physical_elements,
    stored_bits,
    strides,
)
from shapeinf.layout.text import parse_layout, parse_type

__all__ = [
    "ELEMENT_TYPES",
    "OPAQUE",
    "TOKEN",
    "ArrayType",
    "ElementType",
    "Layout",
    "LayoutError",
    "OpaqueType",
    "PaddedLayout",
    "PhysicalType",
    "Split",
    "TupleType",
    "align_layouts",
    "byte_size",
    "byte_strides",
    "compatible",
    "data_byte_size",
    "deduce_transpose",
    "delete_dim",
    "descending",
    "dims_unmodified_by_reshape",
    "drop_degenerate_dims",
    "element_type",
    "equal",
    "has_degenerate_dims",
    "indices",
    "insert_dim",
    "is_effective_scalar",
    "is_empty",
    "lay_out",
    "layouts_equal",
    "linear_index",
    "linear_indices",
    "move_dim_to_major",
    "multi_index",
    "next_index",
    "parse_layout",
    "parse_type",
    "permute_dims",
    "physical_byte_size",
    "physical_elements",
    "reshape_is_bitcast",
    "same_dims",
    "stored_bits",
    "strides",
    "take_out",
    "transpose_is_bitcast",
    "true_rank",
]
