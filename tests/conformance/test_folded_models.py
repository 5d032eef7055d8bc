"""Real models after all passes: the numbers of random weights, the sizes that they accept, and the number of nodes."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from shapeinf import infer_shapes
from shapeinf.passes import clean
from tests.vectors import ROOT

MODELS = sorted(ROOT.glob("models/dev/*.onnx"), key=lambda path: path.stat().st_size)
HANDFUL = random.Random(35).sample(MODELS[: len(MODELS) // 2], min(4, len(MODELS)))

NODES = {"bert.ts": 140, "gpt2_past.ts": 251, "llama.ts": 206, "whisper.ts": 312, "segformer.ts": 424}
"""The nodes of models after OnnxSlim 0.1.98, which clean must not exceed."""


@pytest.mark.skipif(not MODELS, reason="the conformance models are not here")
@pytest.mark.parametrize("path", HANDFUL, ids=lambda path: path.stem)
def test_some_models(path: Path) -> None:
    check(path)


@pytest.mark.slow
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_all_models(path: Path) -> None:
    check(path)


@pytest.mark.slow
@pytest.mark.skipif(not MODELS, reason="the conformance models are not here")
@pytest.mark.parametrize("name", NODES)
def test_number_of_nodes(name: str) -> None:
    result = clean(ROOT / "models" / "dev" / f"{name}.onnx").to_proto()
    assert sum(len(graph.node) for graph in scopes(result.graph)) <= NODES[name]


def check(path: Path) -> None:
    """Numbers at two bindings, and the answers of both contracts at legal and illegal sizes."""
    pytest.importorskip("onnxruntime")
    model = with_random_weights(onnx.load_model(path, load_external_data=False))
    cleaned = clean(model, verify=True)
    assert not cleaned.report.undone
    assert cleaned.comparison is not None and not cleaned.comparison.differences
    after = cleaned.to_proto()
    contracts = [infer_shapes(each, declared="ignore").contract for each in (model, after)]
    truth = json.loads(path.with_name(f"{path.stem}.truth.json").read_text(encoding="utf-8"))
    for sizes in sizes_near(truth["bindings"], infer_shapes(model).dims):
        want, got = (contract.check(sizes) for contract in contracts)
        assert want.verdict == got.verdict, f"{sizes}: {want} before, {got} after"


def sizes_near(bindings: list[dict[str, int]], dims: Any) -> Iterator[dict[str, int]]:
    """Bindings, and the first one with each dim at 0, 1, or larger by 1."""
    bindings = [{name: size for name, size in binding.items() if name in dims} for binding in bindings]
    yield from bindings[:2]
    for name, size in bindings[0].items() if bindings else ():
        for other in (0, 1, size + 1):
            yield {**bindings[0], name: other}


def with_random_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with numbers in place of the weights in other files, which are zeros."""
    for graph in scopes(model.graph):
        for tensor in [*graph.initializer, *(a.t for node in graph.node for a in node.attribute if a.HasField("t"))]:
            if tensor.data_location == onnx.TensorProto.EXTERNAL:
                tensor.CopyFrom(numpy_helper.from_array(numbers(tensor), tensor.name))
    return model


def numbers(tensor: onnx.TensorProto) -> Any:
    """Positive numbers for vectors, such as scales and variances."""
    generator = np.random.default_rng(zlib.crc32(tensor.name.encode()))
    dtype, shape = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type), tuple(tensor.dims)
    if dtype.kind in "biu":
        return np.zeros(shape, dtype)
    return (generator.normal(size=shape) * 0.3 if len(shape) > 1 else generator.uniform(0.5, 1.5, shape)).astype(dtype)


def scopes(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from scopes(attribute.g)
