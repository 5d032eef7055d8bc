"""ONNX models and TensorFlow graphs in their text and JSON forms, for damage to tokens."""

from __future__ import annotations

import json
import random
from functools import cache

import onnx
from google.protobuf import json_format, text_format

from tests.differential.random_graphs import bodies, sizes
from tests.formats.damage.documents import TextDamage
from tests.formats.damage.tensorflow import LOOPS, of_operators

_WEIGHTS = [{"name": "w", "dtype": "float32", "shape": [3]}, {"name": "c", "dtype": "int32", "shape": [2]}]
_NODES = [
    {
        "name": "x",
        "op": "Placeholder",
        "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {"dim": [{"size": "-1"}, {"size": "6"}]}}},
    },
    {
        "name": "c",
        "op": "Const",
        "attr": {
            "dtype": {"type": "DT_INT32"},
            "value": {"tensor": {"dtype": "DT_INT32", "tensorShape": {"dim": [{"size": "2"}]}, "intVal": [-1, 3]}},
        },
    },
    {"name": "r", "op": "Reshape", "input": ["x", "c"], "attr": {"T": {"type": "DT_FLOAT"}}},
    {"name": "y", "op": "AddV2", "input": ["r", "r"], "attr": {"T": {"type": "DT_FLOAT"}}},
]


def text_case(family: str, draw: random.Random) -> str:
    """A damaged text of a family: a token is removed, repeated or replaced at a few positions."""
    return TextDamage(draw, _TEXTS[family]()).damaged()


@cache
def _models() -> list[onnx.ModelProto]:
    return [module.drawn(seed) for module in (bodies, sizes) for seed in range(8)]


@cache
def _onnx_texts() -> list[str]:
    return [text_format.MessageToString(model) for model in _models()]


@cache
def _onnx_syntax() -> list[str]:
    return [onnx.printer.to_text(model) for model in _models()]


@cache
def _onnx_json() -> list[str]:
    return [json_format.MessageToJson(model) for model in _models()]


@cache
def _tensorflow_texts() -> list[str]:
    return [LOOPS, *(of_operators(random.Random(seed)) for seed in range(8))]


@cache
def _tensorflow_js() -> list[str]:
    topology = {"node": _NODES, "versions": {"producer": 2474}}
    manifest = [{"paths": ["group1.bin"], "weights": _WEIGHTS}]
    document = {"format": "graph-model", "modelTopology": topology, "weightsManifest": manifest}
    return [json.dumps(document, indent=1)]


_TEXTS = {
    "onnx text": _onnx_texts,
    "onnx syntax": _onnx_syntax,
    "onnx json": _onnx_json,
    "tensorflow text": _tensorflow_texts,
    "tensorflow.js": _tensorflow_js,
}
TEXT_FAMILIES = tuple(_TEXTS)
