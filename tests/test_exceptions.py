"""Exceptions that can reach a user are classes of `errors.py`; every other class names the modules that catch it."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import shapeinf.errors
from shapeinf.errors import ShapeInferenceError

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(path for package in ("shapeinf", "opdefs") for path in (ROOT / package).rglob("*.py"))
ERRORS = ROOT / "shapeinf" / "errors.py"
CATCHERS = re.compile(r"Internal: caught in `([\w.]+)`(?: and `([\w.]+)`)?")

PYTHON_CONVENTION = "Python's own protocol requires it"
BUG_OF_A_RULE = "a bug of a rule, which becomes the diagnostic S301"
CAUGHT_HERE = "caught in the same file"
ABSTRACT = "a method that every subclass defines"
LIKE_INTS = "dims are ints or symbolic, and both raise the same"
LIKE_ONNX = "what the function of onnx raises that it replaces"
BUILTINS = {
    ("opdefs/onnx/schema_table.py", "ValueError"): "for tools/make_onnx_schemas.py",
    ("opdefs/tf/dimension_numbers.py", "ValueError"): CAUGHT_HERE,
    ("shapeinf/cli/scan.py", "KeyboardInterrupt"): "a signal that ends a scan counts as Ctrl-C",
    ("shapeinf/compat/onnx.py", "TypeError"): LIKE_ONNX,
    ("shapeinf/compat/onnx.py", "ValueError"): LIKE_ONNX,
    ("shapeinf/compat/onnxruntime.py", "TypeError"): LIKE_ONNX,
    ("shapeinf/diagnostics.py", "ValueError"): "at import, where two modules register one code",
    ("shapeinf/engine/tensor_info.py", "KeyError"): "as of any dict, with the nearest names",
    ("shapeinf/expr/division.py", "ZeroDivisionError"): LIKE_INTS,
    ("shapeinf/expr/evaluation.py", "ZeroDivisionError"): LIKE_INTS,
    ("shapeinf/formats/files.py", "IsADirectoryError"): "as `open` does",
    ("shapeinf/formats/files.py", "OSError"): "as `open` does, for files that it does not open",
    ("shapeinf/formats/nnef/checking/expression_types.py", "NotImplementedError"): ABSTRACT,
    ("shapeinf/formats/nnef/files/unpacking.py", "EOFError"): "caught in formats/nnef/files/archive.py",
    (
        "shapeinf/formats/nnef/language/printer.py",
        "AssertionError",
    ): "unreachable: all expressions are handled",
    ("shapeinf/expr/ratios.py", "ZeroDivisionError"): "as of a division of Python; caught in expr/parsing.py",
    ("shapeinf/formats/pnnx/expression/tree.py", "NotImplementedError"): ABSTRACT,
    ("shapeinf/formats/pnnx/values.py", "ValueError"): "caught in formats/pnnx/document.py",
    ("shapeinf/formats/tf/json_form.py", "ValueError"): CAUGHT_HERE,
    ("shapeinf/formats/zipped.py", "EOFError"): CAUGHT_HERE,
    ("shapeinf/graph/digest.py", "TypeError"): CAUGHT_HERE,
    ("shapeinf/inputs/values.py", "TypeError"): CAUGHT_HERE,
    ("shapeinf/inputs/values.py", "ValueError"): CAUGHT_HERE,
    ("shapeinf/lattice/types.py", "ValueError"): BUG_OF_A_RULE,
    ("shapeinf/lazy_names.py", "AttributeError"): PYTHON_CONVENTION,
    ("shapeinf/memory/order.py", "NotImplementedError"): ABSTRACT,
    ("opdefs/tf/op_def_builder.py", "ValueError"): CAUGHT_HERE,
    ("opdefs/tf/context/contents.py", "NotImplementedError"): ABSTRACT,
    ("shapeinf/ops/context.py", "TypeError"): BUG_OF_A_RULE,
    ("shapeinf/ops/run.py", "TypeError"): BUG_OF_A_RULE,
    ("shapeinf/pickling.py", "AttributeError"): PYTHON_CONVENTION,
    ("shapeinf/scan/row.py", "MemoryError"): "caught in scan/child.py",
    ("shapeinf/schemas/records.py", "TypeError"): "a bug of a record",
    ("shapeinf/sharing.py", "TypeError"): "at import, where a decorator is applied to a generator",
    ("opdefs/rules/contents/coverage.py", "ValueError"): "a table of the package is malformed, which a test reports",
    ("shapeinf/testing/contracts.py", "AssertionError"): PYTHON_CONVENTION,
    ("shapeinf/testing/differential.py", "AssertionError"): PYTHON_CONVENTION,
    ("shapeinf/testing/models.py", "AssertionError"): PYTHON_CONVENTION,
    ("shapeinf/testing/operands.py", "AssertionError"): PYTHON_CONVENTION,
    ("shapeinf/testing/properties.py", "AssertionError"): PYTHON_CONVENTION,
    ("shapeinf/testing/rules.py", "AssertionError"): PYTHON_CONVENTION,
}
"""The exceptions of Python that a file raises, and why no user has to catch them."""


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def names(nodes: Iterator[ast.expr] | list[ast.expr]) -> set[str]:
    """The names in expressions, also the last ones of dotted names and those in tuples."""
    parts = [part for node in nodes for part in ast.walk(node)]
    return {p.id for p in parts if isinstance(p, ast.Name)} | {p.attr for p in parts if isinstance(p, ast.Attribute)}


def is_builtin_exception(name: str) -> bool:
    value = getattr(builtins, name, None)
    return isinstance(value, type) and issubclass(value, BaseException)


@cache
def exceptions() -> dict[str, tuple[Path, ast.ClassDef]]:
    """Every class of shapeinf and opdefs that derives from an exception, by name."""
    classes = [(path, n) for path in SOURCES for n in ast.walk(tree(path)) if isinstance(n, ast.ClassDef)]
    known: dict[str, tuple[Path, ast.ClassDef]] = {}
    while more := {
        c.name: (path, c)
        for path, c in classes
        if c.name not in known and any(name in known or is_builtin_exception(name) for name in names(c.bases))
    }:
        known |= more
    return known


def internal() -> dict[str, tuple[Path, ast.ClassDef]]:
    return {name: entry for name, entry in exceptions().items() if entry[0] != ERRORS}


def caught_in(path: Path) -> set[str]:
    """The names of the exceptions in the `except` clauses and calls of `suppress` of a file."""
    handlers = [n.type for n in ast.walk(tree(path)) if isinstance(n, ast.ExceptHandler) and n.type is not None]
    calls = [n for n in ast.walk(tree(path)) if isinstance(n, ast.Call) and names([n.func]) == {"suppress"}]
    return names(handlers) | {name for call in calls for name in names(call.args)}


def test_exceptions_that_reach_users_have_one_root() -> None:
    classes = [value for value in vars(shapeinf.errors).values() if isinstance(value, type)]
    public = [c for c in classes if issubclass(c, Exception) and not issubclass(c, Warning)]
    assert len(public) > 40
    assert [c.__name__ for c in public if not issubclass(c, ShapeInferenceError)] == []


@pytest.mark.parametrize("name", sorted(internal()))
def test_an_internal_exception_names_the_modules_that_catch_it(name: str) -> None:
    path, definition = internal()[name]
    stated = CATCHERS.search(ast.get_docstring(definition) or "")
    assert stated, f"{path.relative_to(ROOT)}: {name} is internal ('Internal: caught in `MODULE`.') or for errors.py"
    for module in filter(None, stated.groups()):
        home = ROOT if module.startswith("opdefs.") else ROOT / "shapeinf"
        catcher = home / f"{module.replace('.', '/')}.py"
        assert {name, *names(definition.bases)} & caught_in(catcher), f"{module} does not catch {name}"


def test_no_package_exports_an_internal_exception() -> None:
    exported = {
        element.value
        for path in SOURCES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Assign) and names(node.targets) & {"__all__", "_MODULES"}
        for element in ast.walk(node.value)
        if isinstance(element, ast.Constant)
    }
    assert len(exported) > 300
    assert exported & internal().keys() == set()


def test_exceptions_of_python_are_raised_where_no_user_has_to_catch_them() -> None:
    raised = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in SOURCES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Raise) and node.exc is not None
        for name in names([node.exc.func if isinstance(node.exc, ast.Call) else node.exc])
        if is_builtin_exception(name)
    }
    assert raised == BUILTINS.keys()
