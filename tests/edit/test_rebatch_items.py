"""`rebatch` refuses nodes that combine the items of a batch, and frees spatial axes; onnxruntime is the oracle."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

pytest.importorskip("onnxruntime", reason="the oracle is onnxruntime")

from shapeinf import RebatchError, bind, rebatch
from shapeinf.cli import main
from shapeinf.runtime.rebatched import verify_rebatched
from tests.edit.test_rebatching import run

node = helper.make_node
BIG = np.iinfo(np.int64).max


def ints(*values: int) -> Any:
    return np.array(values, np.int64)


@attrs.frozen
class Case:
    """Nodes between the input x and the output y."""

    nodes: list[onnx.NodeProto]
    constants: dict[str, Any] = attrs.Factory(dict)
    x: tuple[int, ...] = (2, 4)
    opset: int = 18

    def model(self, batch: int | str | None = None) -> onnx.ModelProto:
        dims = [self.x[0] if batch is None else batch, *self.x[1:]]
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)]
        weights = [numpy_helper.from_array(np.asarray(value), name) for name, value in self.constants.items()]
        graph = helper.make_graph(self.nodes, "g", inputs, [onnx.ValueInfoProto(name="y")], weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=9)


def single(op: str, *others: str, constants: dict[str, Any] | None = None, **options: Any) -> Case:
    case = {key: options.pop(key) for key in ("x", "opset") if key in options}
    return Case([node(op, ["x", *others], ["y"], name="n", **options)], constants or {}, **case)


F = np.float32
MIXING: dict[str, Case] = {
    "Concat": single("Concat", "x", axis=0),
    "Concat of another tensor": Case(
        [node("Relu", ["x"], ["r"]), node("Concat", ["x", "r"], ["y"], name="n", axis=-2)]
    ),
    "Tile": single("Tile", "r", constants={"r": ints(2, 1)}),
    "Pad": single("Pad", "p", constants={"p": ints(1, 0, 0, 0)}),
    "Pad that crops and fills": single("Pad", "p", constants={"p": ints(1, 0, -1, 0)}),
    "Slice in reverse": single(
        "Slice", "s", "e", "a", "t", constants={"s": ints(-1), "e": ints(-BIG), "a": ints(0), "t": ints(-1)}
    ),
    "Softmax": single("Softmax", axis=0),
    "Softmax of opset 11": single("Softmax", axis=0, opset=11),
    "LogSoftmax": single("LogSoftmax", axis=0),
    "Hardmax": single("Hardmax", axis=0),
    "CumSum": single("CumSum", "a", constants={"a": np.int64(0)}),
    "LpNormalization": single("LpNormalization", axis=0),
    "LayerNormalization": single("LayerNormalization", "w", axis=0, constants={"w": np.ones(4, F)}, x=(1, 4)),
    "MeanVarianceNormalization": single("MeanVarianceNormalization", x=(2, 3, 4, 4)),
    "DFT": single("DFT", axis=0, opset=17, x=(2, 4, 1)),
    "Trilu": single("Trilu"),
    "ScatterND": single("ScatterND", "i", "u", constants={"i": ints(0).reshape(1, 1), "u": np.ones((1, 4), F)}),
    "ScatterElements": single(
        "ScatterElements", "i", "u", axis=0, constants={"i": ints(0).reshape(1, 1), "u": np.ones((1, 1), F)}
    ),
    "TopK": Case([node("Shape", ["x"], ["s"], end=1), node("TopK", ["x", "s"], ["y", "i"], name="n", axis=0)]),
    "Range": Case(
        [
            node("Shape", ["x"], ["s"], end=1),
            node("Squeeze", ["s"], ["b"]),
            node("Range", ["zero", "b", "one"], ["r"], name="n"),
            node("Unsqueeze", ["r", "one1"], ["u"]),
            node("Cast", ["u"], ["f"], to=TensorProto.FLOAT),
            node("Add", ["x", "f"], ["y"]),
        ],
        {"zero": np.int64(0), "one": np.int64(1), "one1": ints(1)},
    ),
    "a mean by the number of items": Case(
        [
            node("Shape", ["x"], ["s"], end=1),
            node("Cast", ["s"], ["f"], to=TensorProto.FLOAT),
            node("Div", ["x", "f"], ["y"], name="n"),
        ]
    ),
    "the same through a square root": Case(
        [
            node("Shape", ["x"], ["s"], end=1),
            node("Cast", ["s"], ["f"], to=TensorProto.FLOAT),
            node("Sqrt", ["f"], ["q"]),
            node("Mul", ["x", "q"], ["y"], name="n"),
        ]
    ),
    "items that select items": Case(
        [
            node("ArgMax", ["x"], ["i"], axis=1, keepdims=0),
            node("Mod", ["i", "two"], ["j"]),
            node("Gather", ["x", "j"], ["y"], name="n", axis=0),
        ],
        {"two": ints(2)},
    ),
    "positions in the whole batch": Case([node("MaxPool", ["x"], ["m", "y"], name="n", kernel_shape=[2])], x=(2, 1, 4)),
    "statistics of the batch": Case(
        [node("BatchNormalization", ["x", "w", "w", "w", "w"], ["y", "", ""], name="n", training_mode=1)],
        {"w": np.ones(4, F)},
    ),
    "a convolution over the items": Case(
        [node("Unsqueeze", ["x", "a"], ["u"]), node("Conv", ["u", "w"], ["y"], name="n", pads=[1, 1, 1, 1])],
        {"a": ints(0, 1), "w": np.ones((1, 1, 3, 3), F)},
        x=(2, 4),
    ),
    "a quantization of all items": Case([node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"], name="n")]),
}


@pytest.mark.parametrize("kind", MIXING)
def test_a_node_that_mixes_items_is_refused(kind: str) -> None:
    case = MIXING[kind]
    with pytest.raises(RebatchError) as caught:
        rebatch(case.model())
    op = next(n.op_type for n in case.nodes if n.name == "n")
    assert re.search(rf"{op} '?n'?.*(axis 0 of|numbers them|the number of items|required by|w)", str(caught.value))


@pytest.mark.parametrize(
    "kind", [kind for kind in MIXING if not kind.startswith(("LayerN", "a convolution", "statistics"))]
)
def test_what_is_refused_mixes_items_in_onnxruntime(kind: str) -> None:
    """Two runs at the old size, stacked, are not the run of a batch."""
    case = MIXING[kind]
    parts = np.random.default_rng(1).standard_normal((2, *case.x)).astype(F)
    before = case.model().SerializeToString()
    expected = np.concatenate([run(before, {"x": part}) for part in parts])
    together = run(case.model("n").SerializeToString(), {"x": np.concatenate(parts)})
    assert together.shape != expected.shape or not np.allclose(together, expected)


SEPARATE: dict[str, Case] = {
    "Softmax": single("Softmax", axis=-1),
    "Softmax of opset 11": single("Softmax", axis=1, opset=11, x=(1, 3, 4)),
    "Concat": single("Concat", "x", axis=1),
    "Tile": single("Tile", "r", constants={"r": ints(1, 3)}),
    "Pad": single("Pad", "p", constants={"p": ints(0, 1, 0, 2)}),
    "a Slice of the whole batch": single("Slice", "s", "e", constants={"s": ints(0, 1), "e": ints(BIG, BIG)}),
    "a Slice in reverse": single(
        "Slice", "s", "e", "a", "t", constants={"s": ints(-1), "e": ints(-BIG), "a": ints(1), "t": ints(-1)}
    ),
    "CumSum": single("CumSum", "a", constants={"a": np.int64(1)}),
    "LayerNormalization": single("LayerNormalization", "w", axis=1, constants={"w": np.ones(4, F)}),
    "DFT": single("DFT", axis=1, opset=17, x=(2, 4, 1)),
    "Trilu": single("Trilu", x=(2, 3, 3)),
    "TopK": Case([node("TopK", ["x", "k"], ["y", "i"], axis=1)], {"k": ints(2)}),
    "MaxPool": Case([node("MaxPool", ["x"], ["y"], kernel_shape=[2])], x=(2, 1, 4)),
    "GatherElements": Case(
        [node("ArgMax", ["x"], ["i"], axis=1, keepdims=1), node("GatherElements", ["x", "i"], ["y"], axis=1)]
    ),
    "ScatterElements": Case(
        [
            node("ArgMax", ["x"], ["i"], axis=1, keepdims=1),
            node("ReduceSum", ["x", "a"], ["u"], keepdims=1),
            node("ScatterElements", ["x", "i", "u"], ["y"], axis=1),
        ],
        {"a": ints(1)},
    ),
    "sizes of an image": Case(
        [
            node("Shape", ["x"], ["s"], end=2),
            node("Concat", ["s", "hw"], ["sizes"], axis=0),
            node("Resize", ["x", "", "", "sizes"], ["y"], mode="linear"),
        ],
        {"hw": ints(8, 6)},
        x=(1, 2, 4, 3),
    ),
    "a state of zeros": Case(
        [
            node("Shape", ["x"], ["b"], end=1),
            node("Concat", ["one", "b", "two"], ["s"], axis=0),
            node("ConstantOfShape", ["s"], ["h"]),
            node("RNN", ["t", "w", "r", "", "", "h"], ["", "y0"], hidden_size=2),
            node("Squeeze", ["y0", "zero"], ["y"]),
        ],
        {
            "one": ints(1),
            "two": ints(2),
            "zero": ints(0),
            "w": np.ones((1, 2, 4), F),
            "r": np.ones((1, 2, 2), F),
        },
    ),
    "an upsampling by a factor in floats": Case(
        [
            node("Shape", ["x"], ["s"]),
            node("Cast", ["s"], ["f"], to=TensorProto.FLOAT),
            node("Mul", ["f", "by"], ["g"]),
            node("Floor", ["g"], ["h"]),
            node("Cast", ["h"], ["sizes"], to=TensorProto.INT64),
            node("Resize", ["x", "", "", "sizes"], ["y"], mode="nearest"),
        ],
        {"by": np.array([1, 1, 2, 2], F)},
        x=(1, 3, 4, 4),
    ),
}
SEPARATE["a state of zeros"].nodes.insert(0, node("Unsqueeze", ["x", "zero"], ["t"]))


@pytest.mark.parametrize("kind", SEPARATE)
def test_items_that_stay_separate(kind: str) -> None:
    model = SEPARATE[kind].model()
    comparison = verify_rebatched(model, rebatch(model))
    assert comparison.equal, comparison


def test_an_operator_without_a_statement_is_refused() -> None:
    nodes = [
        node("SequenceConstruct", ["x", "x"], ["s"], name="pack"),
        node("ConcatFromSequence", ["s"], ["y"], axis=0),
    ]
    with pytest.raises(RebatchError, match="SequenceConstruct pack"):
        rebatch(Case(nodes).model())


def convolutional() -> Case:
    nodes = [
        node("Conv", ["x", "w"], ["c"], name="c", strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Relu", ["c"], ["r"]),
        node("Resize", ["r", "", "scales"], ["u"], mode="nearest"),
        node("Conv", ["u", "v"], ["d"], pads=[1, 1, 1, 1]),
        node("Add", ["u", "d"], ["y"], name="a"),
    ]
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((4, 3, 3, 3)).astype(F), "v": rng.standard_normal((4, 4, 3, 3)).astype(F)}
    return Case(nodes, {**weights, "scales": np.array([1, 1, 2, 2], F)}, (1, 3, 32, 32))


def skip() -> Case:
    """An output of half the size, upsampled and added to the input: only even heights are legal."""
    base = convolutional()
    return attrs.evolve(
        base,
        nodes=[*base.nodes[:3], node("Conv", ["x", "k"], ["e"]), node("Add", ["u", "e"], ["y"])],
        constants={**base.constants, "k": np.ones((4, 3, 1, 1), F)},
    )


def pooled() -> Case:
    nodes = [
        node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        node("GlobalAveragePool", ["p"], ["g"]),
        node("Reshape", ["g", "s"], ["y"]),
    ]
    return Case(nodes, {"s": ints(1, -1)}, (1, 3, 8, 8))


@pytest.mark.parametrize(("case", "sizes"), [(convolutional(), (33, 34)), (skip(), (34, 36)), (pooled(), (9, 10))])
def test_a_spatial_axis(case: Case, sizes: tuple[int, int]) -> None:
    model = case.model()
    rebatched = rebatch(model, axis=2, name="height")
    assert (rebatched.spatial, rebatched.sizes) == (True, sizes)
    assert verify_rebatched(model, rebatched).equal


def test_a_spatial_axis_that_a_weight_fixes() -> None:
    case = pooled()
    nodes = [
        node("Conv", ["x", "k"], ["p"]),
        node("Flatten", ["p"], ["f"], name="f"),
        node("Gemm", ["f", "w"], ["y"], name="fc"),
    ]
    fixed = attrs.evolve(case, nodes=nodes, constants={"w": np.ones((64, 2), F), "k": np.ones((1, 3, 1, 1), F)})
    with pytest.raises(RebatchError, match="fc"):
        rebatch(fixed.model(), axis=2)


def reshaped(*shape: int) -> onnx.ModelProto:
    nodes = [node("Conv", ["x", "k"], ["c"]), node("Reshape", ["c", "s"], ["y"], name="r")]
    return Case(nodes, {"k": np.ones((3, 3, 1, 1), F), "s": ints(*shape)}, (1, 3, 32, 32)).model()


def test_constants_of_a_spatial_axis() -> None:
    """Heights and widths are both 32: the element is the one at the place of the height."""
    assert [str(r) for r in rebatch(reshaped(1, 3, 32, 32), axis=2).rewrites] == ["s[2]: 32 -> 0"]
    assert [str(r) for r in rebatch(reshaped(3, 32, 32), axis=2).rewrites] == ["s[1]: 32 -> -1"]
    with pytest.raises(RebatchError, match="Reshape 'r'"):
        rebatch(reshaped(1, 32, 96), axis=2)  # rows of 96 are no rows of the image


def test_the_axis_of_a_batch_is_never_spatial() -> None:
    case = MIXING["a convolution over the items"]
    with pytest.raises(RebatchError, match="Conv n may mix the items"):
        rebatch(case.model())


def test_a_sequence_on_request() -> None:
    case = single("Softmax", axis=1)
    with pytest.raises(RebatchError, match=r"Softmax n .* axis 1 of x"):
        rebatch(case.model(), axis=1)
    assert str(rebatch(case.model(), axis=1, name="length", spatial=True).result.tensors["y"].shape) == "[2, length]"


def test_verify_on_the_command_line(tmp_path: Path) -> None:
    path, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    onnx.save(convolutional().model(), path)
    for options, line in (
        (["--axis", "2", "--name", "H"], "verified: the shapes at H = 32, 33, 34 are as inferred"),
        ([], "verified: the outputs for a batch are the outputs for its parts"),
    ):
        result = CliRunner().invoke(main, ["rebatch", str(path), *options, "--verify", "-o", str(out)])
        assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, line), result.output
        assert out.exists()
        out.unlink()
    onnx.save(single("Softmax", axis=0).model(), path)
    result = CliRunner().invoke(main, ["rebatch", str(path), "--verify", "-o", str(out)])
    assert result.exit_code == 1 and "Softmax n" in result.stderr and not out.exists()


def test_sparse_initializers_stay(tmp_path: Path) -> None:
    case = Case([node("Relu", ["x"], ["r"]), node("Add", ["r", "w"], ["y"])])
    values = numpy_helper.from_array(np.array([1.0, 2.0], F), "w")
    model = case.model()
    model.graph.sparse_initializer.append(
        onnx.SparseTensorProto(values=values, indices=numpy_helper.from_array(ints(0, 3), "i"), dims=[4])
    )
    rebatched = rebatch(model)
    assert verify_rebatched(model, rebatched).equal
    rebatched.save(tmp_path / "rebatched.onnx")
    bind(tmp_path / "rebatched.onnx", {"batch": 3}).save(tmp_path / "bound.onnx")
    x = np.zeros((3, 4), F)
    expected = run(case_model_at(model, 3).SerializeToString(), {"x": x})
    for name in ("rebatched", "bound"):
        saved = onnx.load(tmp_path / f"{name}.onnx")
        assert list(saved.graph.sparse_initializer) == list(model.graph.sparse_initializer)
        assert np.array_equal(run(saved.SerializeToString(), {"x": x}), expected)


def case_model_at(model: onnx.ModelProto, batch: int) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.graph.input[0].type.tensor_type.shape.dim[0].dim_value = batch
    return copy


def test_a_sequence_of_maps_has_an_element_for_each_item() -> None:
    zip_map = node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_int64s=[5, 6, 7, 8], name="zip")
    model = Case([zip_map]).model()
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    assert verify_rebatched(model, rebatch(model)).equal
