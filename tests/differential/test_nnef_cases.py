"""Rules of NNEF operations against the formulas of the specification, where the `nnef` package is not an oracle.

Symbolic extents, violations by their messages, contents, and the conformance vectors whose documents are flat.
"""

import json

import attrs
import pytest

from opdefs.nnef.library import LAYERS, library
from shapeinf import infer_shapes
from shapeinf.errors import NnefError
from shapeinf.formats.nnef.versions import FINAL, PROVISIONAL, TRACT, VERSIONS
from shapeinf.graph import DeclaredType, Graph, InputContents, Node, NodeKind
from shapeinf.lattice import PartialTensor, Shape, ShapeStore
from shapeinf.ops import Call, default_registry
from tests.differential.nnef_flat import NotFlatError, graph_of
from tests.vectors import ROOT, need, vectors


@attrs.frozen
class Case:
    """Inputs as text (`2,S` or `?`); `expected` is a text for each output."""

    op: str
    inputs: tuple
    attributes: dict
    expected: tuple
    version: int = FINAL

    def __str__(self):
        return f"{self.op}({' '.join(self.inputs)})"


def run(case, outputs):
    names = [f"in{i}" for i in range(len(case.inputs))]
    declared = {name: DeclaredType("float32", dims(text)) for name, text in zip(names, case.inputs, strict=True)}
    results = tuple(f"out{i}" for i in range(outputs))
    node = Node(NodeKind(case.op, "", case.attributes), tuple(names), results, "node")
    result = infer_shapes(Graph("g", "nnef", {"": case.version}, names, list(results), [node], declared))
    return [str(result.tensors[name].shape)[1:-1] for name in results], result


def dims(text):
    if text == "?":
        return None
    return tuple(int(d) if d.isdigit() else d for d in text.split(",") if d)


def case(op, inputs, *expected, version=FINAL, **attributes):
    return Case(op, tuple(inputs.split(" ")) if inputs else (), attributes, expected, version)


TWO = ((0, 0), (0, 0))

