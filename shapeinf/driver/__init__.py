"""Propagation of shapes through a graph, and its result."""

from shapeinf.driver.api import infer_shapes
from shapeinf.driver.comparing import Difference, diff
from shapeinf.driver.diagnostics import Diagnostic
from shapeinf.driver.infos import TensorInfo, info
from shapeinf.driver.named import NamedDim
from shapeinf.driver.rebatching import Rebatched, RebatchError, rebatch
from shapeinf.driver.result import Coverage, Result
from shapeinf.driver.unknowns import Cause, Unknown, UnknownGroup

__all__ = [
    "Cause",
    "Coverage",
    "Diagnostic",
    "Difference",
    "NamedDim",
    "RebatchError",
    "Rebatched",
    "Result",
    "TensorInfo",
    "Unknown",
    "UnknownGroup",
    "diff",
    "infer_shapes",
    "info",
    "rebatch",
]
