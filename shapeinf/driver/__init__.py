"""Propagation of shapes through a graph, and its result."""

from shapeinf.driver.api import infer_shapes
from shapeinf.driver.binding import BindError, Bound, bind
from shapeinf.driver.comparing import Difference, diff
from shapeinf.driver.diagnostics import Diagnostic
from shapeinf.driver.infos import TensorInfo
from shapeinf.driver.rebatching import Rebatched, RebatchError, rebatch
from shapeinf.driver.result import Coverage, Result

__all__ = [
    "BindError",
    "Bound",
    "Coverage",
    "Diagnostic",
    "Difference",
    "RebatchError",
    "Rebatched",
    "Result",
    "TensorInfo",
    "bind",
    "diff",
    "infer_shapes",
    "rebatch",
]
