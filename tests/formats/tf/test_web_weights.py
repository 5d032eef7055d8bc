"""Weights of TensorFlow.js: float16 in the shards, and shards that are missing or too short.

Source: getWeightBytelength and decodeWeight of dist/io/io_utils.js in @tensorflow/tfjs-core 4.22.0.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shapeinf import infer_shapes
from shapeinf.checks import check


def document(weights: list[dict[str, Any]], paths: list[str], shape: list[int]) -> dict[str, Any]:
    """x + b, and x reshaped by the contents of s where that weight is there."""
    float_type, names = {"dtype": {"type": "DT_FLOAT"}}, [weight["name"] for weight in weights]
    dims = [{"size": str(size)} for size in shape]

    def constant(name: str, kind: str, sizes: list[int]) -> dict[str, Any]:
        tensor = {"dtype": kind, "tensorShape": {"dim": [{"size": str(size)} for size in sizes]}}
        return {"name": name, "op": "Const", "attr": {"dtype": {"type": kind}, "value": {"tensor": tensor}}}

    nodes: list[dict[str, Any]] = [
        {"name": "x", "op": "Placeholder", "attr": {**float_type, "shape": {"shape": {"dim": dims}}}},
        constant("b", "DT_FLOAT", [shape[-1]]),
        {"name": "y", "op": "AddV2", "input": ["x", "b"], "attr": {"T": {"type": "DT_FLOAT"}}},
    ]
    if "s" in names:
        types = {"T": {"type": "DT_FLOAT"}, "Tshape": {"type": "DT_INT32"}}
        nodes += [constant("s", "DT_INT32", [2]), {"name": "r", "op": "Reshape", "input": ["y", "s"], "attr": types}]
    manifest = [{"paths": paths, "weights": weights}]
    topology = {"node": nodes, "library": {}, "versions": {"producer": 561}}
    return {"format": "graph-model", "modelTopology": topology, "weightsManifest": manifest}


def write(folder: Path, weights: list[dict[str, Any]], shards: dict[str, bytes], shape: list[int]) -> Path:
    (folder / "model.json").write_text(json.dumps(document(weights, list(shards), shape)))
    for name, data in shards.items():
        (folder / name).write_bytes(data)
    return folder / "model.json"


def float16(name: str, size: int) -> dict[str, Any]:
    quantization = {"dtype": "float16", "original_dtype": "float32"}
    return {"name": name, "shape": [size], "dtype": "float32", "quantization": quantization}


@pytest.mark.parametrize("size", [1, 7, 8])
def test_float16_weights_are_two_bytes_an_element(tmp_path: Path, size: int) -> None:
    """The number of elements may be odd; a weight behind has its place after two bytes an element."""
    weights = [float16("b", size), {"name": "s", "shape": [2], "dtype": "int32"}]
    values = np.arange(size, dtype="<f2") / 2
    data = values.tobytes() + np.array([size, 3], "<i4").tobytes()
    result = infer_shapes(write(tmp_path, weights, {"w.bin": data}, [3, size]))
    assert str(result.outputs["r:0"]) == f"float32[{size}, 3]"
    constant = result.graph.constants["b:0"]
    assert (constant.dtype, list(constant.elements or ())) == ("float32", values.tolist())
    assert not [diagnostic for diagnostic in check(result) if diagnostic.code == "C170"]


@pytest.mark.parametrize("stored", ["uint8", "uint16", "int32"])
def test_other_quantized_weights_have_no_contents(tmp_path: Path, stored: str) -> None:
    quantization = {"dtype": stored, "scale": 0.5, "min": 0.0, "original_dtype": "float32"}
    weights = [{"name": "b", "shape": [4], "dtype": "float32", "quantization": quantization}]
    result = infer_shapes(write(tmp_path, weights, {"w.bin": bytes(16)}, [3, 4]))
    assert str(result.outputs["y:0"]) == "float32[3, 4]" and result.graph.constants["b:0"].elements is None


SHARDS = {"a.bin": bytes(8), "b.bin": bytes(8), "c.bin": bytes(8)}


@pytest.mark.parametrize(
    ("missing", "names"),
    [("a.bin", "'b'; also those of 's'"), ("b.bin", "'b'; also those of 's'"), ("c.bin", "'s'"), (None, "")],
)
def test_a_missing_shard(tmp_path: Path, missing: str | None, names: str) -> None:
    """16 bytes of b are in the first two shards, 8 bytes of s in the third one."""
    weights = [{"name": "b", "shape": [4], "dtype": "float32"}, {"name": "s", "shape": [2], "dtype": "int32"}]
    path = write(tmp_path, weights, SHARDS, [3, 4])
    if missing is not None:
        (tmp_path / missing).unlink()
    found = [str(diagnostic.message) for diagnostic in check(infer_shapes(path)) if diagnostic.code == "C170"]
    if missing is None:
        assert found == []
        return
    (message,) = found
    assert f"the file {missing!r} is missing" in message and message.startswith(f"the data of {names[:3]}")
    assert message.endswith("also those of 's'") == ("also" in names)


def test_a_shard_that_is_too_short(tmp_path: Path) -> None:
    path = write(tmp_path, [float16("b", 4)], {"w.bin": bytes(7)}, [3, 4])
    (message,) = [d.message for d in check(infer_shapes(path)) if d.code == "C170"]
    assert message == "the data of 'b' are missing: its files end after 7 bytes, 'w.bin' last"


def test_shards_outside_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    path = write(tmp_path / "model", [{"name": "b", "shape": [500], "dtype": "float32"}], {}, [3, 500])
    text = json.loads(path.read_text())
    text["weightsManifest"][0]["paths"] = ["../w.bin"]
    path.write_text(json.dumps(text))
    (message,) = [d.message for d in check(infer_shapes(path)) if d.code == "C170"]
    assert "outside the model's folder" in message


def test_a_document_without_a_file_misses_nothing() -> None:
    text = json.dumps(document([float16("b", 4)], ["w.bin"], [3, 4]))
    assert not [d for d in check(infer_shapes(text.encode())) if d.code == "C170"]
