"""The parameters of shape functions, as their own annotations state them: names, annotations as texts, defaults.

A function of Python has them itself. mypyc keeps none of them in compiled functions and classes, so a compiled build
writes those of its modules to the file `parameters.json` of their package (`setup.py`). This module imports only the
standard library, so that the build can run it alone.
"""

from __future__ import annotations

import ast
import enum
import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from inspect import CO_VARARGS
from types import BuiltinFunctionType, FunctionType, NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

REQUIRED = inspect.Parameter.empty
"""The default of a parameter without a default."""

FILE = "parameters.json"
"""The file of a package with compiled modules: for each of these what `source_parameters` returns."""

_BUILTINS: Mapping[str, object] = {
    "None": NoneType,
    "bool": bool,
    "float": float,
    "int": int,
    "object": object,
    "str": str,
    "tuple[float, ...]": tuple[float, ...],
    "tuple[int, ...]": tuple[int, ...],
    "tuple[object, ...]": tuple[object, ...],
    "tuple[str, ...]": tuple[str, ...],
}


class Kind(enum.IntEnum):
    """How a parameter is passed."""

    INPUT = 0
    VARIADIC = 1
    ATTRIBUTE = 2


class Parameter(NamedTuple):
    """A parameter after the context; `annotation` is its text, or the object itself, and empty without one."""

    name: str
    kind: Kind
    annotation: object
    default: object = REQUIRED


def parameters(function: Callable[..., object]) -> list[Parameter]:
    """The parameters of a function after its first one, the context; of a wrapper those of the wrapped function.

    >>> def pad(c, x, value=None, *, mode: str = "constant"): ...
    >>> for parameter in parameters(pad):
    ...     print(*parameter[:3], parameter.default)
    x 0  <class 'inspect._empty'>
    value 0  None
    mode 2 str constant
    """
    if hasattr(function, "__wrapped__"):
        function = inspect.unwrap(function)
    if type(function) is FunctionType:
        return list(_function_parameters(function))
    if type(function) is BuiltinFunctionType or is_compiled(type(function).__module__):
        return _compiled_parameters(function.__module__)[_compiled_name(function)][1:]
    return [_inspected(parameter) for parameter in inspect.signature(function).parameters.values()][1:]


def field_members(group: type) -> dict[str, tuple[object, ...]]:
    """The members of the annotation of each field of a class, in the order of the fields; see `annotation_members`."""
    fields: dict[str, tuple[object, ...]] = {}
    for defined in reversed(group.__mro__[:-1]):
        namespace = namespace_of(defined)
        for name, annotation in _own_annotations(defined).items():
            if "ClassVar" not in str(annotation):
                fields[name] = annotation_members(annotation, namespace)
    return fields


def _own_annotations(defined: type) -> Mapping[str, object]:
    if is_compiled(defined.__module__):
        return {field.name: field.annotation for field in _compiled_parameters(defined.__module__)[defined.__name__]}
    return inspect.get_annotations(defined)


def namespace_of(defined: Callable[..., object] | type) -> Mapping[str, Any]:
    """The names that the annotations of a function or class may have; of a wrapper those of the wrapped function."""
    if hasattr(defined, "__wrapped__"):
        defined = inspect.unwrap(defined)
    return getattr(defined, "__globals__", None) or vars(sys.modules[defined.__module__])


def is_compiled(module: str) -> bool:
    """Whether a module was compiled by mypyc."""
    return not str(getattr(sys.modules[module], "__file__", ".py")).endswith(".py")


@cache
def _compiled_parameters(module: str) -> dict[str, list[Parameter]]:
    """The parameters of all functions and the fields of all classes of a compiled module."""
    from shapeinf.ops.package_data import read_package_text

    package, _, name = module.rpartition(".")
    listed = json.loads(read_package_text(package, FILE))[name]
    return {defined: [_parameter(*fields) for fields in listed[defined]] for defined in listed}


def _parameter(name: str, kind: int, annotation: str, default: object = REQUIRED) -> Parameter:
    return Parameter(name, Kind(kind), annotation, tuple(default) if isinstance(default, list) else default)


def _compiled_name(function: Callable[..., object]) -> str:
    """The name in the listing; mypyc makes a function inside of another an object of the class `INNER_OUTER_obj`."""
    return function.__name__ if type(function) is BuiltinFunctionType else type(function).__name__


def outer_name(function: Callable[..., object]) -> str:
    """The name of a function, or of the outermost one around it; the name in the listing where mypyc keeps no other.

    >>> outer_name(parameters)
    'parameters'
    """
    name = getattr(function, "__qualname__", None)
    if isinstance(name, str):
        return name.partition(".<locals>")[0]
    parts = _compiled_name(function).split("_")[:-1]
    outer = ("_".join(parts[start:]) for start in range(1, len(parts)))
    listed = _compiled_parameters(function.__module__)
    return next((candidate for candidate in outer if candidate in listed), _compiled_name(function))


