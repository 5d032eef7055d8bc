"""Shape inference for model graphs: symbolic, explained, sound.

>>> import shapeinf
>>> shapeinf.__version__
'0.1.0'
"""

from shapeinf.algebra import Dim, Dimension, Interval
from shapeinf.driver import (
    Cause,
    Coverage,
    Diagnostic,
    NamedDim,
    Result,
    TensorInfo,
    Unknown,
    UnknownGroup,
    infer_shapes,
)
from shapeinf.errors import (
    Contradiction,
    CyclicGraphError,
    LimitError,
    ModelError,
    ShapeError,
    ShapeInferenceError,
    UnknownFormatError,
    UnknownNameError,
    UnknownOperatorError,
)
from shapeinf.formats.nnef.language.problems import NnefError
from shapeinf.graph import Declared, Graph, Node
from shapeinf.lattice import Shape

__version__ = "0.1.0"

__all__ = [
    "Cause",
    "Contradiction",
    "Coverage",
    "CyclicGraphError",
    "Declared",
    "Diagnostic",
    "Dim",
    "Dimension",
    "Graph",
    "Interval",
    "LimitError",
    "ModelError",
    "NamedDim",
    "NnefError",
    "Node",
    "Result",
    "Shape",
    "ShapeError",
    "ShapeInferenceError",
    "TensorInfo",
    "Unknown",
    "UnknownFormatError",
    "UnknownGroup",
    "UnknownNameError",
    "UnknownOperatorError",
    "infer_shapes",
]
