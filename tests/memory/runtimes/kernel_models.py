"""Models of one node, and what the kernels of onnxruntime are predicted to allocate for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import onnx
from onnx import helper, numpy_helper

from shapeinf import infer_shapes
from shapeinf.expr import DimSize, evaluate
from shapeinf.lattice.dtypes import ONNX_CODES
from shapeinf.memory.runtimes.kernels import KernelContext, RuntimeKernels, Scratch, find_kernels
from shapeinf.memory.runtimes.onnxruntime.options import OnnxRuntimeOptions
from shapeinf.memory.runtimes.onnxruntime.temporaries import kernel_context
from shapeinf.ops import default_registry
from shapeinf.result import Result

MS, NCHWC = "com.microsoft", "com.microsoft.nchwc"
VERSIONS = {MS: 1, NCHWC: 1, "ai.onnx.ml": 3}
"""The versions of domains besides that of the case."""
UP = 64


def kernels() -> RuntimeKernels:
    found = find_kernels(default_registry().dialect("onnx"), "onnxruntime")
    assert found is not None
    return found


@attrs.frozen
class Input:
    """An input of a node, an initializer if `constant`; its dims are symbols of a model if that is requested."""

    array: Any
    constant: bool = False


@attrs.frozen
class Case:
    """A node with its inputs; `outputs` has an empty name for an output that the node lacks."""

    label: str
    op: str
    inputs: Sequence[Input | None]
    attributes: Mapping[str, Any] = attrs.Factory(dict)
    domain: str = ""
    opset: int = 20
    outputs: Sequence[str] = ("y0",)

    def feeds(self) -> dict[str, Any]:
        present = enumerate(self.inputs)
        return {f"x{i}": value.array for i, value in present if value is not None and not value.constant}

    def model(self, symbolic: bool = False) -> onnx.ModelProto:
        """The model; `symbolic`: with a symbol for each dim of the inputs."""
        names = ["" if value is None else f"x{i}" for i, value in enumerate(self.inputs)]
        node = helper.make_node(self.op, names, list(self.outputs), domain=self.domain, **self.attributes)
        inputs, constants = [], []
        for name, value in zip(names, self.inputs, strict=True):
            if value is not None and value.constant:
                constants.append(numpy_helper.from_array(value.array, name))
            elif value is not None:
                shape = self.dim_names(name) if symbolic else value.array.shape
                inputs.append(helper.make_tensor_value_info(name, ONNX_CODES[value.array.dtype.name], shape))
        outputs = [onnx.ValueInfoProto(name=name) for name in self.outputs if name]
        graph = helper.make_graph([node], "g", inputs, outputs, constants)
        opsets = [helper.make_opsetid(domain, version) for domain, version in VERSIONS.items()]
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset), *opsets], ir_version=10)

    def save(self, folder: Path) -> Path:
        path = folder / f"{self.label.replace('/', '_').replace(' ', '_')}.onnx"
        onnx.save(self.model(), path)
        return path

    def binding(self) -> dict[str, int]:
        """The sizes of the symbols of the model with symbolic dims."""
        feeds = self.feeds().items()
        return {dim: d for name, array in feeds for dim, d in zip(self.dim_names(name), array.shape, strict=True)}

    def dim_names(self, name: str) -> list[str]:
        """A symbol for each axis of an input: letters of an equation, which mean equal sizes, or `NAME_AXIS`."""
        operands = self.attributes.get("equation", "...").partition("->")[0].split(",")
        position = int(name.removeprefix("x"))
        if not any("..." in operand for operand in operands):
            return [f"size_{letter}" for letter in operands[position]]
        value = self.inputs[position]
        return [] if value is None else [f"{name}_{axis}" for axis in range(value.array.ndim)]


def context(result: Result, threads: int = 1, prepacking: bool = True) -> KernelContext:
    """The call of the only node of a model."""
    inference = result.engine.inference
    compiled = inference.compiled
    constants = {compiled.slots[name] for name in compiled.graph.constants}
    options = OnnxRuntimeOptions(threads=threads, prepacking=prepacking)
    return kernel_context(inference, compiled.step(0), constants, options)


def infer(case: Case, symbolic: bool = False) -> Result:
    return infer_shapes(case.model(symbolic))


def rounded(size: DimSize, binding: Mapping[str, int]) -> int:
    """The bytes that the allocator takes for a buffer, at these sizes."""
    number = size if isinstance(size, int) else evaluate(size, binding)
    assert isinstance(number, int)
    return -(-number // UP) * UP


def peak(scratch: Scratch, outputs: int, binding: Mapping[str, int] | None = None) -> int:
    """The bytes at the peak of a node, outputs included."""
    before, beside = (
        sum(rounded(size, binding or {}) for size in sizes) for sizes in (scratch.before_outputs, scratch.with_outputs)
    )
    return max(before, outputs + beside)


def held(c: KernelContext, case: Case) -> int:
    """The bytes of the initializers of a node after its kernel has repacked some."""
    packed = kernels().find_prepacked(c)
    total = sum(rounded(size, {}) for sizes in packed.values() for size in sizes)
    for index, value in enumerate(case.inputs):
        if value is not None and value.constant and index not in packed:
            total += rounded(value.array.nbytes, {})
    return total


def numbers(rng: np.random.Generator, *dims: int, dtype: str = "float32") -> Any:
    """Random numbers of a type, integers are 0 or 1."""
    if dtype == "bool":
        return rng.integers(0, 2, dims).astype(bool)
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0, 2, dims).astype(dtype)
    return rng.standard_normal(dims).astype(dtype)
