"""Classical machine learning (ai.onnx.ml), against onnxruntime."""

from functools import partial

import numpy as np
import onnx
import pytest
from hypothesis import strategies as st
from onnx import TensorProto, helper

from shapeinf import infer_shapes
from tests.differential import ort
from tests.differential.cases import KNOWN, case, create_model, tensor
from tests.differential.draws import opset, shapes

DOMAIN = "ai.onnx.ml"
ml = partial(case, domain=DOMAIN, opset=1)


def _samples(draw, width):
    """[C], [N, C] or [0, C]."""
    return tensor(draw(st.sampled_from(([width], [1, width], [3, width]))))


def _labels(draw, count, kind):
    """Attributes with this many labels, of either type."""
    strings, integers = draw(st.sampled_from(((list("abcdefg")[:count], None), (None, list(range(count))))))
    return {"classlabels_strings": strings, f"classlabels_{kind}": integers}


def each(draw):
    x = tensor(draw(shapes(low=1, high=2)), draw(st.sampled_from(("float32", "int64"))))
    floats = x.dtype == np.float32
    attributes = {
        "Binarizer": {"threshold": 0.5} if floats else None,
        "Imputer": {"imputed_value_floats": [1.0]} if floats else {"imputed_value_int64s": [1]},
        "Normalizer": {"norm": draw(st.sampled_from(("MAX", "L1", "L2")))},
        "Scaler": {"offset": [0.0], "scale": [1.0]},
    }
    op = draw(st.sampled_from(sorted(name for name, values in attributes.items() if values is not None)))
    return ml(op, x, **attributes[op])


def array_feature_extractor(draw):
    shape = draw(shapes(low=1))
    indices = tensor(draw(shapes(high=2)), "int64") * 0
    return ml("ArrayFeatureExtractor", tensor(shape), indices)


def feature_vectorizer(draw):
    n = draw(st.integers(1, 3))
    xs = [tensor([n, draw(st.integers(1, 4))]) for _ in range(draw(st.integers(1, 3)))]
    return ml("FeatureVectorizer", *xs, inputdimensions=[draw(st.integers(1, 4)) for _ in xs])


def one_hot_encoder(draw):
    strings = draw(st.booleans())
    x = tensor(draw(shapes()), "string" if strings else draw(st.sampled_from(("int64", "float32"))))
    return ml("OneHotEncoder", x, **({"cats_strings": list("0123")} if strings else {"cats_int64s": [0, 1, 2]}))


def category_mapper(draw):
    x = tensor(draw(shapes()), draw(st.sampled_from(("string", "int64"))))
    return ml("CategoryMapper", x, cats_int64s=[0, 1], cats_strings=["0", "1"])


def label_encoder_by_list(draw):
    x = tensor(draw(shapes()), draw(st.sampled_from(("string", "int64"))))
    return ml("LabelEncoder", x, classes_strings=list("01"))


KEYS = {"string": ("strings", ["0", "1"]), "int64": ("int64s", [0, 1]), "float32": ("floats", [0.0, 1.0])}


def label_encoder(draw):
    source, target = draw(st.sampled_from(tuple(KEYS))), draw(st.sampled_from(tuple(KEYS)))
    (k, keys), (v, values) = KEYS[source], KEYS[target]
    attributes = {f"keys_{k}": keys, f"values_{v}": values}
    return ml("LabelEncoder", tensor(draw(shapes()), source), opset=draw(opset(2, 4)), **attributes)


def label_encoder_by_tensors(draw):
    source, target = draw(st.sampled_from((("float64", "float64"), ("int64", "int64"), ("float64", "string"))))
    keys = onnx.numpy_helper.from_array(np.array([0, 1], source))
    values, default = (onnx.numpy_helper.from_array(tensor([n], target)) for n in (2, 1))
    attributes = {"keys_tensor": keys, "values_tensor": values, "default_tensor": default}
    return ml("LabelEncoder", tensor(draw(shapes()), source), opset=4, **attributes)


def linear_classifier(draw):
    width, count = draw(st.integers(1, 3)), draw(st.integers(2, 4))
    rows = draw(st.sampled_from((1, 2))) if count == 2 else count
    weights = {"coefficients": [1.0] * (width * rows), "intercepts": [0.0] * rows}
    return ml("LinearClassifier", _samples(draw, width), outputs=2, **weights, **_labels(draw, count, "ints"))


def svm_classifier(draw):
    width, count = draw(st.integers(1, 3)), draw(st.integers(2, 5))
    pairs = count * (count - 1) // 2
    weights = {"kernel_params": [1.0, 0.0, 1.0], "post_transform": draw(st.sampled_from((None, "SOFTMAX", "LOGISTIC")))}
    if draw(st.booleans()):
        weights |= {"coefficients": [1.0] * (width * count), "rho": [0.0]}
    else:
        weights |= {"coefficients": [1.0] * ((count - 1) * count), "rho": [0.0] * pairs}
        weights |= {"support_vectors": [1.0] * (width * count), "vectors_per_class": [1] * count}
        if draw(st.booleans()):
            weights |= {"prob_a": [1.0] * pairs, "prob_b": [1.0] * pairs}
    return ml("SVMClassifier", _samples(draw, width), outputs=2, **weights, **_labels(draw, count, "ints"))


