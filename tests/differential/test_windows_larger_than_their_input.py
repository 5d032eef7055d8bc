"""Windows over all small axes, against onnxruntime: their number, and the sizes that are rejected.

Every query about a size that a window does not fit into has the same answer in all parts of shapeinf.
"""

import itertools
import random

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from shapeinf import infer_shapes
from shapeinf.checks import check
from shapeinf.expr import evaluate
from tests.differential import ort

FEW = 60
MOST = 10
SIZES = range(1, MOST + 1)
MS = "com.microsoft"

# Operator, domain, opset, whether it has dilations, whether it has ceil_mode.
POOLS = [
    ("MaxPool", "", 8, False, False),
    ("MaxPool", "", 12, True, True),
    ("MaxPool", "", 22, True, True),
    ("AveragePool", "", 7, False, False),
    ("AveragePool", "", 11, False, True),
    ("AveragePool", "", 22, True, True),
    ("LpPool", "", 11, False, False),
    ("LpPool", "", 22, True, True),
    ("NhwcMaxPool", MS, 17, True, True),
]
CONVOLUTIONS = [
    ("Conv", "", 11, True, False),
    ("Conv", "", 22, True, False),
    ("ConvInteger", "", 10, True, False),
    ("FusedConv", MS, 17, True, False),
    ("ConvTranspose", "", 11, True, False),
]


def cases():
    """All windows of up to 4 elements and strides up to 4; SAME padding only if runtimes follow the definition."""
    for operator in (*POOLS, *CONVOLUTIONS):
        name, _, _, dilates, ceils = operator
        spread = (1, 2) if dilates else (1,)
        for k, s, d, ceil in itertools.product(range(1, 5), range(1, 5), spread, (0, 1) if ceils else (0,)):
            pads = (
                itertools.product(range(min(k, 3)), repeat=2)
                if "Pool" in name
                else itertools.product((0, 1, 2), (0, 2))
            )
            window = {"kernel_shape": [k, 1], "strides": [s, 1], "dilations": [d, 1], "ceil_mode": ceil}
            for before, after in pads:
                yield operator, {**window, "pads": [before, 0, after, 0]}
            for auto in ("VALID", "SAME_UPPER", "SAME_LOWER") if d == 1 and s <= k else ("VALID",):
                yield operator, {**window, "auto_pad": auto}


ALL = list(cases())
SAMPLE = random.Random(0).sample(ALL, FEW)


def model_of(operator, attributes):
    op, domain, opset, dilates, ceils = operator
    supported = {k: v for k, v in attributes.items() if (k != "dilations" or dilates) and (k != "ceil_mode" or ceils)}
    bytes_of = op in ("ConvInteger", "NhwcMaxPool")
    kind = TensorProto.UINT8 if bytes_of else TensorProto.FLOAT
    x = [1, "h", 1, 16] if op == "NhwcMaxPool" else [1, 1, "h", 1]
    inputs = [helper.make_tensor_value_info("x", kind, x)]
    constants = []
    if "Conv" in op:
        shape = [1, 1, *attributes["kernel_shape"]]
        constants.append(helper.make_tensor("w", kind, shape, [1] * int(np.prod(shape))))
    node = helper.make_node(op, ["x", *("w" for _ in constants)], ["y"], domain=domain, **supported)
    graph = helper.make_graph([node], "g", inputs, [helper.make_empty_tensor_value_info("y")], constants)
    opsets = [helper.make_opsetid("", opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def real_sizes(model):
    """The shape of the output at each size of the axis; None if onnxruntime rejects the size."""
    session = ort.session_of(model)
    (info,) = session.get_inputs()
    kind = np.uint8 if "uint8" in info.type else np.float32
    shapes = {}
    for h in SIZES:
        try:
            (out,) = session.run(None, {"x": np.ones([h if d == "h" else d for d in info.shape], kind)})
            shapes[h] = out.shape
        except Exception:  # onnxruntime has no class of its own for what fails at run time
            shapes[h] = None
    return shapes


def sizes_by_evaluation(result, h):
    return tuple(evaluate(d, {"h": h}) for d in result.tensors["y"].shape)


def sizes_by_program(result, h):
    return tuple(result.program()(h=h)["y"].tolist()[0])


def sizes_by_masked_program(result, h):
    masked = result.program().masked(h=[h, MOST])["y"][0]
    return None if np.ma.getmaskarray(masked).any() else tuple(masked.tolist())


def compared(operator, attributes):
    model = model_of(operator, attributes)
    ranged = infer_shapes(model, dims={"h": (1, MOST)})
    assuming = infer_shapes(model)
    for h, real in real_sizes(model).items():
        for result in (ranged, assuming):
            assert result.contract.check(h=h).verdict is (real is not None), (h, real)
            assert (h in result.contract.solve("h", [h])) is (real is not None), (h, real)
            assert sizes_by_masked_program(result, h) == real, (h, real)
            if real is not None:
                assert sizes_by_program(result, h) == real, (h, real)
                assert result.program()(h=h).peak.tolist() == [result.memory().peak.at(h=h).bytes]
        if real is not None and not ranged.engine.store.breaks_assumption({ranged.engine.scope.symbol("h"): (h, h)}):
            assert sizes_by_evaluation(ranged, h) == real, (h, real)
    taken = [c.message for c in ranged.contract if c.kind == "assumption"]
    assert taken in ([], ["the input is assumed to be long enough for one window"])


def named(case):
    (op, _, opset, _, _), attributes = case
    return f"{op}-{opset}-" + "-".join(str(v).replace(" ", "") for v in attributes.values())


@pytest.mark.parametrize("case", [pytest.param(c, id=named(c)) for c in SAMPLE])
def test_a_window_larger_than_its_input(case):
    compared(*case)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(16))
def test_every_window_larger_than_its_input(part):
    for case in ALL[part::16]:
        compared(*case)


STACKS = [[(2, 2)], [(3, 2)], [(2, 2), (3, 2)], [(3, 3), (2, 2)], [(5, 2)], [(2, 2), (2, 2)]]


def squeezed(stack):
    """A chain of pools, after which only one row may remain."""
    names = ["x", *(f"p{i}" for i in range(len(stack)))]
    nodes = [
        helper.make_node("MaxPool", [names[i]], [names[i + 1]], kernel_shape=[k, 1], strides=[s, 1])
        for i, (k, s) in enumerate(stack)
    ]
    nodes.append(helper.make_node("Squeeze", [names[-1], "axis"], ["y"], "squeezed"))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, "h", 8])
    axis = helper.make_tensor("axis", TensorProto.INT64, [1], [2])
    graph = helper.make_graph(nodes, "g", [x], [helper.make_empty_tensor_value_info("y")], [axis])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("stack", STACKS, ids=str)
