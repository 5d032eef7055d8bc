"""ONNX files in and out."""

from shapeinf.formats.onnx.source import read
from shapeinf.formats.onnx.writer import write

__all__ = ["read", "write"]
