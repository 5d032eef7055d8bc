"""Propagation of shapes through a graph, and its result."""

from shapeinf.driver.api import infer_shapes
from shapeinf.driver.diagnostics import Diagnostic
from shapeinf.driver.infos import TensorInfo
from shapeinf.driver.named import NamedDim
from shapeinf.driver.result import Coverage, Result
from shapeinf.driver.unknowns import Cause, Unknown, UnknownGroup

__all__ = [
    "Cause",
    "Coverage",
    "Diagnostic",
    "NamedDim",
    "Result",
    "TensorInfo",
    "Unknown",
    "UnknownGroup",
    "infer_shapes",
]
