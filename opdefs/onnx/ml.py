"""Classical machine learning (`ai.onnx.ml`): features, encoders and maps. Models are in `ml_models`."""

from __future__ import annotations

from functools import partial

from opdefs.onnx.dialect import onnx
from opdefs.rules.gathering import tell_inside
from shapeinf.expr import Dim
from shapeinf.lattice import SCALAR, MapType, PartialTensor, SequenceType, Shape, TensorType
from shapeinf.ops import Floats, InferenceContext, Ints, Value

ml = partial(onnx, domain="ai.onnx.ml")
Strings = tuple[str, ...]
Attribute = tuple[object, ...] | PartialTensor | None


def batch(c: InferenceContext, x: Shape) -> Dim:
    """The number of samples of [C] (one) or [N, C]."""
    if x.dims is None:
        return c.fresh("batch")
    if len(x) not in (1, 2):
        c.fail("the samples must be [C] or [N, C]", x)
    return x[0] if len(x) == 2 else 1


# -- one value for one -----------------------------------------------------------------------------------------------


@ml("Binarizer", "Imputer", "Normalizer", "Scaler")
def each(c: InferenceContext, x: Shape) -> Shape:
    """The shape of the input."""
    return x


_OTHER = {"string": "int64", "int64": "string"}


@ml("LabelEncoder")
def strings_or_ints(c: InferenceContext, x: Shape) -> TensorType:
    """Integers for strings and strings for integers."""
    return TensorType(_OTHER.get(c.dtype(0) or ""), x)


