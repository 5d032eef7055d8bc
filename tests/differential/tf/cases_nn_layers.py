"""Activations' gradients, losses, ranking, sampling, recurrent cells, fused convolutions."""

import numpy as np

from tests.differential.tf.case import Case, Runtime


def text(*dims, dtype="float32"):
    return f"{dtype}{list(dims)}"


def activations():
    for op in ("ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad"):
        for shape in ("[2, 5]", "[]", "[0, 3, 2]"):
            yield Case(op, (f"float32{shape}", f"float32{shape}"))


def losses():
    for shape in ("[2, 5, 3]", "[]", "[0, 4]"):
        yield Case("L2Loss", (f"float32{shape}",))
    for features, labels in (([5, 4], [5, 4]), ([1, 4], [5, 4]), ([5, 4], [1, 4]), ([5, 4], [5, 1]), ([4], [5, 4])):
        yield Case("SoftmaxCrossEntropyWithLogits", (text(*features), text(*labels)))
    yield Case("SparseSoftmaxCrossEntropyWithLogits", ("float32[5, 4]", np.zeros(5, np.int32)))
    yield Case("SparseSoftmaxCrossEntropyWithLogits", ("float32[1, 4]", np.zeros(1, np.int64)))
    yield Case("SparseSoftmaxCrossEntropyWithLogits", ("float16[0, 4]", np.zeros(0, np.int64)))
    yield Case("InTopK", ("float32[5, 4]", np.zeros(5, np.int32)), {"k": 2})
    yield Case("InTopK", ("float32[0, 4]", np.zeros(0, np.int32)), {"k": 9})
    yield Case("InTopKV2", ("float32[5, 4]", np.zeros(5, np.int32), np.array(2, np.int32)))
    lengths = np.array([6, 4], np.int32)
    labels = np.array([[0, 0], [0, 1], [1, 0]]), np.array([1, 0, 2], np.int32)
    yield Case("CTCLoss", ("float32[6, 2, 5]", *labels, lengths))
    for merge in (False, True):
        merged = {"merge_repeated": merge}
        yield Case("CTCGreedyDecoder", ("float32[6, 2, 5]", lengths), merged, True)
        for paths in (1, 3):
            beams = {"beam_width": 4, "top_paths": paths, **merged}
            yield Case("CTCBeamSearchDecoder", ("float32[6, 2, 5]", lengths), beams, True)


def ranking():
    for shape, k in ((["7"], 3), (["2", "7"], 7), (["2", "0", "7"], 1), (["2", "3"], 0)):
        x = f"float32[{', '.join(shape)}]"
        count = np.array(k, np.int32)
        yield Case("TopKV2", (x, count))
        yield Case("TopKV2", (x, Runtime(count)), {"sorted": False}, True)
    for shape in ("[4, 5, 6]", "[9]", "[2, 300]"):
        for aggregate in (True, False):
            attributes = {"k": 2, "aggregate_to_topk": aggregate}
            yield Case("ApproxTopK", (f"float32{shape}",), attributes, not aggregate)
    for n in (0, 4):
        for index in (np.array(n, np.int32), Runtime(np.array(n, np.int32))):
            yield Case("NthElement", ("float32[2, 3, 5]", index), {"reverse": n > 0})
    yield Case("NthElement", ("float32[5]", np.array(1, np.int32)))
    for shape in ("[2, 5]", "[1, 1]", "[3, 0]"):
        yield Case("IsotonicRegression", (f"float32{shape}",))


def sampling():
    classes = np.array([[0, 1], [2, 3], [4, 0]])
    counts = {"num_true": 2, "num_sampled": 5, "unique": True, "seed": 1}
    for op in ("UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler"):
        for unique in (True, False):
            yield Case(op, (classes,), {**counts, "unique": unique, "range_max": 9})
            yield Case(op, (Runtime(classes),), {**counts, "unique": unique, "range_max": 9})
    yield Case("ThreadUnsafeUnigramCandidateSampler", (classes,), {**counts, "range_max": 9})
    yield Case("AllCandidateSampler", (classes,), counts)
    yield Case("FixedUnigramCandidateSampler", (classes,), {**counts, "range_max": 6, "unigrams": [1.0] * 6})
    for sampled in (np.array([0, 1, 9]), np.array([0, 0, 1, 2, 3, 4]), np.array([8])):
        yield Case("ComputeAccidentalHits", (classes, sampled), {"num_true": 2}, True)


def recurrent_cells():
    batch, inputs, hidden, steps = 3, 5, 4, 6
    state, gates = text(batch, hidden), text(inputs + hidden, 4 * hidden)
    peepholes, biases = [text(hidden)] * 3, text(4 * hidden)
    for peephole in (False, True):
        attributes = {"use_peephole": peephole}
        operands = (text(batch, inputs), state, state, gates, *peepholes, biases)
        yield Case("LSTMBlockCell", operands, attributes)
        yield Case("LSTMBlockCellGrad", (*operands, *[state] * 8), attributes)
        sequence = (text(steps, batch, inputs), state, state, gates, *peepholes, biases)
        length = np.array(steps)
        for op in ("BlockLSTM", "BlockLSTMV2"):
            yield Case(op, (length, *sequence), attributes)
            yield Case(op, (Runtime(np.array(2)), *sequence), attributes)
        states = [text(steps, batch, hidden)] * 9
        for op in ("BlockLSTMGrad", "BlockLSTMGradV2"):
            yield Case(op, (length, *sequence, *states), attributes)
    weights = (text(inputs + hidden, 2 * hidden), text(inputs + hidden, hidden), text(2 * hidden), text(hidden))
    yield Case("GRUBlockCell", (text(batch, inputs), state, *weights))
    yield Case("GRUBlockCellGrad", (text(batch, inputs), state, *weights, *[state] * 4))


def fused_convolutions():
    paddings = np.array([[0, 0], [1, 2], [0, 3], [0, 0]], np.int32)
    size = np.array([10, 12], np.int32)
    image, weights = "float32[2, 7, 9, 4]", "float32[3, 2, 4, 6]"
    for padding in ("VALID", "SAME"):
        for stride in (1, 2):
            attributes = {"mode": "REFLECT", "strides": [1, stride, stride, 1], "padding": padding}
            for pads in (paddings, Runtime(paddings)):
                is_data = isinstance(pads, Runtime)
                yield Case("FusedPadConv2D", (image, pads, weights), attributes, is_data)
                yield Case("FusedResizeAndPadConv2D", (image, size, pads, weights), attributes, is_data)


CASES = [
    *activations(),
    *losses(),
    *ranking(),
    *sampling(),
    *recurrent_cells(),
    *fused_convolutions(),
]