SHAPES = [
    # wrong or rejected in the package
    case("linear", "2,S,8 1,5,8", "2, S, 5"),
    case("linear", "S,8 5,8 1,5", "S, 5"),
    case("add_n", "2,3 1,3,4 2", "2, 3, 4"),
    case("unsqueeze", "B,S", "1, B, 1, S", axes=(2, 0)),
    case("roi_resample", "2,3,8 5,2 5,1", "5, 3, 4", output_size=(4,)),
    case("avg_roi_pool", "2,C,8,8 R,4 R,1", "R, C, 3, 3", output_size=(3, 3)),
    case("sample", "1,1,8,8 1,1,4,4", "1, 1, 4, 4", size=(1, 1, 2, 2), stride=(1, 1, 2, 2)),
    case("conv", "1,3,8,8 4,3,3,3 1,1", "1, 4, 8, 8"),
    case("conv", "1,3,8,8 4,3,3,3 1", "1, 4, 8, 8"),
    case("separable_conv", "N,3,S,8 6,1,3,3 5,6,1,1", "N, 5, S, 8"),
    case("prelu", "2,3,8 1,3", "2, 3, 8"),
    case("slice", "8,8", "8, 3", axes=(0, 1), begin=(0, 0), end=(0, 6), stride=(1, 2)),
    # windows on symbols
    case("conv", "B,3,S,T 4,3,3,3", "B, 4, (S + 1)//2, (T + 2)//3", stride=(2, 3)),
    case("conv", "B,3,S 4,3,K", "B, 4, S + 1 - K", padding=((0, 0),)),
    case("conv", "B,C,S C,1,3", "B, C, S - 4", padding=((0, 0),), dilation=(2,), groups=0),
    case("deconv", "B,3,S 3,4,3", "B, 4, 2*S", stride=(2,)),
    case("deconv", "B,3,S 3,4,3", "B, 4, 2*S - 1", stride=(2,), padding=((1, 1),)),
    case("deconv", "B,C,S C,1,3", "B, C, S + 2", padding=((0, 0),), groups=0),
    case("deconv", "1,3,8 3,4,3", "1, 4, 16", stride=(2,), padding=((1, 1),), output_shape=(1, 4, 16)),
    case("debox", "S,8", "3*S, 9", size=(3, 2), stride=(3, 1), padding=TWO),
    case("max_pool_with_index", "S,9", "S//2, 9", "S//2, 9", size=(2, 1), stride=(2, 1), padding=TWO),
    case("nearest_upsample", "B,3,S", "B, 3, 2*S", factor=(2,)),
    case("area_downsample", "B,3,S", "B, 3, S//2", factor=(2,)),
    # everything else on symbols
    case("add", "S 2,3", "2, 3"),
    case("add", "B,S S,B", "max(B, S), max(B, S)"),
    case("mul", "B,S,8 B", "B, S, 8"),
    case("select", "B,1 1,S 1", "B, S"),
    case("matmul", "B,S,8 1,8,T", "B, S, T"),
    case("matmul", "B,S,8 B,S,8", "B, S, S", transposeB=True),
    case("moments", "B,S,8", "B, 1, 8", "B, 1, 8", axes=(1,)),
    case("reshape", "B,S,8", "B*S, 8", shape=(-1, 8)),
    case("reshape", "B,S,8", "B, 8*S", shape=(0, -1)),
    case("reshape", "B,S,8", "B, S, 2, 4", shape=(2, -1), axis_start=2),
    case("reshape", "B,4,S,8", "B, 2, 2, S, 8", shape=(2, 2), axis_start=1, axis_count=1),
    case("reshape", "B,4,S,8", "B, 4*S, 8", shape=(-1,), axis_start=1, axis_count=2),
    case("reshape", "B,S", "B, 1, S", shape=(1,), axis_start=1, axis_count=0),
    case("transpose", "B,S,8", "S, B, 8", axes=(1, 0)),
    case("squeeze", "B,S", "B", axes=(1,)),
    case("concat", "B,S,8 B,T,8", "B, S + T, 8", axis=1),
    case("stack", "B,S B,S", "B, 2, S", axis=1),
    case("split", "B,12", "B, 3", "B, 9", axis=1, ratios=(1, 3)),
    case("split", "B,S", "B, S//4", "B, 3*(S//4)", axis=1, ratios=(1, 3)),
    case("unstack", "2,S", "S", "S", axis=0),
    case("tile", "B,S", "2*B, 3*S", repeats=(2, 3)),
    case("pad", "B,S", "B, S + 3", padding=((0, 0), (1, 2))),
    case("gather", "B,S,8 R,T", "B, R, T, 8", axis=1),
    case("copy_n", "B,S", "B, S", "B, S", times=2),
    case("add_n", "", ""),
    # slices: of a symbol, from the end, and with a stride
    case("slice", "B,S", "B, S - 2", axes=(1,), begin=(2,), end=(0,)),
    case("slice", "B,S", "B, S - 1", axes=(1,), begin=(0,), end=(-1,)),
    case("slice", "B,S", "B, 2", axes=(1,), begin=(-2,), end=(0,)),
    case("slice", "B,S", "B, min(S, 4)", axes=(1,), begin=(0,), end=(4,)),
    case("slice", "B,S", "B, (S + 1)//2", axes=(1,), begin=(0,), end=(2**31 - 1,), stride=(2,)),
    case("slice", "B,S", "B, S", axes=(1,), begin=(-1,), end=(-(2**31),), stride=(-1,)),
    case("slice", "9", "3", axes=(0,), begin=(-2,), end=(1,), stride=(-2,)),
    # the provisional dialect: shapes go on with ones, other names, other operations
    case("matmul", "S,8 5,8", "S, 5", trB=True, version=PROVISIONAL),
    case("linear", "S,8,1,1 5,8", "S, 5", version=PROVISIONAL),
    case("transpose", "B,S", "S, B", perm=(1, 0), version=PROVISIONAL),
    case("conv", "B,3,S,8 4,3", "B, 4, S, 8", version=PROVISIONAL),
    case("concat", "2 2", "2, 2", axis=1, version=PROVISIONAL),
    case("planewise_conv", "B,3,S,8 3,1,3,3", "B, 3, S, 8", version=PROVISIONAL),
    case("planewise_deconv", "B,3,S 3,1,2", "B, 3, 2*S", stride=(2,), version=PROVISIONAL),
    case("sum_reduce", "B,S", "B, S, 1", axes=(2,), version=PROVISIONAL),
    case("avg_pool", "B,S", "B, S, 1, 1", size=(1, 1, 3, 3), version=PROVISIONAL),
    case("divisive_normalization", "B,3,S", "B, 3, S", size=(3,), version=PROVISIONAL),
    case("idn", "B,S", "B, S", version=PROVISIONAL),
    case("local_mean_normalization", "B,3,S", "B, 3, S", size=(1, 3), version=PROVISIONAL),
    case("box", "B,6,S", "B, 3, S", size=(1, 2), stride=(1, 2), padding=TWO, version=PROVISIONAL),
    # tract takes a bias of any shape, and puts ones before the shorter operand of a product
    case("conv", "1,1,3 2,1,3 1,1,2", "1, 2, 1", padding=((0, 0),), version=TRACT),
    case("matmul", "B,S,8 8,5", "B, S, 5", version=TRACT),
]