def test_assumptions_are_not_reported_as_preconditions(stack):
    model = squeezed(stack)
    session = ort.session_of(model)
    legal = []
    for h in range(1, 20):
        try:
            session.run(None, {"x": np.ones((1, 4, h, 8), np.float32)})
            legal.append(h)
        except Exception:  # onnxruntime has no class of its own for what fails at run time
            continue
    result = infer_shapes(model, declared="check")
    contract = result.contract
    assert list(contract.solve("h", range(1, 20))) == legal
    assert all(c.holds({"h": h}) for c in contract if c.kind != "assumption" for h in legal)
    (diagnostic,) = [f for f in check(result) if f.code == "C101"]
    low, high = legal[0], legal[-1]
    assert diagnostic.message.endswith(
        f"can only be {low} to {high}" if low < high - 1 else f"can only be {high} or {low}"
    )


# Axes that a window does not fit into, and later nodes or declarations that fix their size to 1.
SINGLE = {
    "a later sum": """g (float[1, 4, h, 8] x, float[1, 4, 1, 8] w) => (y, z)
      { y = MaxPool<kernel_shape = [2, 1], strides = [2, 1]>(x)  z = Concat<axis = 1>(x, w) }""",
    "a later shape": """g (float[1, 4, h, 8] x) => (y, z) <int64[2] row = {4, 8}>
      { y = AveragePool<kernel_shape = [2, 1], strides = [2, 1]>(x)  z = Reshape(x, row) }""",
    "in a branch": """g (bool c, float[1, 4, h, 8] x) => (y, z) { z = Relu(x)
      y = If(c) <then_branch = a () => (p) { p = MaxPool<kernel_shape = [2, 1], strides = [2, 1]>(x) },
                 else_branch = b () => (q) { q = Relu(x) }> }""",
}


@pytest.mark.parametrize("text", SINGLE.values(), ids=SINGLE)
def test_assumptions_violate_nothing(text):
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>\n{text}')
    session = ort.session_of(model)
    feeds = {"x": np.ones((1, 4, 1, 8), np.float32), "w": np.ones((1, 4, 1, 8), np.float32), "c": np.array(True)}
    y, _ = session.run(["y", "z"], {i.name: feeds[i.name] for i in session.get_inputs()})
    for mode in ("best", "strict"):
        result = infer_shapes(model, mode=mode)
        assert not result.diagnostics
        assert result.contract.check(h=1).verdict is True
        assert ort.contains(result, result.tensors["y"].shape, y.shape, {"h": 1}, False)
