"""Source text in other languages: shapes and conditions of a model as modules of C, JavaScript, Rust and Python."""

from shapeinf.codegen.languages import LANGUAGES, SUFFIXES, Language, guard_text, module_files, module_text, save_module
from shapeinf.codegen.lowering import ShapeSource, guard_module, shape_module
from shapeinf.codegen.shape_module import ShapeModule

__all__ = [
    "LANGUAGES",
    "SUFFIXES",
    "Language",
    "ShapeModule",
    "ShapeSource",
    "guard_module",
    "guard_text",
    "module_files",
    "module_text",
    "save_module",
    "shape_module",
]
