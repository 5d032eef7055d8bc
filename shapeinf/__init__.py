"""Shape inference for model graphs: symbolic, explained, sound.

>>> import shapeinf
>>> shapeinf.__version__
'0.1.0'
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
        NnefError,
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

_MODULES = {
    "AxisError": "shapeinf.errors",
    "BindError": "shapeinf.errors",
    "Bound": "shapeinf.edit.bind",
    "BudgetError": "shapeinf.errors",
    "Cause": "shapeinf.explain.unknowns",
    "Contradiction": "shapeinf.errors",
    "Coverage": "shapeinf.pickled_result",
    "CyclicGraphError": "shapeinf.errors",
    "DeclaredType": "shapeinf.graph",
    "Diagnostic": "shapeinf.diagnostics",
    "Difference": "shapeinf.edit.comparison",
    "Dim": "shapeinf.expr",
    "Dimension": "shapeinf.expr",
    "Graph": "shapeinf.graph",
    "IllegalSizeError": "shapeinf.errors",
    "InferenceOptions": "shapeinf.inputs.options",
    "Interval": "shapeinf.expr",
    "LayoutError": "shapeinf.errors",
    "LimitError": "shapeinf.errors",
    "MissingSizeError": "shapeinf.errors",
    "ModelError": "shapeinf.errors",
    "NamedDim": "shapeinf.inputs.named_dims",
    "NnefError": "shapeinf.errors",
    "NnefOptions": "shapeinf.formats.nnef.options",
    "NoSizeError": "shapeinf.errors",
    "Node": "shapeinf.graph",
    "NotPickledError": "shapeinf.errors",
    "PickledResult": "shapeinf.pickled_result",
    "RebatchError": "shapeinf.errors",
    "Rebatched": "shapeinf.edit.rebatch",
    "Result": "shapeinf.result",
    "Shape": "shapeinf.lattice",
    "ShapeError": "shapeinf.errors",
    "ShapeInferenceError": "shapeinf.errors",
    "SizeOverflowError": "shapeinf.errors",
    "SymbolicSizeError": "shapeinf.errors",
    "TensorFlowOptions": "shapeinf.formats.tf.options",
    "TensorInfo": "shapeinf.engine.tensor_info",
    "Unknown": "shapeinf.explain.unknowns",
    "UnknownFormatError": "shapeinf.errors",
    "UnknownGroup": "shapeinf.explain.unknowns",
    "UnknownNameError": "shapeinf.errors",
    "UnknownOperatorError": "shapeinf.errors",
    "bind": "shapeinf.edit.bind",
    "diff": "shapeinf.edit.comparison",
    "infer_shapes": "shapeinf.api",
    "rebatch": "shapeinf.edit.rebatch",
}
"""The module of each public name. It is imported when the name is first used: the command line does without most, and
the pytest plugin, which every run of pytest imports, without all.
"""


def import_on_first_use(package: str, modules: "Mapping[str, str]") -> "Callable[[str], object]":
    """The `__getattr__` of a package whose public names are in these modules, by name."""

    def import_name(name: str) -> object:
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module), name)
        setattr(import_module(package), name, value)
        return value

    return import_name


if not TYPE_CHECKING:  # type checkers see the imports above, and report names that are not there
    __getattr__ = import_on_first_use(__name__, _MODULES)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