@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_the_shapes_are_those_of_the_formulas(case):
    shapes, result = run(case, len(case.expected))
    assert not result.diagnostics, result.diagnostics[0]
    assert shapes == list(case.expected)


VIOLATIONS = [
    case("conv", "1,4,8 6,1,3", "groups must divide", groups=4),
    case("conv", "1,3,8 4,3,3", "groups must be at least 0", groups=-1),
    case("conv", "1,3,8 4,2,3", "with groups = 0 the filter must have 1 channel", groups=0),
    case("conv", "1,3,8 4,3,3 4,1", "the first extent of bias must be 1"),
    case("conv", "1,3,8 4,3,3 1,4,2", "bias must have rank 2 at most"),
    case("conv", "1,3,8 4,3,3", "border must be one of constant, ignore", border="mirror"),
    case("conv", "1,3,8 4,3,9", "the window must fit into the padded input", padding=((0, 0),)),
    case("conv", "1,3,8 4,3,3", "each item of padding must have 2 items", padding=((0, 0, 0),)),
    case("deconv", "1,3,8 3,4,3", "output_shape must have the output channels", output_shape=(1, 5, 8)),
    case("deconv", "1,3,8 3,4,3", "output_shape must have the batch", output_shape=(2, 4, 8)),
    case("deconv", "1,3,8 3,4,3", "must have the extents of the input as positions", output_shape=(1, 4, 9)),
    case("debox", "2", "padding must leave at least one element of the output", size=(1,), padding=((1, 1),)),
    case("separable_conv", "1,3,8 6,1,3 5,6,3", "point_filter must have an extent of 1"),
    case("sample", "1,8 1,8", "index must have the shape of the output", size=(1, 2), stride=(1, 2)),
    case("desample", "1,8 1,4", "index must have the shape of the input", size=(1, 2)),
    case("sum_reduce", "2,3", "axes must not repeat an axis", axes=(1, 1)),
    case("unsqueeze", "2,3", "axes must not repeat an axis", axes=(0, 0)),
    case("reshape", "2,3", "axis_start must lie in 0..2", shape=(2,), axis_start=3),
    case("reshape", "2,3", "axis_count must be at least -1", shape=(2,), axis_count=-2),
    case("reshape", "2,3", "the element count must not change", shape=(2, 4)),
    case("reshape", "2,3", "the element count must not change", shape=(4, -1)),
    case("tile", "2,3", "the items of repeats must be at least 1", repeats=(1, 0)),
    case("pad", "2,3", "padding must leave at least one element of each axis", padding=((0, 0), (-2, -1))),
    case("slice", "8", "the items of stride must not be 0", axes=(0,), begin=(0,), end=(4,), stride=(0,)),
    case("slice", "8", "with a negative stride", axes=(0,), begin=(2,), end=(5,), stride=(-1,)),
    case("slice", "8", "begin must be at most end", axes=(0,), begin=(-9,), end=(4,)),
    case("split", "8", "ratios must have one item per result", axis=0, ratios=(1, 1)),
    case("stack", "2 2", "axis must lie in 0..1", axis=2),
    case("copy_n", "2", "times must equal the number of results", times=2),
    case("matmul", "2,3 4,3,5", "A and B must have the same rank"),
    case("roi_resample", "2,3,8 5,2 4,1", "batch_index must have one item for each region", output_size=(4,)),
    case("avg_roi_align", "2,3,8 5,2 5", "sampling_rate must have 1 items", output_size=(4,), sampling_rate=(2, 2)),
    case("roi_resample", "2,3,8 5,2 5", "method must be one of", output_size=(4,), method="cubic"),
    case("batch_normalization", "2,3 1,4 1,3 1,3 1,3", "mean must broadcast", epsilon=0.0),
    case("linear_quantize", "1,3 2 1", "min must broadcast to the shape of the input", bits=8),
    case("logarithmic_quantize", "1,3 1", "bits must be at least 1", bits=0),
    case("multilinear_upsample", "1,3,8", "border must be one of", factor=(2,), border="none"),
    case("nearest_upsample", "S", "factor must have 0 items", factor=(2,)),
    case("external", "", "the items of shape must be at least 1", shape=(2, 0)),
    case("variable", "", "label must be made of", shape=(2,), label="a b"),
    case("constant", "", "value must have one item for each element", shape=(2, 3), value=(1.0, 2.0)),
]


