"""Serialized examples, records and tensors.

The outputs of examples are, feature by feature within each kind: sparse tensors (all indices, all values, all shapes),
dense tensors, and ragged tensors (all values, then the row splits of each ragged axis).
"""

from __future__ import annotations

from collections.abc import Sequence

from opdefs.rules.requested import scalar_size
from opdefs.tf.context import TensorFlowContext
from opdefs.tf.dialect import tf
from opdefs.tf.sparse_operands import SparseShapes, sparse_output
from shapeinf.expr import DimSize
from shapeinf.graph import DeclaredType
from shapeinf.lattice import PartialTensor, Shape, element_bits
from shapeinf.ops import Value

Outputs = list[Shape | PartialTensor]
Types = tuple[str, ...]
Shapes = tuple[DeclaredType, ...]

# -- features of examples --------------------------------------------------------------------------------------------


def _sparse_features(c: TensorFlowContext, kind: str, count: int, batch: Shape, further: int) -> Outputs:
    """Sparse tensors [*batch, *further]: axes of the batch, and `further` axes whose sizes are in the data."""
    features: list[SparseShapes] = []
    for i in range(count):
        number = c.fresh(f"{kind}.{i}")
        if batch.dims is None:
            features.append(sparse_output(c, number, c.fresh(f"{kind}.{i}.rank", further)))
        else:
            sizes = [*batch.dims, *(None for _ in range(further))]
            features.append(sparse_output(c, number, len(sizes), sizes))
    return [feature[part] for part in range(3) for feature in features]


def _dense_features(c: TensorFlowContext, shapes: Shapes, batch: Shape) -> Outputs:
    """Dense tensors [*batch, *shape] of these shapes."""
    return [c.concatenate(batch, c.make_shape_from_shape_proto(_proto_sizes(shape))) for shape in shapes]


def _ragged_features(c: TensorFlowContext, kind: str, count: int, outer: Shape, *, inner: bool = False) -> Outputs:
    """Values, the row splits `outer` of the examples, and with `inner` those of the rows of each."""
    values: Outputs = [c.vector(c.fresh(f"{kind}.{i}")) for i in range(count)]
    further: Outputs = [c.vector(c.fresh(f"{kind}.{i}.rows", 1)) for i in range(count if inner else 0)]
    return [*values, *(outer for _ in range(count)), *further]


def _proto_sizes(shape: DeclaredType) -> list[int] | None:
    """The sizes, -1 for unknown ones; None for an unknown rank."""
    return None if shape.dims is None else [d if isinstance(d, int) else -1 for d in shape.dims]


def _padded_shapes(c: TensorFlowContext, shapes: Shapes) -> Shapes:
    """The shapes. Raises ShapeError if any but the first size, that of the longest of the batch, is unknown."""
    for i, shape in enumerate(shapes):
        sizes = _proto_sizes(shape)
        if sizes is None or -1 in sizes[1:]:
            text = "?" if sizes is None else "[" + ",".join("?" if d < 0 else str(d) for d in sizes) + "]"
            c.fail(f"dense_shapes[{i}] has unknown rank or unknown inner dimensions: {text}")
    return shapes


def _check_outputs(c: TensorFlowContext, outputs: Outputs) -> tuple[Shape | PartialTensor, ...]:
    """The outputs. Raises ShapeError if the node has another number of them."""
    if len(outputs) != c.num_outputs:
        c.fail(f"the attributes describe {len(outputs)} outputs, but the node has {c.num_outputs}")
    return tuple(outputs)


def _equal_counts(c: TensorFlowContext, names: str, counts: dict[str, int]) -> None:
    """Raise ShapeError unless all counts are equal: one type and one shape for each key."""
    (first, count), *others = counts.items()
    for other, number in others:
        if number != count:
            c.fail(f"len({names}{first}) != len({names}{other})", count, number)


# -- examples --------------------------------------------------------------------------------------------------------


@tf("ParseExample")
def parse_example(
    c: TensorFlowContext, serialized: Shape, names: Shape, *_rest: Shape, sparse_types: Types, dense_shapes: Shapes
) -> tuple[Shape | PartialTensor, ...]:
    """[B], [*] -> sparse features [B, *] and dense features [B, *S]."""
    batch = c.with_rank(serialized, 1)
    c.with_rank(names, 1)
    dense = len(c.attr("Tdense"))
    _equal_counts(c, "", {"dense_keys": dense, "dense_shapes": len(dense_shapes)})
    _equal_counts(c, "", {"sparse_keys": c.attr("Nsparse"), "sparse_types": len(sparse_types)})
    shapes = _padded_shapes(c, dense_shapes)
    return _check_outputs(
        c, [*_sparse_features(c, "sparse", len(sparse_types), batch, 1), *_dense_features(c, shapes, batch)]
    )