STUMP = {
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [0, 0, 0],
    "nodes_values": [0.5, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
}


def tree_ensemble_classifier(draw):
    count = draw(st.integers(2, 4))  # onnxruntime ends the process at a single label of text
    ids = draw(st.lists(st.integers(0, count - 1), min_size=2, max_size=2))
    votes = {"class_treeids": [0, 0], "class_nodeids": [1, 2], "class_ids": ids, "class_weights": [1.0, 1.0]}
    attributes = STUMP | votes | _labels(draw, count, "int64s")
    x = tensor([draw(st.integers(1, 3)), 2])
    return ml("TreeEnsembleClassifier", x, outputs=2, opset=draw(opset(1, 3)), **attributes)


def tree_ensemble_regressor(draw):
    votes = {"target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0], "target_weights": [1.0, 2.0]}
    x = tensor([draw(st.integers(1, 3)), 2])
    return ml("TreeEnsembleRegressor", x, opset=draw(opset(1, 3)), n_targets=draw(st.integers(1, 3)), **STUMP, **votes)


def tree_ensemble(draw):
    dtype = draw(st.sampled_from(("float32", "float64")))
    attributes = {
        "tree_roots": [0],
        "nodes_featureids": [0],
        "nodes_splits": onnx.numpy_helper.from_array(np.array([0.5], dtype)),
        "nodes_modes": helper.make_tensor("modes", TensorProto.UINT8, [1], [0]),
        "nodes_truenodeids": [0],
        "nodes_falsenodeids": [1],
        "nodes_trueleafs": [1],
        "nodes_falseleafs": [1],
        "leaf_targetids": [0, 0],
        "leaf_weights": onnx.numpy_helper.from_array(np.array([1, 2], dtype)),
    }
    x = tensor([draw(st.integers(1, 3)), 2], dtype)
    return ml("TreeEnsemble", x, opset=5, n_targets=draw(st.integers(1, 3)), **attributes)


def linear_regressor(draw):
    width, targets = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    return ml("LinearRegressor", _samples(draw, width), coefficients=[1.0] * (width * targets), targets=targets)


def svm_regressor(draw):
    width = draw(st.integers(1, 3))
    weights = {"coefficients": [1.0, 1.0], "rho": [0.0], "support_vectors": [1.0] * (2 * width), "n_supports": 2}
    return ml("SVMRegressor", _samples(draw, width), kernel_params=[1.0, 0.0, 1.0], **weights)


@ort.sizes
@pytest.mark.parametrize("family", ort.families(globals()))
def test_shapes_match_onnxruntime(family, examples):
    ort.verify(family, examples)


INT64, TEXT, FLOAT = TensorProto.INT64, TensorProto.STRING, TensorProto.FLOAT
MAPS = [
    ("CastMap", INT64, FLOAT, {0: 1.5, 2: 2.5}, {}, "float32", [1, None]),
    ("CastMap", INT64, FLOAT, {0: 1.5}, {"cast_to": "TO_INT64"}, "int64", [1, None]),
    ("CastMap", INT64, FLOAT, {0: 1.5}, {"map_form": "SPARSE", "max_map": 4}, "float32", [1, 4]),
    ("DictVectorizer", TEXT, FLOAT, {"a": 1.0}, {"string_vocabulary": list("abc")}, "float32", [1, 3]),
    ("DictVectorizer", INT64, FLOAT, {2: 1.0}, {"int64_vocabulary": [1, 2]}, "float32", [1, 2]),
]


@pytest.mark.parametrize(("op", "key", "value", "content", "attributes", "dtype", "shape"), MAPS)
def test_maps_become_rows(op, key, value, content, attributes, dtype, shape):
    runtime = pytest.importorskip("onnxruntime")
    x = helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, []))
    node = helper.make_node(op, ["x"], ["y"], domain=DOMAIN, **attributes)
    graph = helper.make_graph([node], "maps", [helper.make_value_info("x", x)], [onnx.ValueInfoProto(name="y")])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(DOMAIN, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    (real,) = runtime.InferenceSession(model.SerializeToString()).run(None, {"x": content})
    result = infer_shapes(model)
    info = result.tensors["y"]
    assert (info.dtype, ort.contains(result, info.shape, real.shape, {}, exact=None not in shape)) == (dtype, True)
    assert [d if isinstance(d, int) else None for d in info.shape] == shape


@pytest.mark.parametrize(
    ("labels", "key"), [({"classlabels_strings": list("abc")}, "string"), ({"classlabels_int64s": [1, 2, 3]}, "int64")]
)
def test_zip_map_gives_maps(labels, key):
    c = ml("ZipMap", tensor([2, 3]), **labels)
    assert isinstance(ort.run(c), dict)
    assert str(infer_shapes(create_model(c, KNOWN)).tensors["o0"]) == f"sequence(map({key}, float32[]))"