@ml("CategoryMapper")
def category_mapper(c: InferenceContext, x: Shape, *, cats_int64s: Ints = (), cats_strings: Strings = ()) -> TensorType:
    """Integers for strings and strings for integers, by two lists of one length."""
    if not cats_int64s or len(cats_int64s) != len(cats_strings):
        c.fail("cats_int64s and cats_strings must be of one length, at least 1", len(cats_int64s), len(cats_strings))
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
    """The shape of the input, in the type of the values."""
    return _encoded(
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
    """The shape of the input, in the type of the values, which may be a tensor."""
    if default_tensor is not None:
        if default_tensor.shape.dims != (1,):
            c.fail("default_tensor must hold one element", default_tensor.shape)
        if values_tensor is not None and default_tensor.dtype != values_tensor.dtype:
            c.fail("default_tensor must be of the type of the values", default_tensor.dtype, values_tensor.dtype)
    return _encoded(
        c,
        x,
        {None: keys_tensor, "string": keys_strings, "int64": keys_int64s, "float32": keys_floats},
        {None: values_tensor, "string": values_strings, "int64": values_int64s, "float32": values_floats},
    )


def _encoded(
    c: InferenceContext, x: Shape, keys: dict[str | None, Attribute], values: dict[str | None, Attribute]
) -> TensorType:
    (key_type, key_count), (value_type, value_count) = _only(c, keys, "keys_*"), _only(c, values, "values_*")
    if key_count != value_count:
        c.fail("there must be as many values as keys", key_count, value_count)
    if c.dtype(0) not in (None, key_type):
        c.fail("the input must be of the type of the keys", c.dtype(0), key_type)
    return TensorType(value_type, x)


def _only(c: InferenceContext, attributes: dict[str | None, Attribute], name: str) -> tuple[str | None, Dim]:
    """The type and the number of values of the one attribute that is given."""
    given = [(dtype, a) for dtype, a in attributes.items() if isinstance(a, PartialTensor) or a]
    if len(given) != 1:
        c.fail(f"one and only one of {name} must be set")
    dtype, found = given[0]
    if isinstance(found, PartialTensor):
        return found.dtype, c.numel(found.shape)
    return dtype, len(found or ())


# -- features --------------------------------------------------------------------------------------------------------


@ml("ArrayFeatureExtractor")
def array_feature_extractor(c: InferenceContext, x: Shape, indices: Value) -> Shape:
    """The last axis becomes the number of indices; a vector becomes one row."""
    if len(x) == 0:
        c.fail("the data must have an axis", x)
    count = c.fresh("count") if indices.shape.dims is None else c.numel(indices.shape)
    tell_inside(c, indices, x[-1])
    return Shape((1, count)) if len(x) == 1 else Shape((*x[:-1], count))


@ml("FeatureVectorizer")
def feature_vectorizer(c: InferenceContext, *xs: Shape, inputdimensions: Ints = ()) -> Shape:
    """[N, C] side by side, cut or filled to the given sizes; [C] is [1, C]."""
    if inputdimensions and len(inputdimensions) != len(xs):
        c.fail("inputdimensions must give a size for each input", len(xs), len(inputdimensions))
    rows: list[Dim] = [1 if len(x) == 1 else x[0] for x in xs if x.dims]
    for more in rows[1:]:
        c.merge(rows[0], more, "all inputs must hold as many samples")
    columns = sum(inputdimensions) if inputdimensions else _columns(c, xs)
    return Shape((rows[0] if rows else c.fresh("batch"), columns))


def _columns(c: InferenceContext, xs: tuple[Shape, ...]) -> Dim:
    if any(x.dims is None or len(x) not in (1, 2) for x in xs):
        return c.fresh("columns")
    total: Dim = 0
    for x in xs:
        total = total + x[-1]
    return total


@ml("OneHotEncoder")
def one_hot_encoder(c: InferenceContext, x: Shape, *, cats_int64s: Ints = (), cats_strings: Strings = ()) -> Shape:
    """One more axis, as long as there are categories."""
    if bool(cats_int64s) == bool(cats_strings):
        c.fail("one and only one of cats_int64s and cats_strings must be set")
    return Shape((*x, len(cats_int64s) or len(cats_strings)))


# -- maps ------------------------------------------------------------------------------------------------------------

Map = MapType | TensorType
"""What a map input may be: a TensorType where its producer is unknown."""

_CAST_TO = {"TO_FLOAT": "float32", "TO_STRING": "string", "TO_INT64": "int64"}


@ml("CastMap")
def cast_map(
    c: InferenceContext, x: Map, *, cast_to: str = "TO_FLOAT", map_form: str = "DENSE", max_map: int = 1
) -> TensorType:
    """One row, as runtimes make it: of `max_map` values, or of as many as the map has."""
    size = max_map if map_form == "SPARSE" else c.fresh("entries")
    return TensorType(_CAST_TO.get(cast_to), Shape((1, size)))


@ml("DictVectorizer")
def dict_vectorizer(
    c: InferenceContext, x: Map, *, int64_vocabulary: Ints = (), string_vocabulary: Strings = ()
) -> TensorType:
    """[1, C], a value for each word of the vocabulary, in the type of the map's values."""
    if bool(int64_vocabulary) == bool(string_vocabulary):
        c.fail("one and only one of int64_vocabulary and string_vocabulary must be set")
    value = x.element if isinstance(x, MapType) else None
    dtype = value.dtype if isinstance(value, TensorType) else None
    return TensorType(dtype, Shape((1, len(int64_vocabulary) or len(string_vocabulary))))


@ml("ZipMap")
def zip_map(
    c: InferenceContext, x: Shape, *, classlabels_int64s: Ints = (), classlabels_strings: Strings = ()
) -> SequenceType:
    """A sequence of maps from labels to scalars, one map a sample."""
    if bool(classlabels_int64s) == bool(classlabels_strings):
        c.fail("one and only one of classlabels_int64s and classlabels_strings must be set")
    batch(c, x)
    if x.dims is not None:
        labels = len(classlabels_int64s) or len(classlabels_strings)
        c.merge(x[-1], labels, "there must be as many columns as labels")
    key = "string" if classlabels_strings else "int64"
    return SequenceType(MapType(key, TensorType("float32", SCALAR)))
