"""Readers and writers of model files, a package a format."""

from shapeinf.formats.nnef import NNEF
from shapeinf.formats.onnx import ONNX
from shapeinf.formats.pnnx import PNNX
from shapeinf.formats.registry import FormatOptions, FormatRegistry
from shapeinf.formats.tf import TENSORFLOW

FORMATS = FormatRegistry((ONNX, TENSORFLOW, PNNX, NNEF), default=ONNX)
"""The formats that shapeinf reads."""

load = FORMATS.load
save = FORMATS.save

__all__ = ["FORMATS", "FormatOptions", "load", "save"]
