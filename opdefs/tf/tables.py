"""Lookup tables: handles with the types of a key and of a value."""

from __future__ import annotations

from opdefs.tf.common import require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.handles import create_handle, declared_shape, require_handle, values_behind
from shapeinf.graph import DeclaredType
from shapeinf.lattice import SCALAR, HandleType, Shape, TensorType

SCALARS = DeclaredType(dims=())
"""The shape of a value by default."""


@tf(
    "HashTable",
    "HashTableV2",
    "AnonymousHashTable",
    "MutableHashTable",
    "MutableHashTableV2",
    "AnonymousMutableHashTable",
)
def table(c: TensorFlowContext, *, key_dtype: str, value_dtype: str) -> HandleType:
    """The handle of a table of scalars."""
    return create_handle(c, (TensorType(key_dtype, SCALAR), TensorType(value_dtype, SCALAR)))


@tf("MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "AnonymousMutableHashTableOfTensors")
def table_of_tensors(
    c: TensorFlowContext, *, key_dtype: str, value_dtype: str, value_shape: DeclaredType = SCALARS
) -> HandleType:
    """The handle of a table of scalar keys and values of one shape."""
    value = TensorType(value_dtype, declared_shape(c, value_shape))
    return create_handle(c, (TensorType(key_dtype, SCALAR), value))


@tf("MutableDenseHashTable")
def old_dense_table(
    c: TensorFlowContext, empty_key: Shape, *, key_dtype: str, value_dtype: str, value_shape: DeclaredType = SCALARS
) -> HandleType:
    """The handle of a table whose keys have the shape of the empty key, and whose values have one shape."""
    value = TensorType(value_dtype, declared_shape(c, value_shape))
    return create_handle(c, (TensorType(key_dtype, empty_key), value))


@tf("MutableDenseHashTableV2", "AnonymousMutableDenseHashTable")
def dense_table(
    c: TensorFlowContext,
    empty_key: Shape,
    deleted_key: Shape,
    *,
    key_dtype: str,
    value_dtype: str,
    value_shape: DeclaredType = SCALARS,
) -> HandleType:
    """The handle of a table whose keys have the shape of the empty key, and whose values have one shape."""
    key = c.merge(empty_key, deleted_key)
    return old_dense_table(c, key, key_dtype=key_dtype, value_dtype=value_dtype, value_shape=value_shape)


def entry(c: TensorFlowContext, handle: TensorType, key: str, value: str) -> tuple[Shape, Shape] | None:
    """The shapes of a key and of a value, None if unknown. Raises ShapeError if the attributes have other dtypes."""
    values = values_behind(handle)
    if values is None or len(values) != 2:
        return None
    for stored, name in zip(values, (key, value), strict=True):
        dtype = c.attr(name)
        if stored.dtype is not None and stored.dtype != dtype:
            c.fail(f"Trying to read value with wrong dtype. Expected {stored.dtype} got {dtype}")
    return values[0].shape, values[1].shape


@tf("LookupTableFind", "LookupTableFindV2")
def find(c: TensorFlowContext, table_handle: TensorType, keys: Shape, default_value: Shape) -> Shape:
    """A handle, keys [*B, *K], default -> values [*B, *V]."""
    require_handle(c, table_handle.shape)
    if c.op_def.inputs[0].type != "resource":
        c.with_rank_at_most(default_value, 1)
    shapes = entry(c, table_handle, "Tin", "Tout")
    if shapes is None:
        raise c.unknowable("the shape of the values of the table is unknown")
    return c.concatenate(_batch(c, shapes[0], keys), shapes[1])


def _batch(c: TensorFlowContext, key: Shape, keys: Shape) -> Shape:
    """[*B, *K] -> [*B], for keys [*K]."""
    key, keys = c.store.canon_shape(key), c.store.canon_shape(keys)
    if key.dims is None or keys.dims is None:
        return keys if key.dims == () else c.unknown_shape()
    count = len(keys.dims) - len(key.dims)
    if count < 0:
        c.fail(f"Expected keys to have suffix {key} but saw shape: {keys}")
    c.merge(Shape(keys.dims[count:]), key)
    return Shape(keys.dims[:count])


@tf("LookupTableInsert", "LookupTableInsertV2", "LookupTableImport", "LookupTableImportV2")
def insert(c: TensorFlowContext, table_handle: TensorType, keys: Shape, values: Shape) -> None:
    """A handle, keys [*B, *K], values [*B, *V] -> no outputs."""
    require_handle(c, table_handle.shape)
    shapes = entry(c, table_handle, "Tin", "Tout")
    if shapes is not None:
        c.merge(c.concatenate(_batch(c, shapes[0], keys), shapes[1]), values)


@tf("LookupTableRemoveV2")
def remove(c: TensorFlowContext, table_handle: Shape, keys: Shape) -> None:
    """A handle, keys -> no outputs."""
    require_handle(c, table_handle)


@tf("LookupTableExport", "LookupTableExportV2")
def export(c: TensorFlowContext, table_handle: TensorType) -> tuple[Shape, Shape]:
    """A handle -> keys [n, *K], values [n, *V]; of an unknown table of an old version, keys [n], as in TensorFlow."""
    require_handle(c, table_handle.shape)
    shapes = entry(c, table_handle, "Tkeys", "Tvalues")
    lead = Shape((c.fresh("entries"),))
    if shapes is None:
        is_old = c.op_def.inputs[0].type != "resource"
        return (lead if is_old else c.unknown_shape()), c.unknown_shape()
    return c.concatenate(lead, shapes[0]), c.concatenate(lead, shapes[1])


@tf("LookupTableSize", "LookupTableSizeV2")
def size(c: TensorFlowContext, table_handle: Shape) -> Shape:
    """A handle -> []."""
    require_handle(c, table_handle)
    return SCALAR


@tf("InitializeTable", "InitializeTableV2")
def initialize(c: TensorFlowContext, table_handle: Shape, keys: Shape, values: Shape) -> None:
    """A handle, keys [N], values [N] -> no outputs."""
    require_handle(c, table_handle)
    c.merge(c.with_rank(keys, 1), c.with_rank(values, 1))


@tf("InitializeTableFromTextFile", "InitializeTableFromTextFileV2")
def initialize_from_file(c: TensorFlowContext, table_handle: Shape, filename: Shape) -> None:
    """A handle, [] -> no outputs."""
    require_handle(c, table_handle)
    c.with_rank(filename, 0)


@tf("InitializeTableFromDataset")
def initialize_from_dataset(c: TensorFlowContext, table_handle: Shape, dataset: Shape) -> None:
    """A handle, [] -> no outputs."""
    require_scalars(c, table_handle, dataset)
