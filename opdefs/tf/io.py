"""Files and readers: contents of files, checkpoints, records."""

from __future__ import annotations

import re

from opdefs.rules.requested import scalar_size
from opdefs.tf.common import require_scalars
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.handles import require_handle
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import Value

# -- files -----------------------------------------------------------------------------------------------------------


@tf("ReadFile")
def read_file(c: TensorFlowContext, filename: Shape) -> Shape:
    """[] -> []: the contents of a file."""
    return c.with_rank(filename, 0)


@tf("WriteFile")
def write_file(c: TensorFlowContext, filename: Shape, contents: Shape) -> tuple[Shape, ...]:
    """[], [] -> no outputs."""
    require_scalars(c, filename, contents)
    return ()


@tf("MatchingFiles")
def matching_files(c: TensorFlowContext, pattern: Shape) -> Shape:
    """[] or [N] -> [*]: the names of the files that match any of the patterns."""
    c.with_rank_at_most(pattern, 1)
    return c.vector(c.fresh("files"))


@tf("ShardedFilename")
def sharded_filename(c: TensorFlowContext, basename: Shape, shard: Shape, num_shards: Shape) -> Shape:
    """[], [], [] -> []."""
    require_scalars(c, basename, shard, num_shards)
    return c.scalar()


@tf("ShardedFilespec")
def sharded_filespec(c: TensorFlowContext, basename: Shape, num_shards: Shape) -> Shape:
    """[], [] -> []."""
    require_scalars(c, basename, num_shards)
    return c.scalar()


# -- checkpoints -----------------------------------------------------------------------------------------------------


def _require_names(c: TensorFlowContext, names: Shape, count: int) -> None:
    """Require a vector of `count` names."""
    c.with_value(c.with_rank(names, 1)[0], count)


@tf("Save")
def save(c: TensorFlowContext, filename: Shape, tensor_names: Shape, *data: Shape) -> tuple[Shape, ...]:
    """[], names [N], N tensors -> no outputs."""
    c.with_rank(filename, 0)
    _require_names(c, tensor_names, len(data))
    return ()


@tf("SaveSlices", "SaveV2")
def save_slices(
    c: TensorFlowContext, filename: Shape, tensor_names: Shape, shapes_and_slices: Shape, *data: Shape
) -> tuple[Shape, ...]:
    """[], names [N], slices [N], N tensors -> no outputs."""
    c.with_rank(filename, 0)
    _require_names(c, tensor_names, len(data))
    _require_names(c, shapes_and_slices, len(data))
    return ()


@tf("Restore")
def restore(c: TensorFlowContext, file_pattern: Shape, tensor_name: Shape) -> Shape:
    """[], [] -> a tensor of any shape: that of this name in the file."""
    require_scalars(c, file_pattern, tensor_name)
    raise c.unknowable("the shape of a restored tensor is in the checkpoint")


@tf("RestoreSlice")
def restore_slice(
    c: TensorFlowContext,
    file_pattern: Shape,
    tensor_name: Shape,
    shape_and_slice: Value,
) -> Shape:
    """[], [], [] -> the shape of the slice, if one is specified."""
    require_scalars(c, file_pattern, tensor_name, shape_and_slice.shape)
    shape = slice_shape(shape_and_slice.elements[0] if shape_and_slice.elements else None)
    if shape is None:
        raise c.unknowable("the shape of a restored tensor is in the checkpoint")
    return shape


@tf("RestoreV2")
def restore_v2(c: TensorFlowContext, prefix: Shape, tensor_names: Shape, shape_and_slices: Value) -> tuple[Shape, ...]:
    """[], names [N], slices [N] -> N tensors; those with a slice have its shape."""
    c.with_rank(prefix, 0)
    c.merge(c.with_rank(tensor_names, 1), c.with_rank(shape_and_slices.shape, 1))
    texts = shape_and_slices.elements or ()
    shapes = [slice_shape(text) for text in texts[: c.num_outputs]]
    known = [c.unknown_shape() if shape is None else shape for shape in shapes]
    return (*known, *(c.unknown_shape() for _ in range(c.num_outputs - len(known))))


_SPECIFICATION = re.compile(r"(?P<sizes>(?:\d{1,18} )+)(?P<slices>(?:-|\d+,\d{1,18})(?::(?:-|\d+,\d{1,18}))*)")


