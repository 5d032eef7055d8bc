"""Schema violations: each cause once, in nodes, bodies and functions, with the repair; no runtime loads these models.

`tests/differential/test_definitions.py` breaks the definition of every operator against onnx and ONNX Runtime; here are
what that sweep does not have: causes in graphs of several nodes, bodies, functions and names. Each model below is
refused by ONNX Runtime, but for those that it loads, which have no violation.
"""

import onnx
import onnxruntime
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, parser

from shapeinf import ShapeError, infer_shapes
from shapeinf.checks import check
from shapeinf.cli.main import main
from shapeinf.errors import ShapeInferenceError
from tests.vectors import ROOT

FOLDER = ROOT / "findings3"
HEAD = "float[n, 4] x, float16[n, 4] h, float16[4] w, bool c, int64 m"


def model(body, opset=21, head=HEAD, outputs="float[n, 4] y", functions=""):
    domains = f'"" : {opset}' + (', "my" : 1' if functions else "")
    text = f"<ir_version: 10, opset_import: [{domains}]> g ({head}) => ({outputs}) {{ {body} }} {functions}"
    return parser.parse_model(text)


def loads(proto):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return "NOT_IMPLEMENTED" in str(error)
    return True


def violations(proto):
    return [(note.code, note.subject, note.message, note.help) for note in infer_shapes(proto).diagnostics]


