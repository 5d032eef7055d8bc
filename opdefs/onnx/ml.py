"""Classical machine learning (`ai.onnx.ml`): features, encoders, maps, classifiers and regressors."""

from __future__ import annotations

from functools import partial

from opdefs.onnx.dialect import onnx
from opdefs.rules.contents.elements import known_ints
from opdefs.rules.contents.rearrangement import choose_slices
from opdefs.rules.gathering import constrain_indices
from shapeinf.expr import DimSize
from shapeinf.lattice import SCALAR, MapType, PartialTensor, SequenceType, Shape, TensorType
from shapeinf.ops import Floats, InferenceContext, Ints, Value

ml = partial(onnx, domain="ai.onnx.ml")
Strings = tuple[str, ...]
Attribute = tuple[object, ...] | PartialTensor | None


def sample_count(c: InferenceContext, x: Shape) -> DimSize:
    """The number of samples of an input [N, C], or [C] of one sample."""
    if x.dims is None:
        return c.fresh("batch")
    if len(x) not in (1, 2):
        c.fail("the input must be [C] or [N, C]", x)
    return x[0] if len(x) == 2 else 1


# -- element-wise -----------------------------------------------------------------------------------------------


@ml("Binarizer", "Imputer", "Normalizer", "Scaler")
def same_shape(c: InferenceContext, x: Shape) -> Shape:
    """[*S] -> [*S]."""
    return x


_OTHER = {"string": "int64", "int64": "string"}


@ml("LabelEncoder")
def strings_or_ints(c: InferenceContext, x: Shape) -> TensorType:
    """[*S] strings -> [*S] integers, or integers -> strings."""
    return TensorType(_OTHER.get(c.dtype(0) or ""), x)


@ml("CategoryMapper")
def category_mapper(c: InferenceContext, x: Shape, *, cats_int64s: Ints = (), cats_strings: Strings = ()) -> TensorType:
    """[*S] strings -> [*S] integers, or integers -> strings, by two lists of equal length."""
    c.state_types(_OTHER.get(c.dtype(0) or ""))
    if not cats_int64s or len(cats_int64s) != len(cats_strings):
        c.fail(
            "cats_int64s and cats_strings must have the same length, at least 1", len(cats_int64s), len(cats_strings)
        )
    return strings_or_ints(c, x)


@ml("LabelEncoder", since=2)
def label_encoder(
    c: InferenceContext,
    x: Shape,
    *,
    keys_strings: Strings = (),
    keys_int64s: Ints = (),
    keys_floats: Floats = (),
    values_strings: Strings = (),
    values_int64s: Ints = (),
    values_floats: Floats = (),
) -> TensorType:
    """[*S] -> [*S] in the type of the values."""
    return _encode(
        c,
        x,
        {"string": keys_strings, "int64": keys_int64s, "float32": keys_floats},
        {"string": values_strings, "int64": values_int64s, "float32": values_floats},
    )


@ml("LabelEncoder", since=4)
def label_encoder_by_tensors(
    c: InferenceContext,
    x: Shape,
    *,
    keys_tensor: PartialTensor | None = None,
    keys_strings: Strings = (),
    keys_int64s: Ints = (),
    keys_floats: Floats = (),
    values_tensor: PartialTensor | None = None,
    values_strings: Strings = (),
    values_int64s: Ints = (),
    values_floats: Floats = (),
    default_tensor: PartialTensor | None = None,
) -> TensorType:
    """[*S] -> [*S] in the type of the values, which may be a tensor."""
    if default_tensor is not None:
        if default_tensor.shape.dims != (1,):
            c.fail("default_tensor must have one element", default_tensor.shape)
        if values_tensor is not None and default_tensor.dtype != values_tensor.dtype:
            c.fail("default_tensor must have the type of the values", default_tensor.dtype, values_tensor.dtype)
    return _encode(
        c,
        x,
        {None: keys_tensor, "string": keys_strings, "int64": keys_int64s, "float32": keys_floats},
        {None: values_tensor, "string": values_strings, "int64": values_int64s, "float32": values_floats},
    )


def _encode(
    c: InferenceContext, x: Shape, keys: dict[str | None, Attribute], values: dict[str | None, Attribute]
) -> TensorType:
    (key_type, key_count), (value_type, value_count) = (
        _single_attribute(c, keys, "keys_*"),
        _single_attribute(c, values, "values_*"),
    )
    if key_count != value_count:
        c.fail("keys_* and values_* must have the same number of items", key_count, value_count)
    if c.dtype(0) not in (None, key_type):
        c.fail("the input must have the type of keys_*", c.dtype(0), key_type)
    return TensorType(value_type, x)


def _single_attribute(
    c: InferenceContext, attributes: dict[str | None, Attribute], name: str
) -> tuple[str | None, DimSize]:
    """The element type and the number of items of the only attribute that is set."""
    present = [(dtype, a) for dtype, a in attributes.items() if isinstance(a, PartialTensor) or a]
    if len(present) != 1:
        c.fail(f"exactly one of {name} must be set")
    dtype, value = present[0]
    if isinstance(value, PartialTensor):
        return value.dtype, c.numel(value.shape)
    return dtype, len(value or ())


