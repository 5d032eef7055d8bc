"""ONNX's numbers for element types, by name, and the names that shapeinf gives things in files."""

from __future__ import annotations

from onnx import TensorProto

_SPECIAL = {"FLOAT": "float32", "DOUBLE": "float64"}

ONNX_NAMES: dict[int, str] = {
    number: _SPECIAL.get(name, name.lower()) for name, number in TensorProto.DataType.items() if number
}
"""`{1: "float32", ...}`; narrow types keep ONNX's own names in lower case."""

ONNX_CODES: dict[str, int] = {name: number for number, name in ONNX_NAMES.items()}

ASSUMPTIONS = "shapeinf.assumptions"
"""The key of the metadata of a model that hold relations of its dims, one a line."""
