"""Tables of rotations, positions and words limit the indices that a graph computes: as onnxruntime refuses them."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from shapeinf import infer_shapes
from tests.engine.runtime import parsed, run

HEADER = '"" : 23, "com.microsoft" : 1'
PLACES = """ends = Shape<start = 1, end = 2>(x) zero = Constant<value_int = 0>() one = Constant<value_int = 1>()
    end = Squeeze(ends) range = Range(zero, end, one) first = Constant<value_ints = [0]>()
    places = Unsqueeze(range, first) small = Cast<to = 6>(places)"""


def table(name: str, rows: int, columns: int) -> str:
    return f"float[{rows},{columns}] {name} = {{{', '.join(['1'] * rows * columns)}}}"


def rotated(node: str, positions: str = "") -> str:
    return f"g (float[1,n,8] x) => (y) <{table('c', 8, 2)}{positions}> {{ {PLACES} y = {node} }}"


def embedded(inputs: str) -> str:
    tables = ", ".join([table("w", 8, 2), table("p", 20, 2), "float[2] v = {1, 1}"])
    layer = f"y, m = com.microsoft.EmbedLayerNormalization({inputs})"
    return f"g (int32[1,n] x) => (y) <{tables}> {{ {PLACES} {layer} }}"


OFFSET = "com.microsoft.RotaryEmbedding<num_heads = 2>(x, o, c, c)"
GROWING = {
    "rotary, positions": rotated("RotaryEmbedding<num_heads = 2>(x, c, c, places)"),
    "rotary of onnxruntime, positions": rotated("com.microsoft.RotaryEmbedding<num_heads = 2>(x, places, c, c)"),
    "rotary of onnxruntime, offset 0": rotated(OFFSET, ", int64[1] o = {0}"),
    "rotary of onnxruntime, offset 3": rotated(OFFSET, ", int64[1] o = {3}"),
    "rotary of onnxruntime, negative offset": rotated(OFFSET, ", int64[1] o = {-1}"),
    "embedding, words": embedded("small, , w, p, , v, v"),
    "embedding, segments": embedded("x, small, w, p, w, v, v"),
    "embedding, positions": embedded("x, , p, w, , v, v, , small"),
    "embedding, no positions": embedded("x, , p, w, , v, v"),
}


def runs(model: onnx.ModelProto, **feeds: np.ndarray) -> bool:
    try:
        run(model, feeds)
    except Exception as error:  # onnxruntime has no class of its own for what fails at run time
        assert "ode. Name" in str(error), error
        return False
    return True


@pytest.mark.parametrize("text", GROWING.values(), ids=list(GROWING))
def test_a_table_limits_positions(text):
    model = parsed(text, header=HEADER)
    contract = infer_shapes(model).contract
    dtype = np.int32 if "int32[1,n]" in text else np.float32
    for n in (1, 5, 6, 8, 9, 20, 21):
        x = np.zeros((1, n, 8) if dtype is np.float32 else (1, n), dtype)
        assert contract.check(n=n).verdict is runs(model, x=x), n


def test_a_quantized_table_limits_indices():
    """onnxruntime reads behind the table. Its documentation calls an index out of bounds an error."""
    data = f"uint8[8,16] d = {{{', '.join(['0'] * 128)}}}, {table('s', 8, 1)}"
    node = "com.microsoft.GatherBlockQuantized<block_size = 32, bits = 4>(d, places, s)"
    text = f"g (float[1,n] x) => (y) <{data}> {{ {PLACES} y = {node} }}"
    assert [c.text for c in infer_shapes(parsed(text, header=HEADER)).contract] == ["n <= 8"]


@pytest.mark.parametrize(("batch", "samples", "steps"), [(4, 4, 9), (4, 3, 9), (130, 130, 20), (130, 129, 20)])
def test_tuples_of_ranges_are_limited_at_any_size(batch, samples, steps):
    """The masks that torch exports: `mask[samples, positions]`, with more indices than are listed."""
    model = parsed(
        """g (float[b,s] x, float[m,s] mask) => (y) {
        bs = Shape<start = 0, end = 1>(x) ss = Shape<start = 1, end = 2>(x) zero = Constant<value_int = 0>()
        one = Constant<value_int = 1>() two = Constant<value_ints = [-1]>() first = Constant<value_ints = [1]>()
        nb = Squeeze(bs) ns = Squeeze(ss) rb = Range(zero, nb, one) rs = Range(zero, ns, one)
        column = Unsqueeze(rb, first) both = Concat<axis = 0>(bs, ss)
        eb = Expand(column, both) es = Expand(rs, both) ib = Unsqueeze(eb, two) is = Unsqueeze(es, two)
        tuples = Concat<axis = -1>(ib, is) y = GatherND(mask, tuples) }"""
    )
    result = infer_shapes(model)
    assert [c.text for c in result.contract] == ["b <= m"]
    feeds = {"x": np.zeros((batch, steps), np.float32), "mask": np.zeros((samples, steps), np.float32)}
    assert result.contract.check(b=batch, s=steps, m=samples).verdict is runs(model, **feeds)


@pytest.mark.parametrize("columns", [4200, 4199])
def test_an_empty_part_is_no_position_of_the_tuples(columns):
    """Two tensors, [n, 0] and [n, 2], whose tuples are (2*i + 1, 2*i), more than are listed."""
    model = parsed(
        """g (float[n] x, int64[n,0] none, uint8[r,c] d) => (y) {
        ns = Shape(x) n = Squeeze(ns) zero = Constant<value_int = 0>() two = Constant<value_int = 2>()
        end = Mul(n, two) last = Constant<value_ints = [1]>() step = Constant<value_ints = [1, 0]>()
        evens = Range(zero, end, two) column = Unsqueeze(evens, last) pairs = Add(column, step)
        tuples = Concat<axis = -1>(none, pairs) y = GatherND(d, tuples) }"""
    )
    feeds = {
        "x": np.zeros(2100, np.float32),
        "none": np.zeros((2100, 0), np.int64),
        "d": np.zeros((4200, columns), np.uint8),
    }
    assert runs(model, **feeds)
    assert infer_shapes(model).contract.check(n=2100, r=4200, c=columns).verdict is not False


def grouped(
    head: int, rotary: int, rows: int, width: int, operands: str, past: int = 2, new: int = 2, packed: bool = False
) -> onnx.ModelProto:
    """A GroupQueryAttention of two heads with these `operands`: q, k, v, pk, pv, l, t, c, d, p."""
    caches = f", float[1,1,{past},{head}] pk, float[1,1,{past},{head}] pv" if past else ""
    keys = "" if packed else f", float[1,{new},{head}] k, float[1,{new},{head}] v"
    total = past + new
    constants = (
        f"int32[1] l = {{{total - 1}}}, int32[1] t = {{{total}}}, int64[1,2] p = {{0, 7}}, int64[1,2] o = {{0, 8}}"
    )
    return parsed(
        f"g (float[1,{new},{head * (4 if packed else 2)}] q{keys}{caches}) => (y)"
        f"<{table('c', rows, width)}, {table('d', rows, width)}, {constants}> {{ y, a, b = "
        f"com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1, do_rotary = {rotary}>({operands}) }}",
        header=HEADER,
    )


ALL = "q, k, v, pk, pv, l, t, c, d"
NONE = "q, k, v, pk, pv, l, t"
GROUPED = [
    (16, 1, 8, 8, ALL),
    (16, 1, 4, 8, ALL),
    (16, 1, 3, 8, ALL),
    (16, 0, 3, 8, ALL),
    (16, 0, 8, 3, ALL),
    (16, 1, 8, 4, ALL),
    (16, 1, 8, 16, ALL),
    (32, 1, 8, 8, ALL),
    (32, 1, 8, 12, ALL),
    (8, 0, 8, 8, ALL),
    (24, 1, 8, 8, ALL),
    (24, 0, 8, 8, NONE),
    (4, 0, 8, 8, NONE),
    (16, 1, 8, 8, NONE),
    (16, 1, 8, 8, "q, k, v, pk, pv, l, t, c"),
    (16, 0, 8, 8, "q, k, v, pk, pv, l, t, , d"),
    (16, 1, 8, 8, f"{ALL}, p"),
    (16, 1, 8, 8, f"{ALL}, o"),
    (16, 0, 8, 8, f"{ALL}, o"),
    (16, 1, 2, 8, "q, k, v, , , l, t, c, d", 0),
    (16, 1, 1, 8, "q, k, v, , , l, t, c, d", 0),
    (16, 1, 8, 8, "q, , , pk, pv, l, t, c, d", 2, 2, True),
    (4, 0, 8, 8, "q, , , pk, pv, l, t", 2, 2, True),
]


@pytest.mark.parametrize("case", GROUPED, ids=str)
def test_caches_of_grouped_attention(case):
    model = grouped(*case)
    feeds = {
        v.name: np.zeros([d.dim_value for d in v.type.tensor_type.shape.dim], np.float32) for v in model.graph.input
    }
    assert infer_shapes(model).contract.check().verdict is runs(model, **feeds)