# -- features --------------------------------------------------------------------------------------------------------


@ml("ArrayFeatureExtractor")
def array_feature_extractor(c: InferenceContext, x: Value, indices: Value) -> PartialTensor:
    """[*S, C], I indices -> [*S, I]; a vector [C] -> [1, I]."""
    if len(x.shape) == 0:
        c.fail("X must have rank 1 or more", x.shape)
    count = c.fresh("count") if indices.shape.dims is None else c.numel(indices.shape)
    constrain_indices(c, indices, x.shape[-1])
    shape = Shape((1, count)) if len(x.shape) == 1 else Shape((*x.shape[:-1], count))
    known = known_ints(indices)
    size = x.shape[-1]
    if known is None or x.elements is None or not isinstance(size, int) or any(not 0 <= i < size for i in known):
        return PartialTensor(x.dtype, shape, None)
    return choose_slices(x, known, len(x.shape) - 1, shape)


@ml("FeatureVectorizer")
def feature_vectorizer(c: InferenceContext, *xs: Shape, inputdimensions: Ints = ()) -> Shape:
    """[N, C], [N, D], ... -> [N, C + D + ...], each resized to its item of `inputdimensions`; [C] is [1, C]."""
    if inputdimensions and len(inputdimensions) != len(xs):
        c.fail("inputdimensions must have a size for each input", len(xs), len(inputdimensions))
    rows: list[DimSize] = [1 if len(x) == 1 else x[0] for x in xs if x.dims]
    for more in rows[1:]:
        c.merge(rows[0], more, "all inputs must have the same number of samples")
    columns = sum(inputdimensions) if inputdimensions else _columns(c, xs)
    return Shape((rows[0] if rows else c.fresh("batch"), columns))


def _columns(c: InferenceContext, xs: tuple[Shape, ...]) -> DimSize:
    if any(x.dims is None or len(x) not in (1, 2) for x in xs):
        return c.fresh("columns")
    total: DimSize = 0
    for x in xs:
        total = total + x[-1]
    return total


@ml("OneHotEncoder")
def one_hot_encoder(c: InferenceContext, x: Shape, *, cats_int64s: Ints = (), cats_strings: Strings = ()) -> Shape:
    """[*S] -> [*S, categories]."""
    if bool(cats_int64s) == bool(cats_strings):
        c.fail("exactly one of cats_int64s and cats_strings must be set")
    return Shape((*x, len(cats_int64s) or len(cats_strings)))


# -- maps ------------------------------------------------------------------------------------------------------------

Map = MapType | TensorType
"""The type of a map input: a TensorType where its producer is unknown."""

_CAST_TO = {"TO_FLOAT": "float32", "TO_STRING": "string", "TO_INT64": "int64"}


@ml("CastMap")
def cast_map(
    c: InferenceContext, x: Map, *, cast_to: str = "TO_FLOAT", map_form: str = "DENSE", max_map: int = 1
) -> TensorType:
    """[1, max_map] of a sparse map, else [1, entries]; onnxruntime adds the axis of size 1."""
    size = max_map if map_form == "SPARSE" else c.fresh("entries")
    return TensorType(_CAST_TO.get(cast_to), Shape((1, size)))


@ml("DictVectorizer")
def dict_vectorizer(
    c: InferenceContext, x: Map, *, int64_vocabulary: Ints = (), string_vocabulary: Strings = ()
) -> TensorType:
    """[1, C] for a vocabulary of C words, in the type of the map's values."""
    value = x.element if isinstance(x, MapType) else None
    dtype = value.dtype if isinstance(value, TensorType) else None
    c.state_types(dtype)
    if bool(int64_vocabulary) == bool(string_vocabulary):
        c.fail("exactly one of int64_vocabulary and string_vocabulary must be set")
    return TensorType(dtype, Shape((1, len(int64_vocabulary) or len(string_vocabulary))))


@ml("ZipMap")
def zip_map(
    c: InferenceContext, x: Shape, *, classlabels_int64s: Ints = (), classlabels_strings: Strings = ()
) -> SequenceType:
    """[N, C] -> a sequence of N maps from labels to scalars."""
    key = "string" if classlabels_strings else "int64"
    labeled = MapType(key, TensorType("float32", SCALAR))
    c.state_types(SequenceType(labeled))
    if bool(classlabels_int64s) == bool(classlabels_strings):
        c.fail("exactly one of classlabels_int64s and classlabels_strings must be set")
    count = sample_count(c, x)
    if x.dims is not None:
        labels = len(classlabels_int64s) or len(classlabels_strings)
        c.merge(x[-1], labels, "the last axis of the input must have one element per item of classlabels_*")
    return SequenceType(labeled, count)