def source_parameters(source: str) -> dict[str, list[tuple[object, ...]]]:
    """The parameters of the functions, and the fields of the decorated classes, of a module, for a build.

    A function with a default that is not a literal is omitted. An inner function has the name that mypyc gives it.

    >>> source_parameters('''
    ... @onnx("Cast")
    ... def cast(c, x: Value, *, to: int, saturate: int = 1):
    ...     return x
    ... ''')
    {'cast': [('c', 0, ''), ('x', 0, 'Value'), ('to', 2, 'int'), ('saturate', 2, 'int', 1)]}
    """
    listed: dict[str, list[tuple[object, ...]]] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            inner = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            names = {node.name: node, **{f"{part.name}_{node.name}_obj": part for part in inner}}
            for name, function in names.items():
                with suppress(ValueError):
                    listed[name] = list(_source_parameters(function.args))
        elif isinstance(node, ast.ClassDef) and node.decorator_list:
            fields = [field for field in node.body if isinstance(field, ast.AnnAssign)]
            texts = [(ast.unparse(field.target), ast.unparse(field.annotation)) for field in fields]
            listed[node.name] = [(name, Kind.ATTRIBUTE.value, text) for name, text in texts]
    return listed


def _source_parameters(arguments: ast.arguments) -> Iterator[tuple[object, ...]]:
    inputs = [*arguments.posonlyargs, *arguments.args]
    missing = [None] * (len(inputs) - len(arguments.defaults))
    for argument, default in zip(inputs, [*missing, *arguments.defaults], strict=True):
        yield _source_parameter(argument, Kind.INPUT, default)
    if arguments.vararg:
        yield _source_parameter(arguments.vararg, Kind.VARIADIC, None)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _source_parameter(argument, Kind.ATTRIBUTE, default)


def _source_parameter(argument: ast.arg, kind: Kind, default: ast.expr | None) -> tuple[object, ...]:
    annotation = ast.unparse(argument.annotation) if argument.annotation else ""
    return (argument.arg, kind.value, annotation, *([ast.literal_eval(default)] if default else []))


def _function_parameters(function: FunctionType) -> Iterator[Parameter]:
    """Without `inspect`, which takes ten times as long."""
    code = function.__code__
    inputs, attributes = code.co_argcount, code.co_kwonlyargcount
    names, annotations = code.co_varnames, function.__annotations__
    defaults = function.__defaults__ or ()
    for index in range(1, inputs):
        name, last = names[index], index - inputs + len(defaults)
        yield Parameter(name, Kind.INPUT, annotations.get(name, ""), defaults[last] if last >= 0 else REQUIRED)
    if code.co_flags & CO_VARARGS:
        name = names[inputs + attributes]
        yield Parameter(name, Kind.VARIADIC, annotations.get(name, ""))
    keyword_defaults = function.__kwdefaults__ or {}
    for name in names[inputs : inputs + attributes]:
        yield Parameter(name, Kind.ATTRIBUTE, annotations.get(name, ""), keyword_defaults.get(name, REQUIRED))


def _inspected(parameter: inspect.Parameter) -> Parameter:
    kind = Kind.INPUT
    if parameter.kind is parameter.VAR_POSITIONAL:
        kind = Kind.VARIADIC
    elif parameter.kind is parameter.KEYWORD_ONLY:
        kind = Kind.ATTRIBUTE
    annotation = "" if parameter.annotation is REQUIRED else parameter.annotation
    return Parameter(parameter.name, kind, annotation, parameter.default)


def annotation_members(annotation: object, namespace: Mapping[str, Any]) -> tuple[object, ...]:
    """The members of an annotation: those of a union, or the annotation itself; names are those of a module.

    >>> annotation_members("int | None", {})
    (<class 'int'>, <class 'NoneType'>)
    >>> annotation_members("Sizes", {"Sizes": tuple[int, ...] | None})
    (tuple[int, ...], <class 'NoneType'>)
    """
    if not isinstance(annotation, str):
        return _members(annotation)
    members: list[object] = []
    for part in annotation.split(" | "):
        member = _BUILTINS.get(part, REQUIRED)
        if member is REQUIRED:
            member = namespace.get(part, REQUIRED)
        if member is REQUIRED:  # a text with other brackets, dots, or a name of the built-in module
            return _members(_evaluated(annotation, namespace))
        members.extend(_members(member))
    return tuple(members)


def _members(annotation: object) -> tuple[object, ...]:
    return get_args(annotation) if get_origin(annotation) in (UnionType, Union) else (annotation,)


def _evaluated(annotation: str, namespace: Mapping[str, Any]) -> object:
    """An annotation of the source of a rule, as Python evaluates it."""

    def annotated() -> None: ...

    annotated.__annotations__ = {"x": annotation}
    return get_type_hints(annotated, dict(namespace), include_extras=True)["x"]
