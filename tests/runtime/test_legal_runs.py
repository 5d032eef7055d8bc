"""`verify` and `clean --verify`: unusual outputs, sizes by the contract, and values that a runtime requires."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

pytest.importorskip("onnxruntime", reason="the runtime is onnxruntime")

from shapeinf.cli import main
from shapeinf.passes import clean
from shapeinf.runtime import verify

node, value = helper.make_node, helper.make_tensor_value_info
F = np.float32


def model(
    nodes: list[Any], inputs: list[Any], outputs: list[Any], constants: dict[str, Any] | None = None, opset: int = 18
) -> onnx.ModelProto:
    weights = [numpy_helper.from_array(np.asarray(array), name) for name, array in (constants or {}).items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


X, Y = (value(name, TensorProto.FLOAT, [2, 3]) for name in "xy")


def attention_with_caches() -> onnx.ModelProto:
    shapes = {"q": ("B", 4, "S", 16), "k": ("B", 2, "L", 16), "v": ("B", 2, "L", 8)}
    shapes |= {"pk": ("B", 2, "P", 16), "pv": ("B", 2, "P", 8)}
    inputs = [value(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in ("y", "a", "b", "qk")]
    nodes = [node("Attention", ["q", "k", "v", "", "pk", "pv"], ["y", "a", "b", "qk"])]
    return model(nodes, inputs, outputs, opset=23)


UNUSUAL = {
    "no nodes": model([], [X], [X]),
    "a constant as an output": model(
        [node("Relu", ["x"], ["y"])], [X], [Y, value("k", TensorProto.FLOAT, [3])], {"k": np.ones(3, F)}
    ),
    "an output twice": model([node("Relu", ["x"], ["y"])], [X], [Y, Y]),
    "an input as an output": model([node("Relu", ["x"], ["y"])], [X], [X, Y]),
    "two inputs, one of them unused and an output": model(
        [node("Relu", ["x"], ["y"])],
        [X, value("z", TensorProto.INT64, ["n"])],
        [Y, value("z", TensorProto.INT64, ["n"])],
    ),
    "outputs without types": attention_with_caches(),
}


@pytest.mark.parametrize("kind", UNUSUAL)
def test_unusual_outputs_are_verified(kind: str) -> None:
    verification = verify(UNUSUAL[kind])
    assert "verified" in str(verification).splitlines()[-1] and not verification.refused, str(verification)
    assert "not verified" not in str(verification)
    comparison = clean(UNUSUAL[kind], verify=True).comparison
    assert comparison is not None and comparison.equal, comparison


def decoder(direct: bool) -> onnx.ModelProto:
    """A layer as the builder of onnxruntime-genai makes it; `direct`: the lengths are inputs."""
    heads, cached, width = 4, 2, 16
    rng = np.random.default_rng(0)
    weights = {"table": (50, 32), "wq": (32, 64), "wk": (32, 32), "wv": (32, 32), "wo": (64, 50)}
    constants: dict[str, Any] = {name: rng.standard_normal(shape).astype(F) for name, shape in weights.items()}
    angles = np.arange(256 * 8, dtype=F).reshape(256, 8)
    constants |= {"cos": np.cos(angles), "sin": np.sin(angles)}
    inputs = [value("input_ids", TensorProto.INT64, ["batch_size", "sequence_length"])]
    past = ["batch_size", cached, "past_sequence_length", width]
    caches = [value(f"past_key_values.0.{name}", TensorProto.FLOAT, past) for name in ("key", "value")]
    nodes: list[Any] = []
    lengths = ["seqlens_k", "total_sequence_length"]
    if direct:
        inputs += [value(lengths[0], TensorProto.INT32, ["batch_size"]), value(lengths[1], TensorProto.INT32, [1])]
    else:
        inputs += [value("attention_mask", TensorProto.INT64, ["batch_size", "total_sequence_length"])]
        constants |= {"one": np.array([1], np.int64), "first": np.array(1, np.int64)}
        nodes = [
            node("ReduceSum", ["attention_mask", "one"], ["sums"]),
            node("Sub", ["sums", "one"], ["lasts"]),
            node("Cast", ["lasts"], [lengths[0]], to=TensorProto.INT32),
            node("Shape", ["attention_mask"], ["shape"]),
            node("Gather", ["shape", "first"], ["size"]),
            node("Cast", ["size"], [lengths[1]], to=TensorProto.INT32),
        ]
    attention = node(
        "GroupQueryAttention",
        ["q", "k", "v", caches[0].name, caches[1].name, *lengths, "cos", "sin"],
        ["a", "present.key", "present.value"],
        domain="com.microsoft",
        num_heads=heads,
        kv_num_heads=cached,
        do_rotary=1,
    )
    nodes += [node("Gather", ["table", "input_ids"], ["x"])]
    nodes += [node("MatMul", ["x", f"w{name}"], [name]) for name in "qkv"]
    nodes += [attention, node("MatMul", ["a", "wo"], ["logits"])]
    outputs = [onnx.ValueInfoProto(name=name) for name in ("logits", "present.key", "present.value")]
    for output in outputs:
        output.type.tensor_type.elem_type = TensorProto.FLOAT
    return model(nodes, [*inputs, *caches], outputs, constants)


@pytest.mark.parametrize("direct", [False, True])
def test_a_decoder_of_the_builder_of_genai(direct: bool) -> None:
    verification = verify(decoder(direct))
    assert not verification.refused and not verification.mismatches, str(verification)
    comparison = clean(decoder(direct), verify=True).comparison
    assert comparison is not None and comparison.equal, comparison


def detector(levels: int, *, exact: bool) -> onnx.ModelProto:
    """Halves of an image, doubled again and joined: heights and widths must be multiples of 2^levels.

    `exact`: the parts are concatenated, so that a size of 1 does not broadcast.
    """
    rng = np.random.default_rng(0)
    constants: dict[str, Any] = {"scales": np.array([1, 1, 2, 2], F)}
    nodes, features = [], ["x"]
    for level in range(levels):
        constants[f"w{level}"] = rng.standard_normal((3, 3, 3, 3)).astype(F)
        nodes.append(node("Conv", [features[-1], f"w{level}"], [f"c{level}"], strides=[2, 2], pads=[1, 1, 1, 1]))
        features.append(f"c{level}")
    top = features.pop()
    for level, feature in enumerate(reversed(features)):
        nodes.append(node("Resize", [top, "", "scales"], [f"u{level}"], mode="nearest"))
        nodes.append(
            node("Concat", [f"u{level}", feature], [f"j{level}"], axis=1)
            if exact
            else node("Add", [f"u{level}", feature], [f"j{level}"])
        )
        top = f"j{level}"
    inputs = [value("x", TensorProto.FLOAT, ["n", 3, "h", "w"])]
    return model(nodes, inputs, [onnx.ValueInfoProto(name=top)], constants)


@pytest.mark.parametrize("levels", [3, 5, 6])
@pytest.mark.parametrize("exact", [False, True])
def test_sizes_of_a_detector_are_multiples(levels: int, exact: bool) -> None:
    verification = verify(detector(levels, exact=exact))
    assert not verification.refused and not verification.mismatches, str(verification)
    (run,) = verification.runs
    assert run.sizes["h"] % 2**levels == 0 or not exact


def test_sizes_on_the_command_line(tmp_path: Path) -> None:
    path, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    onnx.save(decoder(direct=False), path)
    sizes = "batch_size=1,sequence_length=3,past_sequence_length=4,total_sequence_length=7"
    for command in (
        ["verify", str(path), "--at", sizes],
        ["clean", str(path), "-o", str(out), "--verify", "--at", sizes],
    ):
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 0, result.output
    assert "verified: the numbers of 1 run agree" in result.stdout
    wrong = CliRunner().invoke(main, ["clean", str(path), "-o", str(out), "--verify", "--at", "batch=1"])
    assert wrong.exit_code == 2 and "batch_size" in wrong.stderr
    assert CliRunner().invoke(main, ["clean", str(path), "-o", str(out), "--at", "batch_size=1"]).exit_code == 2
