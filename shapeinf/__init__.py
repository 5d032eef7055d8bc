"""Shape inference for model graphs: symbolic, explained, sound.

>>> import shapeinf
>>> shapeinf.__version__
'0.1.0'
"""

from shapeinf.api import infer_shapes
from shapeinf.diagnostics import Diagnostic
from shapeinf.edit.bind import Bound, bind
from shapeinf.edit.comparison import Difference, diff
from shapeinf.edit.rebatch import Rebatched, rebatch
from shapeinf.engine.tensor_info import TensorInfo
from shapeinf.errors import (
    AxisError,
    BindError,
    BudgetError,
    Contradiction,
    CyclicGraphError,
    IllegalSizeError,
    LayoutError,
    LimitError,
    MissingSizeError,
    ModelError,
    NoSizeError,
    NotPickledError,
    RebatchError,
    ShapeError,
    ShapeInferenceError,
    SizeOverflowError,
    SymbolicSizeError,
    UnknownFormatError,
    UnknownNameError,
    UnknownOperatorError,
)
from shapeinf.explain.unknowns import Cause, Unknown, UnknownGroup
from shapeinf.expr import Dim, Dimension, Interval
from shapeinf.formats.nnef.language.diagnostics import NnefError
from shapeinf.formats.nnef.options import NnefOptions
from shapeinf.formats.tf.options import TensorFlowOptions
from shapeinf.graph import DeclaredType, Graph, Node
from shapeinf.inputs.named_dims import NamedDim
from shapeinf.inputs.options import InferenceOptions
from shapeinf.lattice import Shape
from shapeinf.pickled_result import Coverage, PickledResult
from shapeinf.result import Result

__version__ = "0.1.0"

__all__ = [
    "AxisError",
    "BindError",
    "Bound",
    "BudgetError",
    "Cause",
    "Contradiction",
    "Coverage",
    "CyclicGraphError",
    "DeclaredType",
    "Diagnostic",
    "Difference",
    "Dim",
    "Dimension",
    "Graph",
    "IllegalSizeError",
    "InferenceOptions",
    "Interval",
    "LayoutError",
    "LimitError",
    "MissingSizeError",
    "ModelError",
    "NamedDim",
    "NnefError",
    "NnefOptions",
    "NoSizeError",
    "Node",
    "NotPickledError",
    "PickledResult",
    "RebatchError",
    "Rebatched",
    "Result",
    "Shape",
    "ShapeError",
    "ShapeInferenceError",
    "SizeOverflowError",
    "SymbolicSizeError",
    "TensorFlowOptions",
    "TensorInfo",
    "Unknown",
    "UnknownFormatError",
    "UnknownGroup",
    "UnknownNameError",
    "UnknownOperatorError",
    "bind",
    "diff",
    "infer_shapes",
    "rebatch",
]
