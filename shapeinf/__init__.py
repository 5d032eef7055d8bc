"""Shape inference for model graphs: symbolic, explained, sound.

>>> import shapeinf
>>> shapeinf.__version__
'0.1.0'
"""

from shapeinf.algebra import Dim, Dimension, Interval
from shapeinf.binding import BindError, Bound, bind
from shapeinf.driver import (
    Cause,
    Coverage,
    Diagnostic,
    Difference,
    NamedDim,
    Rebatched,
    RebatchError,
    Result,
    TensorInfo,
    Unknown,
    UnknownGroup,
    diff,
    infer_shapes,
    rebatch,
)
from shapeinf.errors import (
    BudgetError,
    Contradiction,
    CyclicGraphError,
    IllegalSizeError,
    LayoutError,
    LimitError,
    MissingSizeError,
    ModelError,
    NoSizeError,
    ShapeError,
    ShapeInferenceError,
    SizeOverflowError,
    UnknownFormatError,
    UnknownNameError,
    UnknownOperatorError,
)
from shapeinf.formats.nnef.language.problems import NnefError
from shapeinf.graph import Declared, Graph, Node
from shapeinf.lattice import Shape

__version__ = "0.1.0"

__all__ = [
    "BindError",
    "Bound",
    "BudgetError",
    "Cause",
    "Contradiction",
    "Coverage",
    "CyclicGraphError",
    "Declared",
    "Diagnostic",
    "Difference",
    "Dim",
    "Dimension",
    "Graph",
    "IllegalSizeError",
    "Interval",
    "LayoutError",
    "LimitError",
    "MissingSizeError",
    "ModelError",
    "NamedDim",
    "NnefError",
    "NoSizeError",
    "Node",
    "RebatchError",
    "Rebatched",
    "Result",
    "Shape",
    "ShapeError",
    "ShapeInferenceError",
    "SizeOverflowError",
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
