"""The languages of modules, each with its writer and the suffix of its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, get_args

from shapeinf.codegen.c import c_module
from shapeinf.codegen.javascript import javascript_module
from shapeinf.codegen.lowering import guard_module
from shapeinf.codegen.python import python_module
from shapeinf.codegen.rust import rust_module
from shapeinf.codegen.shape_module import ShapeModule
from shapeinf.codegen.typescript import typescript_types
from shapeinf.contract.stored import StoredContract
from shapeinf.errors import ExportError
from shapeinf.formats.files import write_text

Language = Literal["c", "js", "rust", "python"]
"""A header of C99 and C++, a module of ECMAScript, of Rust for `no_std`, of Python without imports."""

LANGUAGES: tuple[Language, ...] = get_args(Language)

SUFFIXES: Mapping[str, Language] = {".h": "c", ".mjs": "js", ".rs": "rust", ".py": "python"}
"""The language of a file, by its suffix."""

_TYPES_SUFFIX = ".d.mts"

_WRITERS: Mapping[Language, Callable[[ShapeModule], str]] = {
    "c": c_module,
    "js": javascript_module,
    "rust": rust_module,
    "python": python_module,
}


def module_text(module: ShapeModule, language: Language) -> str:
    """The source text of a module."""
    return _WRITERS[language](module)


def guard_text(contract: StoredContract, language: Language, model: str = "") -> str:
    """The source text of a guard; `model` is the name of the model, from which the names in C are made."""
    return module_text(guard_module(contract, model), language)


def module_files(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The files that `save_module` writes: the module, and for ECMAScript its types for TypeScript.

    Raises ExportError for a suffix of no language.

    >>> module_files("out/shapes.mjs"), module_files("shapes.rs")
    (('out/shapes.mjs', 'out/shapes.d.mts'), ('shapes.rs',))
    """
    name = os.fspath(path)
    language = SUFFIXES.get(Path(name).suffix)
    if language is None:
        raise ExportError(f"{Path(name).name}: the suffix must be one of {', '.join(SUFFIXES)}")
    return (name, name.removesuffix(Path(name).suffix) + _TYPES_SUFFIX) if language == "js" else (name,)


def save_module(module: ShapeModule, path: str | os.PathLike[str]) -> None:
    """Write a module in the language of the suffix. Raises ExportError for another suffix, OSError."""
    name, *types = module_files(path)
    write_text(name, module_text(module, SUFFIXES[Path(name).suffix]))
    for declarations in types:
        write_text(declarations, typescript_types(module))
