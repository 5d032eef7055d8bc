"""All shapes of a model as one numpy program over arrays of bindings."""

from shapeinf.program.evaluate import EvaluatedShapes
from shapeinf.program.program import ShapeProgram

__all__ = ["EvaluatedShapes", "ShapeProgram"]