@tf("ParseExampleV2")
def parse_example_v2(
    c: TensorFlowContext,
    serialized: Shape,
    names: Shape,
    sparse_keys: Shape,
    dense_keys: Shape,
    ragged_keys: Shape,
    *_defaults: Shape,
    num_sparse: int,
    sparse_types: Types,
    ragged_value_types: Types,
    ragged_split_types: Types,
    dense_shapes: Shapes,
) -> tuple[Shape | PartialTensor, ...]:
    """[B] or [] -> sparse features [B, *], dense features [B, *S], ragged features of B rows."""
    batch = c.with_rank_at_most(serialized, 1)
    c.with_rank_at_most(names, 1)
    dense, ragged = len(c.attr("Tdense")), len(ragged_value_types)
    _equal_counts(c, "", {"dense_keys": dense, "dense_shapes": len(dense_shapes)})
    _equal_counts(c, "", {"sparse_keys": num_sparse, "sparse_types": len(sparse_types)})
    _equal_counts(c, "", {"ragged_value_types": ragged, "ragged_split_types": len(ragged_split_types)})
    for keys, count in ((sparse_keys, num_sparse), (dense_keys, dense), (ragged_keys, ragged)):
        c.merge(c.with_rank(keys, 1)[0], count)
    outputs = [
        *_sparse_features(c, "sparse", len(sparse_types), batch, 1),
        *_dense_features(c, _padded_shapes(c, dense_shapes), batch),
        *_ragged_features(c, "ragged", ragged, _row_splits(c, batch)),
    ]
    return _check_outputs(c, outputs)


def _row_splits(c: TensorFlowContext, batch: Shape) -> Shape:
    """The row splits [B + 1] of B examples; [0] for a single example."""
    if batch.dims is None:
        return c.vector(c.fresh("splits"))
    return c.vector(c.add(batch[0], 1) if len(batch) else 0)


@tf("ParseSingleExample")
def parse_single_example(
    c: TensorFlowContext,
    serialized: Shape,
    *_defaults: Shape,
    num_sparse: int,
    sparse_keys: Types,
    dense_keys: Types,
    sparse_types: Types,
    dense_shapes: Shapes,
) -> tuple[Shape | PartialTensor, ...]:
    """[] -> sparse features [*] and dense features [*S]."""
    batch = c.with_rank(serialized, 0)
    dense, types = len(dense_keys), len(c.attr("Tdense"))
    _equal_counts(c, "", {"sparse_keys": len(sparse_keys), "num_sparse": num_sparse, "sparse_types": len(sparse_types)})
    _equal_counts(c, "", {"dense_keys": dense, "Tdense": types, "dense_shapes": len(dense_shapes)})
    shapes = _padded_shapes(c, dense_shapes)
    return _check_outputs(c, [*_sparse_features(c, "sparse", num_sparse, batch, 1), *_dense_features(c, shapes, batch)])


# -- sequences of examples -------------------------------------------------------------------------------------------


def _check_sequence(c: TensorFlowContext, counts: Sequence[tuple[str, int, int, int]]) -> None:
    """Raise ShapeError unless there are one type and one shape for each feature of a kind."""
    for kind, number, types, shapes in counts:
        if not number == types == shapes:
            sizes = f"the size of {kind}_types ({types}) and {kind}_shapes ({shapes})"
            c.fail(f"num_{kind} ({number}) must match {sizes}")


def _sequence_features(
    c: TensorFlowContext,
    batch: Shape,
    shapes: tuple[Shapes, Shapes],
    sparse: tuple[int, int],
    ragged: tuple[int, int] = (0, 0),
    *,
    lengths: bool = True,
) -> tuple[Shape | PartialTensor, ...]:
    """The features of the context, then the feature lists, which have one more axis: that of time.

    The row splits of a single example are scalars; TensorFlow's shape function returns vectors.
    """
    context, lists = shapes
    outer = c.unknown_shape() if batch.dims is None else Shape(c.add(rows, 1) for rows in batch)
    outputs = [
        *_sparse_features(c, "context_sparse", sparse[0], batch, 1),
        *_dense_features(c, context, batch),
        *_ragged_features(c, "context_ragged", ragged[0], outer),
        *_sparse_features(c, "sparse", sparse[1], batch, 2),
        *(
            _dense_features(c, (shape,), c.concatenate(batch, c.vector(c.fresh(f"dense.{i}"))))[0]
            for i, shape in enumerate(lists)
        ),
        *(batch for _ in lists if lengths),
        *_ragged_features(c, "ragged", ragged[1], outer, inner=True),
    ]
    return _check_outputs(c, outputs)


@tf("ParseSequenceExample")
def parse_sequence_example(
    c: TensorFlowContext,
    serialized: Shape,
    debug_name: Shape,
    *_defaults: Shape,
    context_sparse_types: Types = (),
    context_dense_shapes: Shapes = (),
    feature_list_sparse_types: Types = (),
    feature_list_dense_shapes: Shapes = (),
) -> tuple[Shape | PartialTensor, ...]:
    """[B], [*] -> features of the context [B, *S], feature lists [B, time, *S], lengths [B] of dense lists."""
    batch = c.with_rank(serialized, 1)
    c.with_rank(debug_name, 1)
    dense, types = len(c.attr("Tcontext_dense")), len(c.attr("feature_list_dense_types"))
    _check_sequence(
        c,
        [
            ("context_dense", c.attr("Ncontext_dense"), dense, len(context_dense_shapes)),
            ("feature_list_dense", c.attr("Nfeature_list_dense"), types, len(feature_list_dense_shapes)),
        ],
    )
    sparse = len(context_sparse_types), len(feature_list_sparse_types)
    return _sequence_features(c, batch, (context_dense_shapes, feature_list_dense_shapes), sparse)


