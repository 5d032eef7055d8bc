"""Datasets and optionals: variants with the types of the components of an element.

A dataset declares these in `output_types` and `output_shapes`; the types of its inputs refine them.
"""

from __future__ import annotations

from opdefs.rules.contents.elements import known_dims
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.handles import (
    Dtypes,
    Shapes,
    Values,
    declared_values,
    read_value,
    refine_values,
    values_behind,
    without_elements,
)
from opdefs.tf.tensor_list import tail_of
from shapeinf.expr import DimSize
from shapeinf.lattice import SCALAR, HandleType, PartialTensor, Shape, TensorType
from shapeinf.ops import Value


def create_dataset(values: Values) -> HandleType:
    """The handle of a dataset, an optional or another holder of components of these types."""
    return HandleType("variant", SCALAR, values)


def _dataset(c: TensorFlowContext, dtypes: Dtypes, shapes: Shapes, known: Values = None) -> HandleType:
    """The handle of a dataset whose declared types are refined by known ones."""
    return create_dataset(refine_values(c, declared_values(c, dtypes, shapes), known))


@tf(
    "CSVDataset",
    "CSVDatasetV2",
    "ChooseFastestBranchDataset",
    "DataServiceDataset",
    "DataServiceDatasetV2",
    "DataServiceDatasetV3",
    "DataServiceDatasetV4",
    "DenseToSparseBatchDataset",
    "ExperimentalCSVDataset",
    "ExperimentalDenseToSparseBatchDataset",
    "ExperimentalGroupByReducerDataset",
    "ExperimentalGroupByWindowDataset",
    "ExperimentalLMDBDataset",
    "ExperimentalMapAndBatchDataset",
    "ExperimentalMapDataset",
    "ExperimentalParallelInterleaveDataset",
    "ExperimentalParseExampleDataset",
    "ExperimentalRandomDataset",
    "ExperimentalRebatchDataset",
    "ExperimentalScanDataset",
    "ExperimentalSlidingWindowDataset",
    "ExperimentalSqlDataset",
    "ExperimentalUnbatchDataset",
    "FlatMapDataset",
    "GeneratorDataset",
    "GroupByReducerDataset",
    "GroupByWindowDataset",
    "IndexFlatMapDataset",
    "InterleaveDataset",
    "LMDBDataset",
    "LegacyParallelInterleaveDatasetV2",
    "ListDataset",
    "ListSnapshotChunksDataset",
    "LoadDataset",
    "MapAndBatchDataset",
    "MapDataset",
    "ParallelInterleaveDataset",
    "ParallelInterleaveDatasetV2",
    "ParallelInterleaveDatasetV3",
    "ParallelInterleaveDatasetV4",
    "ParallelMapDataset",
    "ParallelMapDatasetV2",
    "ParseExampleDataset",
    "ParseExampleDatasetV2",
    "RandomDataset",
    "RandomDatasetV2",
    "RangeDataset",
    "RebatchDataset",
    "RebatchDatasetV2",
    "ScanDataset",
    "SlidingWindowDataset",
    "SnapshotChunkDataset",
    "SnapshotDatasetReader",
    "SnapshotNestedDatasetReader",
    "SqlDataset",
    "UnbatchDataset",
    "WeightedFlatMapDataset",
    "WindowDataset",
    "WindowOp",
)
def declared_dataset(
    c: TensorFlowContext, *inputs: TensorType, output_types: Dtypes, output_shapes: Shapes
) -> HandleType:
    """A dataset with elements of the declared types."""
    return _dataset(c, output_types, output_shapes)


@tf("PaddedBatchDataset", "PaddedBatchDatasetV2")
def padded_batch_dataset(c: TensorFlowContext, *inputs: Shape, output_shapes: Shapes) -> HandleType:
    """A dataset of stacked elements, padded to the declared shapes."""
    return _dataset(c, c.attr("Toutput_types"), output_shapes)


