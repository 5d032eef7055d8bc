"""Cost at sizes: equal to that of the model inferred with these sizes, and to closed forms of whole networks."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from shapeinf import infer_shapes
from shapeinf.cost.records import FIELDS
from shapeinf.errors import Contradiction, MissingSizeError, ShapeInferenceError, UnknownNameError
from tests.vectors import ROOT as CONFORMANCE

ROOT = Path(__file__).resolve().parents[2]
DECODER = ROOT / "examples" / "decoder.onnx"
DEV = CONFORMANCE / "models" / "dev"


def amounts(table):
    return {node.name: tuple(getattr(node, name) for name in FIELDS) for node in table.nodes}


@pytest.mark.parametrize(
    ("model", "sizes"),
    [
        (DECODER, {"batch": 3, "seq": 17}),
        (ROOT / "examples" / "convnet.onnx", {"batch": 2, "height": 30, "width": 46}),
        (ROOT / "examples" / "recurrent.pbtxt", {"tokens.shape[0]": 3, "tokens.shape[1]": 5}),
        (DEV / "bert.dyn+tfopt.onnx", {"batch": 2, "seq": 7}),
        (DEV / "loop_growing_cache.os.onnx", {"batch": 2, "past": 4, "seq": 3}),
        (DEV / "unet_transpose.ts.onnx", None),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_symbolic_equals_concrete(model, sizes):
    if not model.exists():
        pytest.skip("the models are not there: set SHAPEINF_CONFORMANCE to the folder that holds them")
    cost = infer_shapes(model).cost()
    if sizes is None:
        sizes = {label: 32 for label in cost.labels.values()}
    named = {name: size for name, size in sizes.items() if "." not in name}
    concrete = (
        infer_shapes(model, bind=named)
        if named == sizes
        else infer_shapes(model, inputs={name.partition(".")[0]: list(sizes.values()) for name in sizes})
    )
    at = cost.at(sizes)
    assert amounts(at) == amounts(concrete.cost().table)
    assert at.total.flops == concrete.cost().total.flops > 0


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("seq", [1, 64, 500])
def test_closed_form_of_a_transformer(batch, seq):
    """12*d*d per token and layer, 2*seq*d of attention, and the projection to the vocabulary."""
    layers, width, vocabulary = 2, 32, 100
    each = layers * (12 * width**2 + 2 * seq * width) + width * vocabulary
    total = infer_shapes(DECODER).cost().at(batch=batch, seq=seq).total
    assert total.macs == batch * seq * each
    assert total.flops == 2 * total.macs + total.operations


def test_sums_agree():
    cost = infer_shapes(DECODER).cost()
    at = cost.at(batch=2, seq=9)
    for groups in (at.by_operator, at.by_module(), at.by_module(2), at.by_module(9)):
        for name in (*FIELDS, "flops"):
            assert sum(getattr(group, name) for group in groups.values()) == getattr(at.total, name)
        assert sum(group.nodes for group in groups.values()) == len(at.nodes)
    assert cost.by_operator["MatMul"].macs == cost.total.macs


@pytest.mark.parametrize(
    ("sizes", "error"),
    [
        ({"batch": 1}, MissingSizeError),
        ({"batsh": 1}, UnknownNameError),
        ({"batch": -1, "seq": 1}, ShapeInferenceError),
    ],
)
def test_wrong_sizes_are_errors(sizes, error):
    with pytest.raises(error):
        infer_shapes(DECODER).cost().at(sizes)


def test_a_size_that_violates_the_contract_names_the_constraint():
    with pytest.raises(Contradiction, match="concatenation"):
        infer_shapes(ROOT / "examples" / "convnet.onnx").cost().at(batch=1, height=31, width=32)


def test_sizes_below_the_least_infer_again():
    at = infer_shapes(DECODER).cost().at(batch=0, seq=4)
    assert at.total.macs == 0


RESIZED = """<ir_version: 8, opset_import: ["" : 18]> g (float[n, 3, h, w] x, int64[4] like) => (y) {
  y = Resize<mode="linear">(x, , , like) }"""


def test_an_axis_of_equal_sizes_counts_as_resized():
    """The same formula for all sizes, also where the old size happens to be the new one."""
    model = onnx.parser.parse_model(RESIZED)
    cost = infer_shapes(model, values={"like": ["n", 3, 8, 8]}).cost()
    sizes = {"n": 2, "h": 8, "w": 5}
    concrete = infer_shapes(model, values={"like": [2, 3, 8, 8]}, bind=sizes).cost()
    assert cost.at(sizes).total.macs == concrete.total.macs == 4 * 2 * 3 * 8 * 8


NETWORK = """7767517
3 3
pnnx.Input      a 0 1 0 #0=(?,5,?)f32
pnnx.Input      b 0 1 1 #1=(5,?)f32
pnnx.Expression e 2 1 0 1 2 expr=add(@0,@1) #0=(?,5,?)f32 #1=(5,?)f32
"""


@pytest.mark.parametrize("left, right", [(1, 7), (7, 1), (7, 7)])
def test_an_expression_counts_its_broadcast(left, right):
    cost = infer_shapes(NETWORK).cost()
    at = cost.at({"a.shape[0]": 3, "a.shape[2]": left, "b.shape[1]": right})
    assert at.total.operations == 3 * 5 * 7


def test_what_is_known_of_a_node_is_counted() -> None:
    """A branch multiplies a matrix of unknown rows: the other branch is a lower bound of the maximum of both."""
    weights = ", ".join(["1"] * 64)
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
        g (float[n, 16] x, int64[2] times, bool p) => (float[a, b] y) <float[16, 4] w = {{{weights}}}> {{
          y = If(p) <then_branch = t () => (float[n, 4] r) {{ r = MatMul(x, w) }},
            else_branch = e () => (float[c, 4] q) {{ z = Tile(x, times) q = MatMul(z, w) }}>
        }}"""
    at = infer_shapes(onnx.parser.parse_model(text)).cost().at(n=8)
    assert (at.total.macs, at.total.parameters, at.at_least) == (8 * 16 * 4, 64, True)
    (item,) = at.uncounted
    assert item.amount == "rest" and "has no upper bound" in item.reason
