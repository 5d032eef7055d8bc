"""Single calls of the operators of all dialects, as graphs whose inputs have known sizes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import pytest

from opdefs.nnef.library import LAYERS, library
from opdefs.nnef.schemas import tensor_type
from shapeinf import infer_shapes
from shapeinf.formats.nnef.versions import FINAL, VERSIONS
from shapeinf.graph import DeclaredType, Graph, Node, NodeKind
from shapeinf.lattice import PartialTensor, Shape
from shapeinf.ops import default_registry
from tests.differential.operands.nnef_cases import NNEF_CASES, NO_CALL, ONE_INPUT, OTHER_INPUT


@attrs.frozen(eq=False)
class OperatorCall:
    """A call: what `infer_shapes` takes, and further keywords."""

    op: str
    label: str
    model: Any = attrs.field(repr=False)
    options: Mapping[str, Any] = attrs.Factory(dict)

    def __str__(self) -> str:
        return f"{self.op}: {self.label}"


def onnx_calls() -> Iterator[OperatorCall]:
    """The nodes of ONNX and com.microsoft, with constants for contents that decide shapes, and with inputs for them."""
    pytest.importorskip("onnx.backend.test.loader", reason="the published cases of ONNX are part of the package onnx")
    from tests.differential.operands.nodes import nodes

    for node in nodes():
        for opened in (False, True):
            label = f"{node.name} (opset {node.version}){' with all inputs' if opened else ''}"
            yield OperatorCall(node.op, label, attrs.evolve(node, opened=opened).model())


def tf_calls() -> Iterator[OperatorCall]:
    """The cases of TensorFlow's kernels."""
    from tests.differential.tf.families import FAMILIES

    for cases in FAMILIES.values():
        for case in cases:
            yield OperatorCall(case.op, str(case), _tf_graph(case))


def _tf_graph(case: Any) -> Graph:
    from tests.differential.tf.case import Runtime, call_of, dtype_name

    graph = Graph(case.op, "tf", {"": 0})
    names = []
    for index, (spec, array) in enumerate(zip(case.specs(), case.arrays(), strict=True)):
        names.append(name := f"x{index}")
        if isinstance(spec, (str, Runtime)):
            graph.inputs.append(name)
            graph.declared[name] = DeclaredType(dtype_name(array), array.shape)
        else:
            graph.constants[name] = PartialTensor(dtype_name(array), Shape(array.shape), array.reshape(-1).tolist())
    graph.nodes = [Node(NodeKind(case.op, "", call_of(case, 1).attributes), tuple(names), ("y",), "node")]
    graph.outputs = ["y"]
    return graph


def nnef_calls() -> Iterator[OperatorCall]:
    """Calls of NNEF's operations in all dialects: those of the tables, and of each operation with one input."""
    for version, op, shapes, attributes in (*NNEF_CASES, *_earlier_nnef_cases(), *_one_input_calls()):
        yield OperatorCall(op, f"{shapes} {attributes}", _nnef_graph(version, op, shapes, attributes))


def _earlier_nnef_cases() -> Iterator[tuple[int, str, tuple[tuple[int, ...], ...], dict[str, object]]]:
    """The cases of the other tests of NNEF; each symbol is a number from 4 on."""
    pytest.importorskip("nnef.shapes", reason="the tables of NNEF's cases are beside tests that need nnef")
    from tests.differential.test_nnef_cases import SHAPES
    from tests.differential.test_nnef_operands import CASES, REGION_CASES

    for op, shapes, attributes in (*CASES, *REGION_CASES):
        yield FINAL, op, shapes, attributes
    for case in SHAPES:
        numbers: dict[str, int] = {}
        texts = [text.split(",") for text in case.inputs]
        sizes = [tuple(int(d) if d.isdigit() else numbers.setdefault(d, 4 + len(numbers)) for d in t) for t in texts]
        yield case.version, case.op, tuple(sizes), case.attributes


def nnef_operations() -> dict[str, tuple[int, int]]:
    """The operations that take a tensor: a version that has the operation, and the number of its tensors."""
    lookup, operations = default_registry().dialect("nnef").lookup, {}
    for dialect, version in VERSIONS.items():
        for fragment in library(dialect):
            count = sum(tensor_type(parameter.type) is not None for parameter in fragment.parameters)
            definition = lookup("", fragment.name, version)
            if count and fragment.name not in LAYERS and definition is not None and definition.rule is not None:
                operations.setdefault(fragment.name, (version, count))
    return operations


def _one_input_calls() -> Iterator[tuple[int, str, tuple[tuple[int, ...], ...], dict[str, object]]]:
    for op, (version, count) in nnef_operations().items():
        if count == 1 and op not in OTHER_INPUT and op not in NO_CALL:
            yield version, op, ((2, 4, 6, 8),), ONE_INPUT.get(op, {})


def _nnef_graph(version: int, op: str, shapes: tuple[tuple[int, ...] | None, ...], attributes: Any) -> Graph:
    names = ["" if shape is None else f"in{index}" for index, shape in enumerate(shapes)]
    inputs = [name for name in names if name]
    declared = {f"in{i}": DeclaredType("float32", shape) for i, shape in enumerate(shapes) if shape is not None}
    count = attributes.get("times", 2 if op == "split" else 1)
    outputs = [f"y{i}" for i in range(count)]
    node = Node(NodeKind(op, "", attributes), tuple(names), tuple(outputs), "node")
    return Graph("g", "nnef", {"": version}, inputs, outputs, [node], declared)


def pnnx_calls() -> Iterator[OperatorCall]:
    """The recorded networks of a few operators of PNNX, with the sizes of their first run."""
    from tests.differential.pnnx.families import FAMILIES
    from tests.differential.pnnx.record import RECORDED

    for family, cases in FAMILIES.items():
        records = json.loads((RECORDED / f"{family}.json").read_text(encoding="utf8"))
        for case in cases:
            for kind, network in records[case.name].items():
                if kind != "source":
                    blobs = infer_shapes(network["param"]).graph.inputs
                    shapes = (x["shape"] for x in network["runs"][0]["inputs"])
                    inputs = dict(zip(blobs, shapes, strict=True))
                    options = {"inputs": inputs, "declared": "ignore"}
                    yield OperatorCall(family, f"{case.name} {kind}", network["param"], options)


CALLS = {"onnx": onnx_calls, "tf": tf_calls, "nnef": nnef_calls, "pnnx": pnnx_calls}