def _state_label_and_scores(c: InferenceContext, strings: Strings) -> None:
    c.state_types("string" if strings else "int64", *["float32"] * (c.num_outputs - 1))


def _label_and_scores(
    c: InferenceContext, x: Shape, strings: Strings, scores: DimSize
) -> tuple[TensorType, TensorType]:
    """The labels [N] and the scores [N, scores] of N samples."""
    _state_label_and_scores(c, strings)
    samples = sample_count(c, x)
    label = TensorType("string" if strings else "int64", Shape((samples,)))
    return label, TensorType("float32", Shape((samples, scores)))


@ml("LinearClassifier")
def linear_classifier(
    c: InferenceContext,
    x: Shape,
    *,
    classlabels_ints: Ints = (),
    classlabels_strings: Strings = (),
    intercepts: Floats = (),
) -> tuple[TensorType, TensorType]:
    """[N, C] -> [N] labels and [N, E] scores: one per intercept, and two for binary classifiers."""
    labels = len(classlabels_strings) or len(classlabels_ints)
    scores: DimSize = len(intercepts)
    if labels == 2 and len(intercepts) <= 1:
        scores = 2
    elif not intercepts:  # one row of coefficients per class, unless there is at most one class
        scores = labels if labels > 2 else c.fresh("classes")
    return _label_and_scores(c, x, classlabels_strings, scores)


@ml("SVMClassifier")
def svm_classifier(
    c: InferenceContext,
    x: Shape,
    *,
    classlabels_ints: Ints = (),
    classlabels_strings: Strings = (),
    vectors_per_class: Ints = (),
    prob_a: Floats = (),
) -> tuple[TensorType, TensorType]:
    """[N, C] -> [N] labels and [N, E] scores: one per class, or per pair of classes without probabilities.

    A model without support vectors always has one score per class.
    """
    _state_label_and_scores(c, classlabels_strings)
    labels = len(classlabels_strings) or len(classlabels_ints)
    if not labels:
        c.fail("one of classlabels_ints and classlabels_strings must be set")
    pairs = sum(vectors_per_class) > 0 and not prob_a
    return _label_and_scores(c, x, classlabels_strings, max(2, labels * (labels - 1) // 2) if pairs else labels)


@ml("TreeEnsembleClassifier")
def tree_ensemble_classifier(
    c: InferenceContext, x: Shape, *, classlabels_int64s: Ints = (), classlabels_strings: Strings = ()
) -> tuple[TensorType, TensorType]:
    """[N, C] -> [N] labels and [N, E] scores, one per class."""
    _state_label_and_scores(c, classlabels_strings)
    labels = len(classlabels_strings) or len(classlabels_int64s)
    if not labels:
        c.fail("one of classlabels_int64s and classlabels_strings must be set")
    return _label_and_scores(c, x, classlabels_strings, labels)


@ml("LinearRegressor")
def linear_regressor(c: InferenceContext, x: Shape, *, targets: int = 1) -> Shape:
    """[N, C] -> [N, targets]."""
    return Shape((sample_count(c, x), targets))


@ml("SVMRegressor")
def svm_regressor(c: InferenceContext, x: Shape) -> Shape:
    """[N, C] -> [N, 1]."""
    return Shape((sample_count(c, x), 1))


@ml("TreeEnsembleRegressor")
def tree_ensemble(c: InferenceContext, x: Shape, *, n_targets: int | None = None) -> Shape:
    """[N, C] -> [N, n_targets]."""
    return Shape((sample_count(c, x), c.fresh("targets") if n_targets is None else n_targets))


@ml("TreeEnsemble", since=5)
def tree_ensemble_of_tensors(
    c: InferenceContext,
    x: Shape,
    *,
    n_targets: int | None = None,
    nodes_featureids: Ints,
    nodes_truenodeids: Ints,
    nodes_falsenodeids: Ints,
    nodes_trueleafs: Ints,
    nodes_falseleafs: Ints,
    nodes_modes: PartialTensor,
    nodes_splits: PartialTensor,
    leaf_targetids: Ints,
    leaf_weights: PartialTensor,
) -> Shape:
    """[N, C] -> [N, n_targets]; every list has one entry per node or per leaf."""
    lists = nodes_featureids, nodes_truenodeids, nodes_falsenodeids, nodes_trueleafs, nodes_falseleafs
    nodes = c.numel(nodes_modes.shape)
    if any(len(values) != nodes for values in lists) or nodes_splits.shape != nodes_modes.shape:
        c.fail("every list nodes_* must have one entry per node", *(len(values) for values in lists))
    if c.numel(leaf_weights.shape) != len(leaf_targetids):
        c.fail("leaf_weights must have as many elements as leaf_targetids", leaf_weights.shape, len(leaf_targetids))
    for values, name in ((leaf_weights, "leaf_weights"), (nodes_splits, "nodes_splits")):
        if c.dtype(0) not in (None, values.dtype):
            c.fail(f"{name} must have the type of the input", values.dtype, c.dtype(0))
    return tree_ensemble(c, x, n_targets=n_targets)
