"""Shape inference for model graphs: symbolic, explained, sound.

>>> import shapeinf
>>> shapeinf.__version__
'0.1.0'
"""

from typing import TYPE_CHECKING

from shapeinf.lazy_names import import_on_first_use

if TYPE_CHECKING:
    from shapeinf.api import infer_shapes as infer_shapes
    from shapeinf.checks import check as check
    from shapeinf.contract import Contract as Contract
    from shapeinf.cost import Cost as Cost
    from shapeinf.diagnostics import Diagnostic as Diagnostic
    from shapeinf.edit.bind import Bound as Bound
    from shapeinf.edit.bind import bind as bind
    from shapeinf.edit.comparison import Difference as Difference
    from shapeinf.edit.comparison import diff as diff
    from shapeinf.edit.rebatch import Rebatched as Rebatched
    from shapeinf.edit.rebatch import rebatch as rebatch
    from shapeinf.engine.tensor_info import TensorInfo as TensorInfo
    from shapeinf.errors import BindError as BindError
    from shapeinf.errors import IllegalSizeError as IllegalSizeError
    from shapeinf.errors import LimitError as LimitError
    from shapeinf.errors import ModelError as ModelError
    from shapeinf.errors import RebatchError as RebatchError
    from shapeinf.errors import ShapeError as ShapeError
    from shapeinf.errors import ShapeInferenceError as ShapeInferenceError
    from shapeinf.errors import UnknownNameError as UnknownNameError
    from shapeinf.explain.unknowns import Cause as Cause
    from shapeinf.explain.unknowns import Unknown as Unknown
    from shapeinf.explain.unknowns import UnknownGroup as UnknownGroup
    from shapeinf.expr import Dimension as Dimension
    from shapeinf.expr import DimSize as DimSize
    from shapeinf.expr import Interval as Interval
    from shapeinf.formats.nnef.options import NnefOptions as NnefOptions
    from shapeinf.formats.tf.options import TensorFlowOptions as TensorFlowOptions
    from shapeinf.graph import DeclaredType as DeclaredType
    from shapeinf.graph import Graph as Graph
    from shapeinf.graph import Node as Node
    from shapeinf.inputs.named_dims import Dim as Dim
    from shapeinf.inputs.options import InferenceOptions as InferenceOptions
    from shapeinf.lattice import Shape as Shape
    from shapeinf.memory import Memory as Memory
    from shapeinf.memory.planning import Plan as Plan
    from shapeinf.passes import clean as clean
    from shapeinf.pickled_result import Coverage as Coverage
    from shapeinf.pickled_result import PickledResult as PickledResult
    from shapeinf.result import Result as Result
    from shapeinf.runtime import verify as verify

__version__ = "0.1.0"

_MODULES = {
    "BindError": "shapeinf.errors",
    "Bound": "shapeinf.edit.bind",
    "Cause": "shapeinf.explain.unknowns",
    "Contract": "shapeinf.contract",
    "Cost": "shapeinf.cost",
    "Coverage": "shapeinf.pickled_result",
    "DeclaredType": "shapeinf.graph",
    "Diagnostic": "shapeinf.diagnostics",
    "Difference": "shapeinf.edit.comparison",
    "Dim": "shapeinf.inputs.named_dims",
    "DimSize": "shapeinf.expr",
    "Dimension": "shapeinf.expr",
    "Graph": "shapeinf.graph",
    "IllegalSizeError": "shapeinf.errors",
    "InferenceOptions": "shapeinf.inputs.options",
    "Interval": "shapeinf.expr",
    "LimitError": "shapeinf.errors",
    "Memory": "shapeinf.memory",
    "ModelError": "shapeinf.errors",
    "NnefOptions": "shapeinf.formats.nnef.options",
    "Node": "shapeinf.graph",
    "PickledResult": "shapeinf.pickled_result",
    "Plan": "shapeinf.memory.planning",
    "RebatchError": "shapeinf.errors",
    "Rebatched": "shapeinf.edit.rebatch",
    "Result": "shapeinf.result",
    "Shape": "shapeinf.lattice",
    "ShapeError": "shapeinf.errors",
    "ShapeInferenceError": "shapeinf.errors",
    "TensorFlowOptions": "shapeinf.formats.tf.options",
    "TensorInfo": "shapeinf.engine.tensor_info",
    "Unknown": "shapeinf.explain.unknowns",
    "UnknownGroup": "shapeinf.explain.unknowns",
    "UnknownNameError": "shapeinf.errors",
    "bind": "shapeinf.edit.bind",
    "check": "shapeinf.checks",
    "clean": "shapeinf.passes",
    "diff": "shapeinf.edit.comparison",
    "infer_shapes": "shapeinf.api",
    "rebatch": "shapeinf.edit.rebatch",
    "verify": "shapeinf.runtime",
}
"""The module of each public name. The command line needs few of them, and the pytest plugin, which every run of pytest
imports, none.
"""

if not TYPE_CHECKING:  # type checkers read the imports above, and report names that do not exist
    __all__ = list(_MODULES)
    __getattr__ = import_on_first_use(__name__, _MODULES)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
