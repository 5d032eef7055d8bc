"""Readers and writers of model files, a package a format."""

from shapeinf.formats.nnef import NNEF
from shapeinf.formats.onnx import ONNX
from shapeinf.formats.pnnx import PNNX
from shapeinf.formats.registry import FormatOptions, FormatRegistry
from shapeinf.formats.tf import TENSORFLOW
from shapeinf.formats.tflite import TFLITE
from shapeinf.formats.torch_export import TORCH_EXPORT

FORMATS = FormatRegistry((ONNX, TENSORFLOW, PNNX, TORCH_EXPORT, TFLITE, NNEF), default=ONNX)
"""The formats that shapeinf reads."""

load = FORMATS.load
save = FORMATS.save

__all__ = ["FORMATS", "FormatOptions", "load", "save"]
