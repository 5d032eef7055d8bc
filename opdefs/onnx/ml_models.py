"""Classical machine learning (`ai.onnx.ml`): classifiers and regressors."""

from __future__ import annotations

from opdefs.onnx.ml import Strings, batch, ml
from shapeinf.expr import Dim
from shapeinf.lattice import PartialTensor, Shape, TensorType
from shapeinf.ops import Floats, InferenceContext, Ints


def _classified(c: InferenceContext, x: Shape, strings: Strings, scores: Dim) -> tuple[TensorType, TensorType]:
    """A label for each sample, and its scores."""
    samples = batch(c, x)
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
    """[N] labels and [N, E] scores: one for each intercept, and two where one tells two classes apart."""
    labels = len(classlabels_strings) or len(classlabels_ints)
    scores: Dim = len(intercepts)
    if labels == 2 and len(intercepts) <= 1:
        scores = 2
    elif not intercepts:  # a row of coefficients for each class; for one class or none that says nothing
        scores = labels if labels > 2 else c.fresh("classes")
    return _classified(c, x, classlabels_strings, scores)


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
    """[N] labels and [N, E] scores: one a class; with support vectors and no probabilities one a pair of classes."""
    labels = len(classlabels_strings) or len(classlabels_ints)
    if not labels:
        c.fail("one of classlabels_ints and classlabels_strings must be set")
    pairs = sum(vectors_per_class) > 0 and not prob_a
    return _classified(c, x, classlabels_strings, max(2, labels * (labels - 1) // 2) if pairs else labels)


@ml("TreeEnsembleClassifier")
def tree_ensemble_classifier(
    c: InferenceContext, x: Shape, *, classlabels_int64s: Ints = (), classlabels_strings: Strings = ()
) -> tuple[TensorType, TensorType]:
    """[N] labels and [N, E] scores, one a class."""
    labels = len(classlabels_strings) or len(classlabels_int64s)
    if not labels:
        c.fail("one of classlabels_int64s and classlabels_strings must be set")
    return _classified(c, x, classlabels_strings, labels)


@ml("LinearRegressor")
def linear_regressor(c: InferenceContext, x: Shape, *, targets: int = 1) -> Shape:
    """[N, C] -> [N, targets]."""
    return Shape((batch(c, x), targets))


@ml("SVMRegressor")
def svm_regressor(c: InferenceContext, x: Shape) -> Shape:
    """[N, C] -> [N, 1]."""
    return Shape((batch(c, x), 1))


@ml("TreeEnsembleRegressor")
def tree_ensemble(c: InferenceContext, x: Shape, *, n_targets: int | None = None) -> Shape:
    """[N, C] -> [N, n_targets]."""
    return Shape((batch(c, x), c.fresh("targets") if n_targets is None else n_targets))


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
    """[N, C] -> [N, n_targets]; every list has one entry a node, or one a leaf."""
    lists = nodes_featureids, nodes_truenodeids, nodes_falsenodeids, nodes_trueleafs, nodes_falseleafs
    nodes = c.numel(nodes_modes.shape)
    if any(len(found) != nodes for found in lists) or nodes_splits.shape != nodes_modes.shape:
        c.fail("every list of nodes must have one entry a node", *(len(found) for found in lists))
    if c.numel(leaf_weights.shape) != len(leaf_targetids):
        c.fail("there must be a weight for each leaf", leaf_weights.shape, len(leaf_targetids))
    for found, name in ((leaf_weights, "leaf_weights"), (nodes_splits, "nodes_splits")):
        if c.dtype(0) not in (None, found.dtype):
            c.fail(f"{name} must be of the type of the input", found.dtype, c.dtype(0))
    return tree_ensemble(c, x, n_targets=n_targets)