@tf(
    "AssertCardinalityDataset",
    "AssertNextDataset",
    "AssertPrevDataset",
    "AutoShardDataset",
    "BytesProducedStatsDataset",
    "CacheDataset",
    "CacheDatasetV2",
    "ExperimentalAssertNextDataset",
    "ExperimentalAutoShardDataset",
    "ExperimentalBytesProducedStatsDataset",
    "ExperimentalIgnoreErrorsDataset",
    "ExperimentalLatencyStatsDataset",
    "ExperimentalMaxIntraOpParallelismDataset",
    "ExperimentalNonSerializableDataset",
    "ExperimentalPrivateThreadPoolDataset",
    "ExperimentalSetStatsAggregatorDataset",
    "ExperimentalSleepDataset",
    "ExperimentalTakeWhileDataset",
    "ExperimentalThreadPoolDataset",
    "ExperimentalUniqueDataset",
    "FilterDataset",
    "FinalizeDataset",
    "GlobalShuffleDataset",
    "IgnoreErrorsDataset",
    "LatencyStatsDataset",
    "MaxIntraOpParallelismDataset",
    "ModelDataset",
    "NonSerializableDataset",
    "OptimizeDataset",
    "OptimizeDatasetV2",
    "OptionsDataset",
    "ParallelFilterDataset",
    "PrefetchDataset",
    "PrivateThreadPoolDataset",
    "RepeatDataset",
    "SamplingDataset",
    "SaveDatasetV2",
    "SetStatsAggregatorDataset",
    "ShardDataset",
    "ShuffleAndRepeatDataset",
    "ShuffleAndRepeatDatasetV2",
    "ShuffleDataset",
    "ShuffleDatasetV2",
    "ShuffleDatasetV3",
    "SkipDataset",
    "SleepDataset",
    "SnapshotDataset",
    "SnapshotDatasetV2",
    "TakeDataset",
    "TakeWhileDataset",
    "ThreadPoolDataset",
    "UniqueDataset",
)
def same_elements(
    c: TensorFlowContext, input_dataset: TensorType, *others: Shape, output_types: Dtypes, output_shapes: Shapes
) -> HandleType:
    """A dataset with elements of its first input."""
    return _dataset(c, output_types, output_shapes, values_behind(input_dataset))


@tf(
    "ChooseFastestDataset",
    "ConcatenateDataset",
    "DirectedInterleaveDataset",
    "ExperimentalChooseFastestDataset",
    "ExperimentalDirectedInterleaveDataset",
    "FilterByLastComponentDataset",
    "RewriteDataset",
)
def elements_of_any(
    c: TensorFlowContext, *inputs: TensorType, output_types: Dtypes, output_shapes: Shapes
) -> HandleType:
    """A dataset with elements of several inputs, or of parts of them: of the declared types."""
    return _dataset(c, output_types, output_shapes)


@tf("TensorDataset")
def tensor_dataset(c: TensorFlowContext, *components: TensorType, output_shapes: Shapes) -> HandleType:
    """A dataset of one element."""
    return _dataset(c, c.attr("Toutput_types"), output_shapes, tuple(map(without_elements, components)))


@tf("TensorSliceDataset")
def tensor_slice_dataset(c: TensorFlowContext, *components: TensorType, output_shapes: Shapes) -> HandleType:
    """A dataset of the rows of its inputs, which have equally many."""
    rows = [c.dim(c.with_rank_at_least(component.shape, 1), 0) for component in components]
    for other in rows[1:]:
        c.merge(rows[0], other, "All components must have the same size in the 0th dimension")
    return _dataset(c, c.attr("Toutput_types"), output_shapes, tuple(tail_of(c, component) for component in components))


@tf("ZipDataset")
def zip_dataset(
    c: TensorFlowContext, *input_datasets: TensorType, output_types: Dtypes, output_shapes: Shapes
) -> HandleType:
    """A dataset of the components of all inputs."""
    parts = [values_behind(dataset) for dataset in input_datasets]
    known = None if None in parts else tuple(value for part in parts for value in part or ())
    return _dataset(c, output_types, output_shapes, known)


@tf("BatchDatasetV2")
def batch_dataset(
    c: TensorFlowContext,
    input_dataset: TensorType,
    batch_size: Value,
    drop_remainder: Value,
    *,
    output_types: Dtypes,
    output_shapes: Shapes,
) -> HandleType:
    """A dataset of [batch_size, *S]: stacked elements, the last of which may be shorter unless it is dropped."""
    drops = drop_remainder.elements == (True,)
    return _batches(c, input_dataset, batch_size, output_types, output_shapes, exact=drops)


@tf("BatchDataset")
def old_batch_dataset(
    c: TensorFlowContext, input_dataset: TensorType, batch_size: Value, *, output_types: Dtypes, output_shapes: Shapes
) -> HandleType:
    """As BatchDatasetV2; the last element may be shorter."""
    return _batches(c, input_dataset, batch_size, output_types, output_shapes)


@tf("ParallelBatchDataset")
def parallel_batch_dataset(
    c: TensorFlowContext,
    input_dataset: TensorType,
    batch_size: Value,
    num_parallel_calls: Shape,
    drop_remainder: Value,
    *,
    output_types: Dtypes,
    output_shapes: Shapes,
) -> HandleType:
    """As BatchDatasetV2."""
    drops = drop_remainder.elements == (True,)
    return _batches(c, input_dataset, batch_size, output_types, output_shapes, exact=drops)


