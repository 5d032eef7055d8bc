"""Attention, signals, losses, random numbers and text, against onnxruntime."""

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.differential import ort
from tests.differential.cases import case, ints, tensor
from tests.differential.draws import flag, opset, shapes

small = st.integers(1, 3)


def attention(draw):
    """[N, heads, L, H] with a mask, caches and scores that come and go; fewer heads of keys."""
    n, heads, queries, keys, size, width, past = (draw(small) for _ in range(7))
    group = draw(st.sampled_from((1, 1, 2)))
    q, k, v = [n, heads * group, queries, size], [n, heads, keys, size], [n, heads, keys, width]
    cached = draw(st.booleans())
    caches = [tensor([n, heads, past, size]), tensor([n, heads, past, width])] if cached else [None, None]
    total = keys + past if cached else keys
    mask = draw(st.sampled_from((None, tensor([queries, total]), tensor([n, 1, queries, total]))))
    outputs = draw(st.sampled_from((1, 3, 4))) if cached else 1
    mode = draw(st.integers(0, 3)) if outputs == 4 else None
    attributes = {"is_causal": draw(flag) if mask is None else None, "qk_matmul_output_mode": mode}
    inputs = [tensor(q), tensor(k), tensor(v), mask, *caches]
    return case("Attention", *inputs, outputs=outputs, opset=draw(opset(23, 24)), **attributes)


def attention_of_flat_heads(draw):
    n, heads, queries, keys, size, width = (draw(small) for _ in range(6))
    x = [tensor([n, queries, heads * size]), tensor([n, keys, heads * size]), tensor([n, keys, heads * width])]
    return case("Attention", *x, q_num_heads=heads, kv_num_heads=heads, opset=draw(opset(23, 24)))


def rotary_embedding(draw):
    n, heads, length, half = (draw(small) for _ in range(4))
    flat = draw(st.booleans())
    x = tensor([n, length, heads * half * 2] if flat else [n, heads, length, half * 2])
    angles = tensor([n, length, half])
    return case("RotaryEmbedding", x, angles, angles, num_heads=heads if flat else None, opset=23)


def dft(draw):
    shape = [*draw(shapes(low=2, high=3, size=6)), draw(st.sampled_from((1, 1, 2)))]
    at = draw(st.integers(1, len(shape) - 2))
    length = draw(st.sampled_from((None, np.array(draw(st.integers(1, 8))))))
    onesided = draw(flag) if shape[-1] == 1 else 0
    inverse = draw(flag) if not onesided else 0
    attributes = {"onesided": onesided, "inverse": inverse}
    if draw(st.booleans()):
        return case("DFT", tensor(shape), length, deciding=(1,), axis=at, opset=17, **attributes)
    return case("DFT", tensor(shape), length, np.array(at), deciding=(1, 2), opset=20, **attributes)


def stft(draw):
    n, length, frame, step = draw(small), draw(st.integers(8, 20)), draw(st.integers(2, 6)), draw(small)
    window, size = np.ones(frame, np.float32), np.array(frame)
    operands = draw(st.sampled_from(((window, None), (window, size))))
    x = tensor([n, length, 1])
    return case("STFT", x, np.array(step), *operands, deciding=(1, 3), onesided=draw(flag), opset=17)


def window(draw):
    op = draw(st.sampled_from(("HannWindow", "HammingWindow", "BlackmanWindow")))
    dtype = draw(st.sampled_from((None, 1, 11)))
    return case(
        op, np.array(draw(st.integers(1, 6))), deciding=(0,), periodic=draw(flag), output_datatype=dtype, opset=17
    )


def mel_weights(draw):
    bins, length, rate = draw(st.integers(1, 6)), draw(st.integers(8, 20)), 8000
    operands = [
        np.array(bins),
        np.array(length),
        np.array(rate),
        np.array(0.0, np.float32),
        np.array(3000.0, np.float32),
    ]
    return case("MelWeightMatrix", *operands, deciding=(0, 1), opset=17)


REDUCTIONS = ("none", "sum", "mean")


def negative_log_likelihood(draw):
    n, classes, *rest = draw(shapes(low=2, high=4, size=3))
    labels = tensor([n, *rest], "int64") * 0
    weight = draw(st.sampled_from((None, tensor([classes]) + 4)))
    scores = tensor([n, classes, *rest])
    return case(
        "NegativeLogLikelihoodLoss", scores, labels, weight, reduction=draw(st.sampled_from(REDUCTIONS)), opset=13
    )