@pytest.mark.parametrize("case", VIOLATIONS, ids=str)
def test_a_violation_is_named(case):
    _, result = run(case, 1)
    errors = [str(d) for d in result.diagnostics if d.severity == "error"]
    assert len(errors) == 1
    assert case.expected[0] in errors[0]


def test_every_operation_has_a_rule_with_its_inputs_and_attributes():
    lookup = default_registry().dialect("nnef").lookup
    for dialect in ("final", "provisional"):
        for fragment in library(dialect):
            op_def = lookup("", fragment.name, VERSIONS[dialect])
            if fragment.name in LAYERS:  # never nodes of a graph
                continue
            assert op_def.rule is not None, fragment.name
            taken = {*op_def.rule.attributes, *(f for g in op_def.rule.groups.values() for f in attrs.fields_dict(g))}
            assert taken - OTHER_NAMES <= set(op_def.attributes), fragment.name
            if not op_def.rule.variadic:
                assert [p.name for p in op_def.rule.params] == [i.name for i in op_def.inputs], fragment.name


OTHER_NAMES = {"axes", "transposeA", "transposeB", "perm", "trA", "trB"}
"""Attributes that the provisional dialect names differently."""


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        ("concat", "2,3 2,3", {"axis": InputContents(2)}),
        ("split", "2,3", {"axis": InputContents(1), "ratios": (1,)}),
        ("unsqueeze", "2,3", {"axes": (InputContents(1),)}),
        ("reshape", "2,3", {"shape": (6,), "axis_start": InputContents(1)}),
        ("tile", "2,3", {"repeats": (1, InputContents(1))}),
        ("slice", "2,3", {"axes": (InputContents(1),), "begin": (0,), "end": (1,)}),
        ("conv", "1,3,8 4,3,3", {"groups": InputContents(2)}),
        ("box", "8,8", {"size": (1, InputContents(1))}),
        ("sum_reduce", "2,3", {"axes": (InputContents(1),)}),
    ],
)
@pytest.mark.parametrize("symbol", ["S", None])
def test_an_attribute_that_is_not_known_leaves_the_shape_open(op, inputs, attributes, symbol):
    shapes = [dims(text) for text in inputs.split(" ")]
    names = [f"in{i}" for i in range(len(shapes))]
    nodes = [
        Node(NodeKind("shape_of_axis", "", {"axis": 0}), ("more",), ("extent",), "extent"),
        Node(NodeKind("unsqueeze", "", {"axes": (0,)}), ("extent",), ("row",), "row"),
        Node(NodeKind(op, "", attributes), (*names, "row"), ("out",), "out"),
    ]
    graph = Graph("g", "nnef", {"": TRACT}, [*names, "more"], ["out"], nodes)
    graph.declared.update({name: DeclaredType("float32", shape) for name, shape in zip(names, shapes, strict=True)})
    graph.declared["more"] = DeclaredType("float32", (symbol,))
    result = infer_shapes(graph)
    assert not [d for d in result.diagnostics if d.severity == "error"], result.diagnostics
    assert result.tensors["out"].shape.dims is None or op == "tile"


