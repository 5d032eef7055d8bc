"""All shapes of a model as one numpy program over arrays of bindings."""

from shapeinf.program.evaluated import EvaluatedShapes
from shapeinf.program.program import ShapeProgram

__all__ = ["EvaluatedShapes", "ShapeProgram"]
