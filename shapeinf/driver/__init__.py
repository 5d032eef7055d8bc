"""Propagation of shapes through a graph, and its result."""

from shapeinf.driver.api import infer_shapes
from shapeinf.driver.diagnostics import Diagnostic
from shapeinf.driver.infos import TensorInfo
from shapeinf.driver.named import NamedDim
from shapeinf.driver.result import Coverage, Result

__all__ = ["Coverage", "Diagnostic", "NamedDim", "Result", "TensorInfo", "infer_shapes"]
