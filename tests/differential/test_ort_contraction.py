"""Products, reductions, normalization and recurrent layers, against onnxruntime."""

import numpy as np
import pytest
from hypothesis import strategies as st

from tests.differential import ort
from tests.differential.cases import case, ints, tensor
from tests.differential.draws import axes_of, axis_of, broadcastable, flag, opset, shapes


def _matrices(draw):
    """Operands of a product, with batches that broadcast and vectors among them."""
    m, k, n = (draw(st.integers(1, 4)) for _ in range(3))
    left, right = broadcastable(draw, 2, high=2)
    a = draw(st.sampled_from(([*left, m, k], [*left, m, k], [k])))
    b = draw(st.sampled_from(([*right, k, n], [*right, k, n], [k])))
    return a, b


def matmul(draw):
    a, b = _matrices(draw)
    return case("MatMul", tensor(a), tensor(b), opset=draw(opset(7, 9, 13)))


def matmul_integer(draw):
    a, b = _matrices(draw)
    return case("MatMulInteger", tensor(a, "uint8"), tensor(b, "uint8"), opset=10)


def gemm(draw):
    m, k, n = (draw(st.integers(0, 4)) for _ in range(3))
    left, right = draw(flag), draw(flag)
    a, b = [k, m] if left else [m, k], [n, k] if right else [k, n]
    bias = draw(st.sampled_from((None, [m, n], [n], [1, n], [m, 1], [])))
    attributes = {"transA": left, "transB": right}
    version = draw(opset(11, 13))
    return case("Gemm", tensor(a), tensor(b), None if bias is None else tensor(bias), **attributes, opset=version)


def einsum(draw):
    sizes = {letter: draw(st.integers(1, 4)) for letter in "abijk"}
    equations = (
        "ij,jk->ik",
        "bij,bjk->bik",
        "ij->ji",
        "ii->i",
        "ij,ij->",
        "i,j->ij",
        "ij,jk",
        "bij->bi",
        "bi,bj,bk->bijk",
    )
    dotted = ("...ij,...jk->...ik", "...i->...", "...ij->...ji")
    equation = draw(st.sampled_from(equations + dotted))
    batch = [sizes["a"], sizes["b"]] if "..." in equation else []
    terms = equation.replace("...", "").split("->")[0].split(",")
    return case("Einsum", *(tensor([*batch, *(sizes[i] for i in term)]) for term in terms), equation=equation, opset=12)


REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")


def reduction_by_attribute(draw):
    shape = draw(shapes())
    axes = draw(st.sampled_from((None, draw(axes_of(len(shape))))))
    op = "Reduce" + draw(st.sampled_from(REDUCTIONS))
    version = draw(opset(7, 11)) if op == "ReduceSum" else draw(opset(7, 11, 13))
    if version < 11 and axes:
        axes = sorted(a % len(shape) for a in axes)
    return case(op, tensor(shape) + 4, axes=axes, keepdims=draw(st.sampled_from((None, 0, 1))), opset=version)


def reduction_by_input(draw):
    shape = draw(shapes())
    axes = draw(st.sampled_from((None, ints(*draw(axes_of(len(shape)))))))
    op = "Reduce" + draw(st.sampled_from(REDUCTIONS))
    version = draw(opset(13, 18, 20)) if op == "ReduceSum" else draw(opset(18, 20))
    attributes = {
        "keepdims": draw(st.sampled_from((None, 0, 1))),
        "noop_with_empty_axes": draw(st.sampled_from((None, 0, 1))),
    }
    return case(op, tensor(shape) + 4, axes, deciding=(1,), opset=version, **attributes)


def reduction_of_nothing(draw):
    """No axis is counted from the end here: onnxruntime 1.31 does not reduce those of an empty tensor."""
    shape = draw(shapes(low=1, least=0, size=2))
    axes = ints(*(a % len(shape) for a in draw(axes_of(len(shape)))))
    return case("ReduceSum", tensor(shape), axes, deciding=(1,), keepdims=draw(flag), opset=draw(opset(13, 21)))


def arg(draw):
    shape = draw(shapes(low=1))
    op = draw(st.sampled_from(("ArgMax", "ArgMin")))
    at = draw(st.sampled_from((None, draw(axis_of(len(shape))))))
    return case(op, tensor(shape), axis=at, keepdims=draw(st.sampled_from((None, 0, 1))), opset=draw(opset(11, 12, 13)))


def _channels(draw, low=2):
    shape = draw(shapes(low=low))
    return shape, [tensor([shape[1]]) + 4 for _ in range(4)]


def batch_normalization(draw):
    shape, statistics = _channels(draw)
    return case("BatchNormalization", tensor(shape), *statistics, opset=draw(opset(7, 9, 14, 15)))


def batch_normalization_in_training(draw):
    shape, statistics = _channels(draw, low=3)
    return case("BatchNormalization", tensor(shape), *statistics, outputs=3, training_mode=1, opset=draw(opset(14, 15)))


def instance_normalization(draw):
    shape, (scale, bias, *_) = _channels(draw, low=3)
    return case("InstanceNormalization", tensor(shape), scale, bias, opset=draw(opset(7, 21)))


def layer_normalization(draw):
    shape = draw(shapes(low=1))
    at = draw(axis_of(len(shape)))
    bias = draw(st.sampled_from((None, tensor(shape[at:]))))
    return case(
        "LayerNormalization",
        tensor(shape),
        tensor(shape[at:]),
        bias,
        axis=at,
        outputs=draw(st.integers(1, 3)),
        opset=17,
    )


def rms_normalization(draw):
    shape = draw(shapes(low=1))
    at = draw(axis_of(len(shape)))
    return case("RMSNormalization", tensor(shape), tensor(shape[at:]), axis=at, opset=23)


def group_normalization(draw):
    groups, each = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    shape = [2, groups * each, *draw(shapes(low=1, high=2))]
    scale = tensor([groups * each])
    return case("GroupNormalization", tensor(shape), scale, scale, num_groups=groups, opset=21)


def other_normalization(draw):
    op = draw(st.sampled_from(("LRN", "MeanVarianceNormalization", "LpNormalization")))
    return case(op, tensor(draw(shapes(rank=4))), size=3 if op == "LRN" else None, opset=draw(opset(9, 13)))


def recurrent(draw):
    op = draw(st.sampled_from(("RNN", "GRU", "LSTM")))
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    steps, batch, size, hidden = (draw(st.integers(1, 3)) for _ in range(4))
    direction = draw(st.sampled_from((None, "forward", "reverse", "bidirectional")))
    count = 2 if direction == "bidirectional" else 1
    operands = [
        tensor([steps, batch, size]),
        tensor([count, gates * hidden, size]),
        tensor([count, gates * hidden, hidden]),
    ]
    bias = draw(st.sampled_from((None, tensor([count, 2 * gates * hidden]))))
    lengths = draw(st.sampled_from((None, np.full(batch, steps, np.int32))))
    start = draw(st.sampled_from((None, tensor([count, batch, hidden]))))
    outputs = draw(st.integers(1, 3 if op == "LSTM" else 2))
    attributes = {"hidden_size": hidden, "direction": direction}
    return case(op, *operands, bias, lengths, start, outputs=outputs, opset=draw(opset(7, 14, 21)), **attributes)


@ort.sizes
@pytest.mark.parametrize("family", ort.families(globals()))
def test_shapes_match_onnxruntime(family, examples):
    ort.verify(family, examples)
