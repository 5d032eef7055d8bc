"""`patched`: the functions of other tools replaced by those of `shapeinf.compat`, wherever code looks them up."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from threading import RLock
from types import ModuleType
from typing import Any

import onnx.shape_inference

_SCRIPT = "symbolic_shape_infer"
"""The module of onnxruntime's script; its transformer tools import it by this name, from a folder that they add."""

_TOOL = f"onnxruntime.tools.{_SCRIPT}"

_FUNCTIONS = ("infer_shapes", "infer_shapes_path", "infer_node_outputs", "infer_function_output_types")

_OWN = "shapeinf.compat.onnx"
"""The module that calls a function of onnx by a name of its own."""

_lock = RLock()
_depth = 0
_active = ExitStack()


@contextmanager
def patched() -> Iterator[None]:
    """Let code that calls `onnx.shape_inference` or onnxruntime's `symbolic_shape_infer` run shapeinf instead.

    All names of their functions are replaced, in every module that has imported one, for all threads, until the context
    ends, also by an exception. Modules that import a name meanwhile have the original one afterwards. Contexts may be
    nested; the outermost one counts. onnxruntime and sympy need not be installed.
    """
    global _depth
    with _lock:
        if _depth == 0:
            _replace_all(_active)
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _active.close()


def _replace_all(stack: ExitStack) -> None:
    """Replace all names; closing the stack restores them. An error leaves all names as they were."""
    with ExitStack() as partial:
        partial.enter_context(_functions_replaced())
        partial.enter_context(_tool_replaced())
        stack.push(partial.pop_all())


# -- functions of onnx -------------------------------------------------------------------------------------------------


@contextmanager
def _functions_replaced() -> Iterator[None]:
    from shapeinf.compat import onnx as functions

    originals = [getattr(onnx.shape_inference, name) for name in _FUNCTIONS if hasattr(onnx.shape_inference, name)]
    pairs = [(original, _stand_in(getattr(functions, original.__name__))) for original in originals]
    _rename({id(original): stand_in for original, stand_in in pairs})
    try:
        yield
    finally:
        _rename({id(stand_in): original for original, stand_in in pairs})


def _stand_in(function: Callable[..., Any]) -> Callable[..., Any]:
    """Another function that calls this one: names that it has belong to the patch, and not to a user of the module."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def _rename(replacements: Mapping[int, object]) -> None:
    """In all modules, let the names of these objects, which are keyed by identity, be names of others."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if names is None or getattr(module, "__name__", "") == _OWN:
            continue
        for name, value in list(names.items()):
            if id(value) in replacements:
                names[name] = replacements[id(value)]


# -- the tool of onnxruntime -------------------------------------------------------------------------------------------


@contextmanager
def _tool_replaced() -> Iterator[None]:
    """The steps of the class are replaced in the class itself: subclasses and imported names have them too."""
    with ExitStack() as stack:
        tool = _import_tool()
        for name in (_TOOL, _SCRIPT):
            if name not in sys.modules:
                sys.modules[name] = tool
                stack.callback(_remove_module, name, tool)
        classes = {
            id(owner): owner
            for name in (_TOOL, _SCRIPT)
            if (owner := getattr(sys.modules[name], "SymbolicShapeInference", None)) is not None
        }
        for owner in classes.values():
            _replace_steps(owner, stack)
        yield


def _import_tool() -> ModuleType:
    """The module of onnxruntime; that of `shapeinf.compat` where onnxruntime or sympy is not installed."""
    try:
        return importlib.import_module(_TOOL)
    except ImportError:
        return importlib.import_module("shapeinf.compat.onnxruntime")


def _remove_module(name: str, module: ModuleType) -> None:
    if sys.modules.get(name) is module:
        del sys.modules[name]


def _replace_steps(owner: type, stack: ExitStack) -> None:
    from shapeinf.compat.onnxruntime import SymbolicShapeInference

    if owner is SymbolicShapeInference:
        return
    for name in ("infer_shapes", "_preprocess", "_infer_impl", "_update_output_from_vi"):
        original = owner.__dict__[name]
        setattr(owner, name, SymbolicShapeInference.__dict__[name])
        stack.callback(setattr, owner, name, original)
