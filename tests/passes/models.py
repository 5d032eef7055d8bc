"""Small models from text and arrays, and random inputs for them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import ml_dtypes
import numpy as np
import onnx
import onnx.parser
from onnx import helper, numpy_helper

SIZES = (2, 3)
"""The sizes of open axes, one for each feed."""


def random(*shape: int, dtype: Any = np.float32) -> Any:
    """Numbers that depend on the shape alone."""
    generator = np.random.default_rng(zlib.crc32(repr(shape).encode()))
    return np.asarray(generator.normal(size=shape)).astype(dtype)


def statistics(channels: int, dtype: Any = np.float32) -> dict[str, Any]:
    """Scale, offset, mean and variance of a batch normalization, as s, o, m, v."""
    scale, offset, mean, variance = random(4, channels)
    return {
        name: array.astype(dtype)
        for name, array in {"s": scale, "o": offset, "m": mean, "v": np.abs(variance) + 0.5}.items()
    }


def build(
    text: str,
    constants: Mapping[str, Any],
    *,
    opset: int = 17,
    ir_version: int = 8,
    domains: str = "",
    functions: str = "",
    overridable: Sequence[str] = (),
    edit: Callable[[onnx.ModelProto], None] | None = None,
) -> onnx.ModelProto:
    """A model of a graph in the text form of the onnx package, with initializers of its main graph.

    Before IR version 4 each of them is an input as well. `edit` makes changes that the text form does not have.
    """
    imports = f'"" : {opset}' + (f", {domains}" if domains else "")
    model = onnx.parser.parse_model(f"<ir_version: {ir_version}, opset_import: [{imports}]>\n{text}\n{functions}")
    for name, array in constants.items():
        tensor = numpy_helper.from_array(np.asarray(array), name)
        model.graph.initializer.append(tensor)
        if ir_version < 4 or name in overridable:
            model.graph.input.append(helper.make_tensor_value_info(name, tensor.data_type, tensor.dims))
    if edit is not None:
        edit(model)
    return model


@attrs.frozen(kw_only=True)
class Case:
    """A model, the passes that run on it, and the operators that it has afterwards; None: nothing changes."""

    name: str
    passes: tuple[str, ...]
    text: str
    constants: Mapping[str, Any] = attrs.field(factory=dict)
    after: str | None = None
    opset_after: int | None = None
    options: Mapping[str, Any] = attrs.field(factory=dict)
    runs: bool = True
    """Whether onnxruntime has the operators for these types and opsets."""
    valid: bool = True
    """Whether the checker accepts the original."""
    rtol: float = 0.0
    atol: float = 0.0

    def model(self) -> onnx.ModelProto:
        return build(self.text, self.constants, **self.options)


def feeds(model: onnx.ModelProto) -> list[dict[str, Any]]:
    """Random inputs at both sizes of the open axes; inputs with a default have it at first, then other numbers."""
    defaults = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if model.ir_version >= 4 or value.name not in defaults]
    result: list[dict[str, Any]] = [{}, {}]
    for index, (feed, size) in enumerate(zip(result, SIZES, strict=True)):
        for value in inputs:
            if value.name not in defaults:
                feed[value.name] = _values(value, size, index)
            elif index:
                feed[value.name] = defaults[value.name] + defaults[value.name].dtype.type(1)
    return result


def _values(value: onnx.ValueInfoProto, size: int, index: int) -> Any:
    if value.type.HasField("sequence_type"):
        return [random(2, size), random(size, 2)]
    tensor = value.type.tensor_type
    shape = [dim.dim_value if dim.HasField("dim_value") else size for dim in tensor.shape.dim]
    generator = np.random.default_rng([index, len(shape), *shape])
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    if dtype == np.bool_:
        return np.full(shape, bool(index))
    if dtype.kind in "iu":
        return generator.integers(0, 4, shape).astype(dtype)
    numbers = generator.normal(size=shape)
    return numbers.astype(ml_dtypes.bfloat16 if dtype.name == "bfloat16" else dtype)