def slice_shape(text: object) -> Shape | None:
    """The shape of a slice such as `4 8 0,2:-`: the sizes of the full tensor, then `start,length` or `-` of each axis.

    None for an empty text, which is the entire tensor, and for malformed texts.
    """
    match = _SPECIFICATION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    sizes, slices = match["sizes"].split(), match["slices"].split(":")
    if len(sizes) != len(slices):
        return None
    return Shape(int(size if part == "-" else part.partition(",")[2]) for size, part in zip(sizes, slices, strict=True))


@tf("MergeV2Checkpoints")
def merge_checkpoints(
    c: TensorFlowContext,
    checkpoint_prefixes: Shape,
    destination_prefix: Shape,
) -> tuple[Shape, ...]:
    """[N], [] -> no outputs."""
    c.with_rank(checkpoint_prefixes, 1)
    c.with_rank(destination_prefix, 0)
    return ()


@tf("GenerateVocabRemapping")
def generate_vocab_remapping(
    c: TensorFlowContext,
    new_vocab_file: Shape,
    old_vocab_file: Shape,
    *,
    num_new_vocab: int,
) -> tuple[Shape, Shape]:
    """[], [] -> old positions [num_new_vocab], and their number []."""
    require_scalars(c, new_vocab_file, old_vocab_file)
    return Shape((num_new_vocab,)), c.scalar()


@tf("LoadAndRemapMatrix")
def load_and_remap_matrix(
    c: TensorFlowContext,
    ckpt_path: Shape,
    old_tensor_name: Shape,
    row_remapping: Shape,
    col_remapping: Shape,
    initializing_values: Shape,
    *,
    num_rows: int,
    num_cols: int,
) -> Shape:
    """[], [], [*], [*], [*] -> [num_rows, num_cols]."""
    c.with_rank(old_tensor_name, 0)
    return Shape((num_rows, num_cols))


# -- readers ---------------------------------------------------------------------------------------------------------


@tf("FixedLengthRecordReader", "IdentityReader", "LMDBReader", "TFRecordReader", "TextLineReader", "WholeFileReader")
def reader(c: TensorFlowContext) -> Shape:
    """[2]: the handle of a reader, two strings."""
    return c.vector(2)


@tf("ReaderRead", "ReaderReadV2")
def reader_read(c: TensorFlowContext, reader_handle: Shape, queue_handle: Shape) -> tuple[Shape, Shape]:
    """Two handles -> a key [] and a value []."""
    require_handle(c, reader_handle)
    require_handle(c, queue_handle)
    return c.scalar(), c.scalar()


@tf("ReaderReadUpTo", "ReaderReadUpToV2")
def reader_read_up_to(
    c: TensorFlowContext, reader_handle: Shape, queue_handle: Shape, num_records: Value
) -> tuple[Shape, Shape]:
    """Two handles, num_records [] -> keys [n] and values [n], for n of at most `num_records`."""
    require_handle(c, reader_handle)
    require_handle(c, queue_handle)
    c.with_rank(num_records.shape, 0)
    count = _record_count(c, num_records)
    return count, count


def _record_count(c: TensorFlowContext, limit: PartialTensor) -> Shape:
    """A vector of at most `limit` records."""
    most = scalar_size(c, limit)
    return c.vector(c.fresh("records") if most is None else c.fresh_at_most(most, "records"))


@tf(
    *("ReaderNumRecordsProduced", "ReaderNumRecordsProducedV2"),
    *("ReaderNumWorkUnitsCompleted", "ReaderNumWorkUnitsCompletedV2"),
    *("ReaderSerializeState", "ReaderSerializeStateV2"),
)
def reader_state(c: TensorFlowContext, reader_handle: Shape) -> Shape:
    """A handle -> []."""
    require_handle(c, reader_handle)
    return c.scalar()


@tf("ReaderReset", "ReaderResetV2")
def reader_reset(c: TensorFlowContext, reader_handle: Shape) -> tuple[Shape, ...]:
    """A handle -> no outputs."""
    require_handle(c, reader_handle)
    return ()


@tf("ReaderRestoreState", "ReaderRestoreStateV2")
def reader_restore_state(c: TensorFlowContext, reader_handle: Shape, state: Shape) -> tuple[Shape, ...]:
    """A handle, [] -> no outputs."""
    require_handle(c, reader_handle)
    c.with_rank(state, 0)
    return ()