def constant(*elements, dtype="int64"):
    return PartialTensor(dtype, Shape(()) if len(elements) == 1 else Shape((len(elements),)), elements)


def test_extents_are_followed_through_arithmetic_into_attributes():
    """`reshape(x, shape = [shape_of(x)[0], (shape_of(x)[1] + 1) / 2 * 2])` and more on unknown extents."""
    steps = [
        ("shape_of_axis", ("x",), {"axis": 0}, "b"),
        ("shape_of_axis", ("x",), {"axis": 1}, "s"),
        ("mul", ("s", "two"), {}, "twice"),
        ("sub", ("twice", "s"), {}, "again"),
        ("add", ("again", "unit"), {}, "more"),
        ("div", ("more", "two"), {}, "half"),
        ("max", ("half", "two"), {}, "least"),
        ("unsqueeze", ("twice",), {"axes": (0,)}, "row"),
        ("unsqueeze", ("b",), {"axes": (0,)}, "first"),
        ("concat", ("first", "row"), {"axis": 0}, "pair"),
        ("slice", ("pair",), {"axes": (0,), "begin": (1,), "end": (2,)}, "last"),
        ("reshape", ("x", "b", "s"), {"shape": (InputContents(1), InputContents(2), -1)}, "kept"),
        ("tile", ("x", "half"), {"repeats": (1, InputContents(1), 1)}, "tiled"),
        ("slice", ("y", "last"), {"axes": (0,), "begin": (0,), "end": (InputContents(1),)}, "cut"),
        ("reshape", ("z", "pair"), {"shape": InputContents(1)}, "whole"),
    ]
    nodes = [Node(NodeKind(op, "", attributes), inputs, (name,), name) for op, inputs, attributes, name in steps]
    declared = {"x": ("B", "S", 8), "y": ("Z",), "z": ("B", "S", 2)}
    graph = Graph("g", "nnef", {"": TRACT}, list(declared), ["kept"], nodes)
    graph.declared.update({name: DeclaredType("float32", dims) for name, dims in declared.items()})
    graph.constants.update(two=constant(2), unit=constant(1.0, dtype="float32"))
    result = infer_shapes(graph)
    assert not result.diagnostics, result.diagnostics[0]
    assert {name: result.tensors[name].dtype for name in ("half", "pair")} == {"half": "int64", "pair": "int64"}
    texts = {name: str(result.tensors[name].shape) for name in ("kept", "tiled", "cut", "whole")}
    assert texts == {
        "kept": "[B, S, 8]",
        "tiled": "[B, S*((S + 1)//2), 8]",
        "cut": "[2*S]",
        "whole": "[B, 2*S]",
    }


