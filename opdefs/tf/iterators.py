"""Iterators over datasets: resources with the types of the components of an element."""

from __future__ import annotations

from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.handles import Dtypes, Shapes, declared_values, read_value, refine_values, values_behind
from opdefs.tf.stored_values import stored_values
from shapeinf.lattice import SCALAR, HandleType, Shape, TensorType


def _iterator(c: TensorFlowContext, dtypes: Dtypes, shapes: Shapes) -> HandleType:
    """The handle of an iterator over elements of these types."""
    return HandleType("resource", SCALAR, declared_values(c, dtypes, shapes))


@tf(
    "AnonymousIterator",
    "AnonymousIteratorV3",
    "AnonymousMultiDeviceIteratorV3",
    "Iterator",
    "IteratorV2",
    "MultiDeviceIterator",
    "OneShotIterator",
)
def iterator(c: TensorFlowContext, *, output_types: Dtypes, output_shapes: Shapes) -> HandleType:
    """[]: the handle of an iterator."""
    return _iterator(c, output_types, output_shapes)


@tf("AnonymousIteratorV2", "AnonymousMultiDeviceIterator")
def iterator_with_deleter(
    c: TensorFlowContext, *, output_types: Dtypes, output_shapes: Shapes
) -> tuple[HandleType, Shape]:
    """[], []: the handle of an iterator and its deleter."""
    return _iterator(c, output_types, output_shapes), SCALAR


@tf("IteratorFromStringHandle", "IteratorFromStringHandleV2", "MultiDeviceIteratorFromStringHandle")
def iterator_from_string(
    c: TensorFlowContext, string_handle: Shape, *, output_types: Dtypes = (), output_shapes: Shapes = ()
) -> HandleType:
    """[] -> []: the handle of an iterator; without declared types, its elements are unknown."""
    if not output_types:
        return HandleType("resource", SCALAR, None)
    return _iterator(c, output_types, output_shapes)


@tf("MakeIterator")
def make_iterator(c: TensorFlowContext, dataset: Shape, iterator: Shape) -> None:
    """No outputs."""


@tf("DeserializeIterator")
def deserialize_iterator(c: TensorFlowContext, resource_handle: Shape, serialized: Shape) -> None:
    """No outputs."""


@tf("SerializeIterator")
def serialize_iterator(c: TensorFlowContext, resource_handle: Shape) -> Shape:
    """[] -> a tensor of unknown rank."""
    return c.unknown_shape()


@tf("DeleteIterator", "DeleteMemoryCache", "DeleteRandomSeedGenerator", "DeleteSeedGenerator")
def delete(c: TensorFlowContext, handle: Shape, deleter: Shape) -> None:
    """No outputs."""


@tf("DeleteMultiDeviceIterator")
def delete_iterators(c: TensorFlowContext, multi_device_iterator: Shape, *iterators: Shape) -> None:
    """No outputs."""


def next_values(
    c: TensorFlowContext, iterator: TensorType, datasets: tuple[TensorType, ...], dtypes: Dtypes, shapes: Shapes
) -> tuple[TensorType, ...]:
    """The types of the components of an element, as declared and as in the datasets of the iterator."""
    values = refine_values(c, declared_values(c, dtypes, shapes), values_behind(iterator))
    joined = stored_values(c, datasets, 1)
    return values if joined is None else refine_values(c, values, values_behind(joined[0]))


@tf("MultiDeviceIteratorGetNextFromShard")
def get_next_from_shard(
    c: TensorFlowContext,
    multi_device_iterator: TensorType,
    shard_num: Shape,
    incarnation_id: Shape,
    *,
    output_types: Dtypes,
    output_shapes: Shapes,
) -> tuple[TensorType, ...]:
    """The components of the next element."""
    return get_next(c, multi_device_iterator, output_types=output_types, output_shapes=output_shapes)


@tf("IteratorGetNext", "IteratorGetNextSync")
def get_next(
    c: TensorFlowContext, iterator: TensorType, *datasets: TensorType, output_types: Dtypes, output_shapes: Shapes
) -> tuple[TensorType, ...]:
    """The components of the next element."""
    values = next_values(c, iterator, datasets, output_types, output_shapes)
    return tuple(read_value(c, value) for value in values)


@tf("IteratorGetNextAsOptional")
def get_next_as_optional(
    c: TensorFlowContext, iterator: TensorType, *datasets: TensorType, output_types: Dtypes, output_shapes: Shapes
) -> HandleType:
    """The next element as an optional."""
    return HandleType("variant", SCALAR, next_values(c, iterator, datasets, output_types, output_shapes))


@tf(
    "ExperimentalIteratorGetDevice",
    "IteratorGetDevice",
    "IteratorGetModelProto",
    "IteratorToStringHandle",
    "MultiDeviceIteratorToStringHandle",
)
def property_of_an_iterator(c: TensorFlowContext, resource: Shape) -> Shape:
    """[] -> []."""
    return SCALAR


@tf("MultiDeviceIteratorInit")
def init_iterators(c: TensorFlowContext, dataset: Shape, multi_device_iterator: Shape, max_buffer_size: Shape) -> Shape:
    """[], [], [] -> []."""
    return SCALAR


# -- what datasets share -----------------------------------------------------------------------------------------------


@tf("AnonymousMemoryCache")
def memory_cache(c: TensorFlowContext) -> tuple[Shape, Shape]:
    """[], []: a handle and its deleter."""
    return SCALAR, SCALAR


@tf("AnonymousRandomSeedGenerator")
def random_seed_generator(c: TensorFlowContext, seed: Shape, seed2: Shape) -> tuple[Shape, Shape]:
    """[], [] -> [], []: a handle and its deleter."""
    return SCALAR, SCALAR


@tf("AnonymousSeedGenerator")
def seed_generator(c: TensorFlowContext, seed: Shape, seed2: Shape, reshuffle: Shape) -> tuple[Shape, Shape]:
    """[], [], [] -> [], []: a handle and its deleter."""
    return SCALAR, SCALAR


@tf(
    "DummyIterationCounter",
    "DummyMemoryCache",
    "DummySeedGenerator",
    "ExperimentalStatsAggregatorHandle",
    "ExperimentalThreadPoolHandle",
    "StatsAggregatorHandle",
    "StatsAggregatorHandleV2",
    "ThreadPoolHandle",
)
def handle(c: TensorFlowContext) -> HandleType:
    """[]: a handle."""
    return HandleType("resource", SCALAR, None)


@tf("StatsAggregatorSummary", "ExperimentalStatsAggregatorSummary")
def summary(c: TensorFlowContext, iterator: Shape) -> Shape:
    """[] -> []."""
    return SCALAR


@tf("StatsAggregatorSetSummaryWriter")
def set_summary_writer(c: TensorFlowContext, stats_aggregator: Shape, summary: Shape) -> None:
    """No outputs."""
