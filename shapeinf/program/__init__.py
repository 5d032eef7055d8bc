"""All shapes of a model as one numpy program over arrays of bindings."""

from typing import TYPE_CHECKING

from shapeinf.lazy_names import import_on_first_use

if TYPE_CHECKING:
    from shapeinf.program.evaluate import EvaluatedShapes as EvaluatedShapes
    from shapeinf.program.program import ShapeProgram as ShapeProgram

_MODULES = {
    "EvaluatedShapes": "shapeinf.program.evaluate",
    "ShapeProgram": "shapeinf.program.program",
}
"""The module of each public name."""

if not TYPE_CHECKING:
    __all__ = list(_MODULES)
    __getattr__ = import_on_first_use(__name__, _MODULES)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