THEN = "then_branch = t () => (float[n, 4] p)"
BROKEN = {
    "half of a model": (
        "a = Add(x, w) y = Mul(a, w)",
        [("S106", "a", "operands of one type (T) have different types: 'x' is float32 and 'w' is float16")],
    ),
    "a cast in between": (
        "a = Add(x, w) b = Cast<to = 10>(a) y = Mul(b, x)",
        [
            ("S106", "a", "operands of one type (T) have different types: 'x' is float32 and 'w' is float16"),
            ("S106", "y", "operands of one type (T) have different types: 'b' is float16 and 'x' is float32"),
        ],
    ),
    "the odd one of three": (
        "y = Concat<axis = 0>(x, h, x)",
        [("S106", "y", "operands of one type (T) have different types: 'x' is float32 and 'h' is float16")],
    ),
    "indices of floats": (
        "y = Gather(x, x)",
        [("S107", "y", "the input 'indices' must be int32 or int64, and 'x' is float32")],
    ),
    "an attribute that became an input": (
        "y = Squeeze<axes = [1]>(x)",
        [("S109", "y", "has no attribute 'axes' in opset 21")],
    ),
    "an input that was an attribute": (
        "y = Unsqueeze<axes = [1]>(x)",
        [("S109", "y", "has no attribute 'axes' in opset 21")],
    ),
    "an operator that was removed": (
        "s = Constant<value = float[2] {1.0, 1.0}>() y = Upsample(x, s)",
        [("S108", "y", "Upsample was removed in opset 10, and the model imports opset 21")],
    ),
    "a typing error of an enumeration": (
        's = Constant<value = float[2] {1.0, 1.0}>() y = Resize<mode = "bicubic">(x, , s)',
        [("S109", "y", "the attribute 'mode' must be one of 'cubic', 'linear', 'nearest': 'bicubic'")],
    ),
    "outputs that an operator does not have": ("y, z = Relu(x)", [("S103", "y", "has 1 output, and the node lists 2")]),
    "a required attribute": ("y = Concat(x, x)", [("S103", "y", "the required attribute 'axis' is missing")]),
    "branches of two types": (
        f"y = If (c) <{THEN} {{ p = Relu(x) }}, else_branch = e () => (float16[n, 4] q) {{ q = Relu(h) }}>",
        [("S106", "y", "the branches return different types of output 0: float32, float16")],
    ),
    "a branch": (
        f"y = If (c) <{THEN} {{ p = Relu(x) }}, else_branch = e () => (float[n, 4] q) {{ q = Add(x, h) }}>",
        [("S106", "y/q", "operands of one type (T) have different types: 'x' is float32 and 'h' is float16")],
    ),
    "a branch that never runs": (
        "k = Constant<value = bool {1}>() "
        f"y = If (k) <{THEN} {{ p = Relu(x) }}, else_branch = e () => (float[n, 4] q) {{ q = Add(x, h) }}>",
        [("S106", "y/q", "operands of one type (T) have different types: 'x' is float32 and 'h' is float16")],
    ),
    "a branch with a name of the outer graph": (
        f"a = Relu(x) y = If (c) <{THEN} {{ a = Relu(x) p = Relu(a) }}, "
        "else_branch = e () => (float[n, 4] q) { q = Relu(x) }>",
        [("S113", "y/a", "the output 'a' has the name of a value of the graph around it")],
    ),
    "more outputs than a branch": (
        f"y, z = If (c) <{THEN} {{ p = Relu(x) }}, else_branch = e () => (float[n, 4] q) {{ q = Relu(x) }}>",
        [("S103", "y", "its branches have 1 output, and the node lists 2")],
    ),
    "a carried value": (
        "y = Loop (m, , h) <body = b (int64 i, bool g, float[n, 4] v) => (bool g1, float[n, 4] v1) "
        "{ g1 = Identity(g) v1 = Relu(v) }>",
        [("S106", "y", "the body declares its input 'v' as float32, and its value is float16")],
    ),
    "fewer outputs than a loop": (
        "y = Loop (m, , x) <body = b (int64 i, bool g, float[n, 4] v) => (bool g1, float[n, 4] v1, float[n, 4] s) "
        "{ g1 = Identity(g) v1 = Relu(v) s = Relu(v) }>",
        [("S103", "y", "its body has, besides the condition, 2 outputs, and the node lists 1")],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_each_cause_is_one_error(name):
    body, expected = BROKEN[name]
    proto = model(body)
    assert not loads(proto)
    result = infer_shapes(proto)
    errors = [note for note in result.diagnostics if note.severity == "error"]
    assert [(note.code, note.subject, note.message) for note in errors] == expected
    assert result.contract.check(n=2, **{}).verdict is False
    assert result.contract.solve("n", range(1, 4)).values == ()
    with pytest.raises(ShapeInferenceError):
        infer_shapes(proto, mode="strict")
    assert {note.code for note in check(infer_shapes(proto, declared="check"))} >= {code for code, _, _ in expected}


RIGHT = {
    "a power of two types": "k = Constant<value = int64 {2}>() y = Pow(x, k)",
    "optional inputs that are absent": "y = Clip(x, , )",
    "a branch with the names of the other": f"y = If (c) <{THEN} {{ p = Relu(x) }}, "
    "else_branch = e () => (float[n, 4] p) { p = Neg(x) }>",
    "a private attribute": "y = Relu<__tool = 1>(x)",
    "any attribute": "s = Constant<value = float[4] {1.0, 1.0, 1.0, 1.0}>() y = LayerNormalization<tool = 1>(x, s)",
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_runtimes_load_has_no_violation(name):
    proto = model(RIGHT[name])
    assert loads(proto)
    assert [note for note in infer_shapes(proto).diagnostics if note.severity == "error"] == []


def test_an_operator_of_the_runtime_in_an_old_opset():
    """ONNX Runtime has LayerNormalization in each opset, and onnx from opset 17 on."""
    proto = model("s = Constant<value = float[4] {1.0, 1.0, 1.0, 1.0}>() y = LayerNormalization(x, s)", opset=16)
    assert loads(proto)
    assert [note for note in infer_shapes(proto).diagnostics if note.severity == "error"] == []


@pytest.mark.parametrize(
    ("body", "opset", "help"),
    [
        ("a = Add(x, w) y = Mul(a, x)", 21, "a Cast is missing: of 'w' to float32, or of 'x' to float16"),
        ("y = Concat<axis = 0>(x, h, x)", 21, "a Cast of 'h' to float32 is missing"),
        ("k = Cast<to = 6>(m) y = Reshape(x, k)", 21, "a Cast of 'k' to int64 is missing"),
        ("y = Squeeze<axes = [1]>(x)", 21, "'axes' is an input from opset 13 on, and an attribute before"),
        ("y = Unsqueeze<axes = [1]>(x)", 21, "'axes' is an input from opset 13 on, and an attribute before"),
        ("y = Squeeze(x, m)", 11, "in opset 11 'axes' is an attribute; from opset 13 on it is an input"),
        ("y = Gelu(x)", 17, "convert the model to opset 20, or replace the node"),
        ("y = Upsample(x, x)", 21, "use Resize"),
        ("y = LpPool<kernel_shape = [1], dilations = [1]>(x)", 11, "'dilations' exists from opset 18 on"),
        ("y = Elu<alhpa = 1.0>(x)", 21, "did you mean 'alpha'?"),
        ("k = Cast<to = 6>(x) y = Relu(k)", 13, "int32 is allowed from opset 14 on"),
        ('y = Pad<mode = "wrap">(x, m)', 18, "from opset 19 on it may be 'wrap'"),
    ],
)
def test_the_help_names_the_repair(body, opset, help):
    assert [entry[3] for entry in violations(model(body, opset)) if entry[3]] == [help]


def test_shapes_stay_known():
    result = infer_shapes(model("a = Add(x, w) y = Relu<foo = 1>(a)"))
    assert [str(result.tensors[name]) for name in "ay"] == ["float32[n, 4]"] * 2


def test_declarations_that_follow_from_a_violation_are_not_reported():
    """A converter declares float16 behind each node, also where an operand of it stayed float32."""
    proto = model("a = Add(x, w) b = Relu(a) y = Mul(b, w)", outputs="float16[n, 4] y")
    proto.graph.value_info.extend([helper.make_tensor_value_info(t, TensorProto.FLOAT16, ["n", 4]) for t in "ab"])
    assert [note.code for note in check(infer_shapes(proto, declared="check"))] == ["S106"]


def test_functions_are_checked_where_they_are_called():
    nodes = "k = Cast<to = 10>(a) b = Add(a, k)"
    function = f'<domain: "my", opset_import: ["" : 21]> F (a) => (b) {{ {nodes} }}'
    assert [entry[:2] for entry in violations(model("y = my.F(x)", functions=function))] == [("S106", "y/b")]
    assert violations(model("y = Relu(x)", functions=function)) == []


def test_names_that_occur_twice():
    twice = model("y = Add(x, k)")
    twice.graph.initializer.extend([helper.make_tensor("k", TensorProto.FLOAT, [1], [1.0])] * 2)
    named = model("a = Relu(x) y = Relu(a)")
    for node in named.graph.node:
        node.name = "relu"
    assert [entry[:3] for entry in violations(twice)] == [("S113", "k", "several initializers have the name 'k'")]
    assert [entry[:3] for entry in violations(named)] == [("S113", "relu", "2 nodes have the name 'relu'")]
    assert not loads(named)
    with pytest.raises(onnx.checker.ValidationError):
        onnx.checker.check_model(twice)


def test_an_attribute_that_is_set_twice():
    proto = model("y = Softmax<axis = 1>(x)")
    proto.graph.node[0].attribute.append(helper.make_attribute("axis", 1))
    assert not loads(proto)
    assert violations(proto)[0][:3] == ("S109", "y", "the attribute 'axis' is set twice")
    assert violations(proto) == violations(proto.SerializeToString())


def test_an_initializer_of_another_type_than_its_input():
    proto = model("y = Add(x, k)", head=f"{HEAD}, double[4] k")
    proto.graph.initializer.append(helper.make_tensor("k", TensorProto.FLOAT, [4], [1.0] * 4))
    assert not loads(proto)
    assert [entry[:2] for entry in violations(proto)] == [("S114", "k")]
    with pytest.raises(ShapeError, match="the initializer 'k' is float32, and the input of this name float64"):
        infer_shapes(proto, mode="strict")


def test_operators_of_other_packages_are_not_checked():
    proto = model(
        "y = my.Unknown<foo = 1>(x)", functions='<domain: "my", opset_import: ["" : 21]> G (a) => (b) { b = Relu(a) }'
    )
    assert [entry[0] for entry in violations(proto)] == ["S201"]


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the models of the findings are not there")
@pytest.mark.parametrize(
    "folder", ["onnx_04_extra_outputs", "onnx_07_types_and_schema_not_checked", "field_02_type_mismatch_yes"]
)
def test_models_of_findings(folder):
    files = sorted((FOLDER / folder).glob("*.onnx"))
    assert files
    for path in files:
        result = infer_shapes(path)
        errors = [note for note in result.diagnostics if note.severity == "error"]
        if loads(onnx.load(path)):
            assert path.name in ("f16_pow.onnx", "xo_Split.onnx") and {note.code for note in errors} <= {"S101"}
        else:
            stale = (folder, path.name) == ("field_02_type_mismatch_yes", "model.onnx")
            assert len(errors) == 1 + stale and (errors[0].code == "S115") is stale, path.name
            assert result.contract.check(dict.fromkeys(result.dims, 2)).verdict is False
            with pytest.raises(ShapeInferenceError):
                infer_shapes(path, mode="strict")


def repeated_constant():
    """A model with two initializers of one name, whose shapes differ."""
    text = '<ir_version: 10, opset_import: ["" : 21]> g (float[n] x) => (float[m] y) { y = Add(x, w) }'
    model = parser.parse_model(text)
    for size in (5, 3):
        model.graph.initializer.append(helper.make_tensor("w", TensorProto.FLOAT, [size], [0.0] * size))
    return model


def test_no_check_follows_from_a_name_that_occurs_twice():
    assert [note.code for note in check(infer_shapes(repeated_constant(), declared="check"))] == ["S113"]


def test_an_error_without_a_node_ends_the_command_as_others_do(tmp_path):
    path = tmp_path / "repeated.onnx"
    onnx.save(repeated_constant(), path)
    ended = CliRunner().invoke(main, ["infer", "--strict", str(path)])
    assert ended.exit_code == 1 and "error[S113]" in ended.output


def test_the_cause_of_an_unknown_output_is_the_violation():
    text = '<ir_version: 10, opset_import: ["" : 21]> g (float[n] x) => (float[n] y) { y, q = Relu(x) }'
    (group,) = infer_shapes(parser.parse_model(text)).unknowns()
    assert group.cause.kind == "error" and group.cause.reason == "has 1 output, and the node lists 2"
