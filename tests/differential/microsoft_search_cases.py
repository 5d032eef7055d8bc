"""Cases of loops that generate tokens, with the smallest decoder that ONNX Runtime accepts as a GPT."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tests.differential.single_node import Case, Known, runtime_values

WORDS, HEADS, WIDTH = 11, 1, 2


def _tensor(name, dims, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, dims)


def _decoder():
    """A decoder whose scores depend only on the last token, and whose caches grow with the tokens."""
    random = np.random.default_rng(0)
    constants = {
        "table": random.random((WORDS, WORDS), dtype=np.float32),
        "features": random.random((WORDS, 2 * HEADS * WIDTH), dtype=np.float32),
        "split": np.array([0, 0, 2, HEADS, WIDTH]),
    }
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["logits"]),
        helper.make_node("Gather", ["features", "input_ids"], ["flat"]),
        helper.make_node("Reshape", ["flat", "split"], ["heads"]),
        helper.make_node("Transpose", ["heads"], ["new"], perm=[2, 0, 3, 1, 4]),
        helper.make_node("Concat", ["past_0", "new"], ["present_0"], axis=3),
    ]
    ids = [_tensor(n, ["b", "s"], TensorProto.INT32) for n in ("input_ids", "position_ids")]
    mask = _tensor("attention_mask", ["b", "t"], TensorProto.INT32)
    past = _tensor("past_0", [2, "b", HEADS, "p", WIDTH])
    outputs = [_tensor("logits", ["b", "s", WORDS]), _tensor("present_0", [2, "b", HEADS, "t", WIDTH])]
    held = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    return helper.make_graph(nodes, "decoder", [*ids, mask, past], outputs, held)


def i32(value):
    return runtime_values(value, dtype=np.int32)


def known(value):
    return Known(value, dtype=np.int32)


GPT = {"decoder": _decoder(), "eos_token_id": 0, "pad_token_id": 0, "vocab_size": WORDS}
ONES = runtime_values(1, dtype=np.float32)

SEARCH_CASES = [
    Case("BeamSearch", ("i[2,5]", known(12), known(1), known(4), known(3), ONES), GPT, 3),
    Case("BeamSearch", ("i[2,5]", i32(12), i32(1), i32(4), i32(3), ONES), GPT, 3, data=True),
    Case(
        "BeamSearch", ("i[2,5]", known(12), known(1), known(4), known(3), ONES), {**GPT, "vocab_size": -1}, 3, data=True
    ),
    Case("GreedySearch", ("i[2,5]", known(12)), GPT),
    Case("GreedySearch", ("i[2,5]", i32(12)), GPT, data=True),
    Case("Sampling", ("i[2,5]", known(12)), {**GPT, "top_p": 0.5}),
]