@tf("ParseSequenceExampleV2")
def parse_sequence_example_v2(
    c: TensorFlowContext,
    serialized: Shape,
    debug_name: Shape,
    *_rest: Shape,
    context_sparse_types: Types = (),
    context_ragged_value_types: Types = (),
    context_dense_shapes: Shapes = (),
    feature_list_sparse_types: Types = (),
    feature_list_ragged_value_types: Types = (),
    feature_list_dense_shapes: Shapes = (),
) -> tuple[Shape | PartialTensor, ...]:
    """As ParseSequenceExample, for [B] or [], with ragged features."""
    batch = c.with_rank_at_most(serialized, 1)
    c.with_rank_at_most(debug_name, 1)
    dense, types = len(c.attr("Tcontext_dense")), len(c.attr("feature_list_dense_types"))
    _check_sequence(
        c,
        [
            ("context_dense", dense, dense, len(context_dense_shapes)),
            ("feature_list_dense", c.attr("Nfeature_list_dense"), types, len(feature_list_dense_shapes)),
        ],
    )
    sparse = len(context_sparse_types), len(feature_list_sparse_types)
    ragged = len(context_ragged_value_types), len(feature_list_ragged_value_types)
    return _sequence_features(c, batch, (context_dense_shapes, feature_list_dense_shapes), sparse, ragged)


@tf("ParseSingleSequenceExample")
def parse_single_sequence_example(
    c: TensorFlowContext,
    serialized: Shape,
    feature_list_dense_missing_assumed_empty: Shape,
    *_rest: Shape,
    context_sparse_types: Types = (),
    context_dense_shapes: Shapes = (),
    feature_list_sparse_types: Types = (),
    feature_list_dense_shapes: Shapes = (),
) -> tuple[Shape | PartialTensor, ...]:
    """[] -> features of the context [*S] and feature lists [time, *S]."""
    batch = c.with_rank(serialized, 0)
    c.with_rank(feature_list_dense_missing_assumed_empty, 1)
    context = {"dense_keys": c.attr("Ncontext_dense"), "dense_shapes": len(context_dense_shapes)}
    lists = {"dense_keys": c.attr("Nfeature_list_dense"), "dense_shapes": len(feature_list_dense_shapes)}
    _equal_counts(c, "context_", context)
    _equal_counts(c, "feature_list_", lists)
    sparse = len(context_sparse_types), len(feature_list_sparse_types)
    return _sequence_features(c, batch, (context_dense_shapes, feature_list_dense_shapes), sparse, lengths=False)


# -- records and tensors ---------------------------------------------------------------------------------------------


@tf("DecodeCSV")
def decode_csv(
    c: TensorFlowContext, records: Shape, *record_defaults: Shape, select_cols: tuple[int, ...] = ()
) -> tuple[Shape, ...]:
    """[*S], defaults [0], [1] or [] -> [*S]...: one tensor for each column."""
    for default in record_defaults:
        shape = c.with_rank_at_most(default, 1)
        if shape.rank == 1:
            c.at_most(shape[0], 1, "Shape of a default must be a length-0 or length-1 vector, or a scalar.")
    return tuple(records for _ in range(c.num_outputs))


@tf("DecodeRaw")
def decode_raw(c: TensorFlowContext, bytes: Shape) -> Shape:
    """[*S] -> [*S, numbers]: the numbers in the bytes of each string."""
    return c.concatenate(bytes, c.vector(c.fresh("numbers")))


@tf("DecodePaddedRaw")
def decode_padded_raw(c: TensorFlowContext, input_bytes: Shape, fixed_length: Value, *, out_type: str) -> Shape:
    """[*S], fixed_length [] -> [*S, numbers]: the numbers in `fixed_length` bytes of each string."""
    c.with_rank(fixed_length.shape, 0)
    length, bits = scalar_size(c, fixed_length), element_bits(out_type)
    numbers: DimSize = c.fresh("numbers") if length is None or not bits else c.divide(length, bits // 8, True)
    return c.concatenate(input_bytes, c.vector(numbers))


@tf("SerializeTensor")
def serialize_tensor(c: TensorFlowContext, tensor: Shape) -> Shape:
    """[*S] -> []."""
    return c.scalar()


@tf("ParseTensor")
def parse_tensor(c: TensorFlowContext, serialized: Shape) -> Shape:
    """[] -> a tensor of any shape."""
    raise c.unknowable("the shape of a serialized tensor is in its bytes")