def _batches(
    c: TensorFlowContext,
    dataset: TensorType,
    batch_size: PartialTensor,
    dtypes: Dtypes,
    shapes: Shapes,
    *,
    exact: bool = False,
) -> HandleType:
    """A dataset of stacked elements: of `batch_size`, if `exact`, else of at most that."""
    values = values_behind(dataset)
    size = (known_dims(batch_size) or (None,))[0]
    if values is None or size is None or c.prove_le(1, size) is not True:
        return _dataset(c, dtypes, shapes)
    count: DimSize = size if exact else c.fresh_at_most(size, "batch", 1)
    known = tuple(TensorType(value.dtype, c.concatenate(Shape((count,)), value.shape)) for value in values)
    return _dataset(c, dtypes, shapes, known)


@tf(
    "FixedLengthRecordDataset",
    "FixedLengthRecordDatasetV2",
    "TFRecordDataset",
    "TFRecordDatasetV2",
    "TextLineDataset",
    "MatchingFilesDataset",
    "ExperimentalMatchingFilesDataset",
)
def text_dataset(c: TensorFlowContext, *inputs: Shape) -> HandleType:
    """A dataset of strings []."""
    return create_dataset((TensorType("string", SCALAR),))


@tf("SparseTensorSliceDataset")
def sparse_tensor_slice_dataset(c: TensorFlowContext, indices: Shape, values: Shape, dense_shape: Shape) -> HandleType:
    """A sparse [N, *S] -> a dataset of the indices, values and dense shape of each row."""
    rank = c.subtract(c.dim(c.with_rank(dense_shape, 1), 0), 1)
    count = c.fresh_at_most(c.dim(c.with_rank(values, 1), 0), "count")
    entries = TensorType("int64", Shape((count, rank))), TensorType(c.attr("Tvalues"), Shape((count,)))
    return create_dataset((*entries, TensorType("int64", Shape((rank,)))))


@tf("DatasetFromGraph")
def dataset_from_graph(c: TensorFlowContext, graph_def: Shape) -> HandleType:
    """A dataset of elements of unknown types."""
    return create_dataset(None)


@tf("WrapDatasetVariant", "UnwrapDatasetVariant")
def wrapped_dataset(c: TensorFlowContext, input_handle: TensorType) -> TensorType:
    """The same dataset."""
    return input_handle


# -- from datasets -----------------------------------------------------------------------------------------------------


@tf("ReduceDataset")
def reduce_dataset(
    c: TensorFlowContext, input_dataset: Shape, *others: Shape, output_types: Dtypes, output_shapes: Shapes
) -> tuple[TensorType, ...]:
    """The last state, of the declared types."""
    return declared_values(c, output_types, output_shapes)


@tf("DatasetToSingleElement", "GetElementAtIndex", "OptionalGetValue", "UncompressElement")
def element(
    c: TensorFlowContext, holder: TensorType, *others: Shape, output_types: Dtypes, output_shapes: Shapes
) -> tuple[TensorType, ...]:
    """The components of an element."""
    values = refine_values(c, declared_values(c, output_types, output_shapes), values_behind(holder))
    return tuple(read_value(c, value) for value in values)


@tf("DatasetCardinality", "ExperimentalDatasetCardinality", "DatasetFingerprint", "DatasetToGraph", "DatasetToGraphV2")
def property_of_a_dataset(c: TensorFlowContext, input_dataset: Shape) -> Shape:
    """[] -> []: the property."""
    return SCALAR


@tf("RegisterDataset", "RegisterDatasetV2")
def register_dataset(c: TensorFlowContext, dataset: Shape, address: Shape, protocol: Shape) -> Shape:
    """[]: the id of the dataset."""
    return SCALAR


@tf("DatasetToTFRecord", "ExperimentalDatasetToTFRecord")
def write_dataset(c: TensorFlowContext, input_dataset: Shape, filename: Shape, compression_type: Shape) -> None:
    """No outputs."""


@tf("SaveDataset")
def save_dataset(c: TensorFlowContext, input_dataset: Shape, path: Shape, *others: Shape) -> None:
    """No outputs."""


# -- optionals ---------------------------------------------------------------------------------------------------------


@tf("OptionalFromValue", "CompressElement")
def optional_from_value(c: TensorFlowContext, *components: TensorType) -> HandleType:
    """A holder of these components."""
    return create_dataset(tuple(map(without_elements, components)))


@tf("OptionalNone")
def optional_none(c: TensorFlowContext) -> HandleType:
    """A holder of nothing."""
    return create_dataset(())


@tf("OptionalHasValue")
def optional_has_value(c: TensorFlowContext, optional: Shape) -> Shape:
    """[] -> []: a bool."""
    return SCALAR