@pytest.mark.parametrize(
    ("op", "operands", "expected"),
    [
        ("div", (7, 2), 3),
        ("div", (-7, 2), -4),
        ("div", (7, 0), None),
        ("pow", (2, 10), 1024),
        ("neg", (3,), -3),
        ("abs", (-3,), 3),
        ("sign", (-3,), -1),
        ("sqr", (3,), 9),
        ("relu", (-3,), 0),
        ("min", (3, 5), 3),
        ("clamp", (9, 0, 5), 5),
        ("lt", (3, 5), True),
        ("ne", (3, 5), True),
        ("ge", (3, 5), False),
        ("mul", (2**62, 2), -(2**63)),  # an int64 wraps around
    ],
)
def test_integers_are_exact(op, operands, expected):
    op_def = default_registry().dialect("nnef").lookup("", op, FINAL)
    info = Call(op_def, {}, FINAL).run([constant(value) for value in operands], ShapeStore(), "node").types[0]
    assert (info.elements or (None,))[0] == expected


@pytest.mark.parametrize(
    ("op", "attributes", "dtypes", "expected"),
    [
        ("add", {}, ("float16", "float16"), "float16"),
        ("lt", {}, ("float32", "float32"), "bool"),
        ("argmax_reduce", {"axes": (0,)}, ("float32",), "int64"),
        ("any_reduce", {"axes": (0,)}, ("bool",), "bool"),
        ("select", {}, ("bool", "int64", "int64"), "int64"),
        ("cast", {"?": "int64"}, ("float32",), "int64"),
        ("gather", {"axis": 0}, ("string", "int64"), "string"),
    ],
)
def test_element_types(op, attributes, dtypes, expected):
    names = tuple(f"in{i}" for i in range(len(dtypes)))
    declared = {name: DeclaredType(dtype, (2,)) for name, dtype in zip(names, dtypes, strict=True)}
    node = Node(NodeKind(op, "", attributes), names, ("out",), "out")
    result = infer_shapes(Graph("g", "nnef", {"": 1}, list(names), ["out"], [node], declared))
    assert result.tensors["out"].dtype == expected


INDEX = vectors("nnef/INDEX.json")


ELSEWHERE = {"bad_156_arg_constant_count", "bad_159_arg_label_conflict"}
"""Vectors about variables and constants, which are not nodes of a graph: the reader checks these."""


def documents(folder, suffix, is_selected):
    """The paths of the selected documents of a folder, with their expectations."""
    params = []
    for path in sorted((ROOT / "nnef" / folder).glob("*" + suffix)) if INDEX else ():
        source = path.with_name(path.name.removesuffix(suffix) + ".nnef")
        data = json.loads(path.read_text(encoding="utf-8"))
        if is_selected(data) and source.stem not in ELSEWHERE:
            params.append(pytest.param(source, data, id=source.stem))
    return params or [(None, None)]


def read(source):
    try:
        return graph_of(source.read_text(encoding="utf-8"))
    except (NotFlatError, NnefError) as error:
        pytest.skip(f"not for rules alone: {type(error).__name__}")


def stripped(shape):
    while shape and shape[-1] == 1:
        shape = shape[:-1]
    return shape


@pytest.mark.parametrize(("source", "data"), documents("ok", ".expected.json", lambda data: "shapes" in data["expect"]))
def test_vectors_have_the_expected_shapes(source, data):
    need(INDEX, "nnef/INDEX.json")
    shapes, graph = data["expect"]["shapes"], read(source)
    result = infer_shapes(graph)
    assert not [d for d in result.diagnostics if d.severity == "error"]
    provisional = graph.opsets[""] == PROVISIONAL
    common = [name for name in shapes if name in result.tensors]  # the package also names tensors inside of fragments
    assert set(graph.outputs) & set(shapes) <= set(common)
    for name in common:
        expected = shapes[name]
        dims = [d if isinstance(d, int) else "?" for d in result.tensors[name].shape]
        assert (stripped(dims) if provisional else dims) == (stripped(expected) if provisional else expected)


@pytest.mark.parametrize(("source", "data"), documents("bad", ".json", lambda data: data["kind"] == "argument/shape"))
def test_a_vector_that_violates_a_shape_rule_is_rejected(source, data):
    need(INDEX, "nnef/INDEX.json")
    result = infer_shapes(read(source))
    assert [d for d in result.diagnostics if d.severity == "error"]
