"""The damaged files, by family and number: the same number is the same file everywhere."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from onnx import helper

from tests.differential.random_graphs import bodies, sizes
from tests.formats.damage.documents import DOCUMENTS, ArchiveDamage, TextDamage
from tests.formats.damage.pnnx import NetworkDamage, networks
from tests.formats.damage.structure import StructureDamage, operators
from tests.formats.damage.tensorflow import tensorflow_models
from tests.formats.damage.texts import TEXT_FAMILIES, text_case
from tests.formats.damage.tflite import damaged_flatbuffer
from tests.formats.damage.torch_export import damaged_package
from tests.formats.damage.wire import WireDamage

EXAMPLES = Path(__file__).parents[3] / "examples"
FAMILIES = ("wire", "structure", "text", "archive", "tensorflow", "pnnx", "passes")

SUFFIXES = {
    "wire": "onnx",
    "structure": "onnx",
    "onnx text": "textproto",
    "onnx syntax": "onnxtxt",
    "onnx json": "json",
    "text": "nnef",
    "archive": "nnef.tar",
    "tensorflow": "pb",
    "tensorflow text": "pbtxt",
    "tensorflow.js": "json",
    "pnnx": "pnnx.param",
    "torch.export": "pt2",
    "tflite": "tflite",
}
"""The form of a file, and the suffix of its name: one family or several for each format that is read."""

_OF_NUMBERS = {"torch.export": damaged_package, "tflite": damaged_flatbuffer}


@cache
def models() -> list[bytes]:
    """ONNX models: examples, random graphs of sizes and of bodies, and a model of each operator."""
    files = [path.read_bytes() for path in sorted(EXAMPLES.glob("*.onnx"))]
    files += [module.drawn(seed).SerializeToString() for module in (bodies, sizes) for seed in range(12)]
    return files + [of_operators(seed).SerializeToString() for seed in range(40)]


def of_operators(seed: int) -> object:
    """A model of a few operators in a row."""
    draw = random.Random(seed)
    nodes, names = [], ["x", "z"]
    domains = {"": 21}
    for number, (domain, op) in enumerate(draw.sample(operators(), 12)):
        domains.setdefault(domain, 1)
        inputs = [draw.choice(names) for _ in range(draw.choice((1, 2, 3)))]
        nodes.append(helper.make_node(op, inputs, [f"t{number}"], domain=domain))
        names.append(f"t{number}")
    values = [helper.make_tensor_value_info("x", 1, ["N", 4, 8]), helper.make_tensor_value_info("z", 7, [3])]
    outputs = [helper.make_empty_tensor_value_info(name) for name in names[-2:]]
    graph = helper.make_graph(nodes, "g", values, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*each) for each in domains.items()])


@cache
def documents() -> list[str]:
    """NNEF documents."""
    return [*DOCUMENTS, *DOCUMENTS, *(path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.nnef")))]


def case(family: str, number: int) -> bytes | str:
    """A damaged file."""
    draw = random.Random(f"{family} {number}")
    if family in TEXT_FAMILIES:
        return text_case(family, draw)
    if family == "wire":
        return WireDamage(draw, models()).damaged()
    if family == "passes":  # which edit the models of both families
        return case(("wire", "structure")[number % 2], number)
    if family == "structure":
        return StructureDamage(draw, models()).damaged()
    if family == "tensorflow":
        return WireDamage(draw, tensorflow_models()).damaged()
    if family == "pnnx":
        return NetworkDamage(draw, networks()).damaged()
    if family in _OF_NUMBERS:
        return _OF_NUMBERS[family](number)
    return TextDamage(draw, documents()).damaged() if family == "text" else ArchiveDamage(draw).damaged()