def softmax_cross_entropy(draw):
    n, classes, *rest = draw(shapes(low=2, high=4, size=3))
    labels = tensor([n, *rest], "int64") * 0
    outputs = draw(st.integers(1, 2))
    scores = tensor([n, classes, *rest])
    reduction = draw(st.sampled_from(REDUCTIONS))
    return case(
        "SoftmaxCrossEntropyLoss", scores, labels, outputs=outputs, reduction=reduction, opset=draw(opset(12, 13))
    )


def random_(draw):
    op = draw(st.sampled_from(("RandomNormal", "RandomUniform")))
    return case(op, shape=draw(shapes(low=1)), dtype=draw(st.sampled_from((None, 1, 11))), opset=draw(opset(7, 21)))


def random_like(draw):
    op = draw(st.sampled_from(("RandomNormalLike", "RandomUniformLike", "Bernoulli")))
    x = np.full(draw(shapes()), 0.5, np.float32)
    return case(op, x, dtype=draw(st.sampled_from((None, 1, 11))), opset=draw(opset(15, 21)))


def multinomial(draw):
    x = tensor([draw(small), draw(small)])
    attributes = {"sample_size": draw(small), "dtype": draw(st.sampled_from((None, 6, 7)))}
    return case("Multinomial", x, opset=draw(opset(7, 21)), **attributes)


def string_normalizer(draw):
    x = np.array(draw(st.lists(st.sampled_from(("a", "b", "c")), min_size=1, max_size=5)), object)
    x = x[None] if draw(st.booleans()) else x
    stopwords = draw(st.sampled_from((None, ["a"], ["a", "b", "c"])))
    return case("StringNormalizer", x, stopwords=stopwords, is_case_sensitive=1, exact=False, opset=10)


def string_concat(draw):
    a, b = draw(shapes(high=2)), draw(shapes(high=1))
    b = [a[-1]] if a and b else []
    return case("StringConcat", tensor(a, "string"), tensor(b, "string"), opset=20)


def string_split(draw):
    x = np.array(draw(st.lists(st.sampled_from(("a b", "", "c d e")), min_size=1, max_size=3)), object)
    return case("StringSplit", x, delimiter=" ", outputs=2, exact=False, opset=20)


def regex_full_match(draw):
    return case("RegexFullMatch", tensor(draw(shapes()), "string"), pattern="[0-9]", opset=20)


def tf_idf(draw):
    x = tensor(draw(shapes(low=1, high=2)), "int64")
    attributes = {"max_gram_length": 1, "max_skip_count": 0, "min_gram_length": 1, "mode": "TF"}
    counts = {"ngram_counts": [0], "ngram_indexes": [0, 1, 4], "pool_int64s": [0, 1, 2]}
    return case("TfIdfVectorizer", x, **attributes, **counts, opset=9)


def affine_grid(draw):
    n, h, w, c = (draw(small) for _ in range(4))
    return case("AffineGrid", tensor([n, 2, 3]), ints(n, c, h, w), deciding=(1,), align_corners=draw(flag), opset=20)


def deform_conv(draw):
    n, c, m = (draw(st.integers(1, 2)) for _ in range(3))
    kernel = [draw(st.integers(1, 2)), draw(st.integers(1, 2))]
    size = [draw(st.integers(3, 5)), draw(st.integers(3, 5))]
    out = [s - k + 1 for s, k in zip(size, kernel, strict=True)]
    positions = kernel[0] * kernel[1]
    mask = draw(st.sampled_from((None, tensor([n, positions, *out]))))
    return case(
        "DeformConv",
        tensor([n, c, *size]),
        tensor([m, c, *kernel]),
        tensor([n, 2 * positions, *out]),
        None,
        mask,
        opset=19,
    )


def det(draw):
    size = draw(small)
    return case("Det", tensor([*draw(shapes(high=2)), size, size]), opset=draw(opset(11, 22)))


def max_unpool(draw):
    h, w = draw(small), draw(small)
    x, indices = tensor([1, 1, h, w]), np.arange(h * w).reshape(1, 1, h, w)
    return case("MaxUnpool", x, indices, kernel_shape=[2, 2], strides=[2, 2], opset=draw(opset(9, 11)))


@ort.sizes
@pytest.mark.parametrize("family", ort.families(globals()))
def test_shapes_match_onnxruntime(family, examples):
    ort.verify(family, examples)
