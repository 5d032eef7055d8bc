"""The functions of `onnx.shape_inference`, with shapes by shapeinf.

Signatures, return types and classes of errors are those of the onnx package. The shapes are those of `infer_shapes`:
`data_prop` has no effect, since contents are always propagated, and each dim that is known is written, as a number, an
expression (`2*past + 1`) or a name that all values of that size share.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import onnx
import onnx.checker
import onnx.shape_inference

from shapeinf.api import infer_shapes as infer_model
from shapeinf.compat.messages import copy_message, infer_message
from shapeinf.diagnostics import Diagnostic
from shapeinf.engine.tensor_info import annotation
from shapeinf.errors import ShapeInferenceError
from shapeinf.formats.files import WriteOptions, is_same_file, replace_file
from shapeinf.formats.onnx.type_encoding import encode_type
from shapeinf.formats.onnx.writer import annotated_bytes
from shapeinf.result import Result

InferenceError = onnx.shape_inference.InferenceError

__all__ = [
    "InferenceError",
    "infer_function_output_types",
    "infer_node_outputs",
    "infer_shapes",
    "infer_shapes_path",
]

_SHAPE_ERRORS = frozenset({"S101", "S103", "S104", "S105", "S109", "S115", "S120"})
"""The codes of diagnostics that are errors in strict mode."""

_TYPE_ERRORS = frozenset({"S106", "S107", "S108"})
"""The codes of diagnostics that are errors with `check_type`."""


def infer_shapes(
    model: onnx.ModelProto | bytes, check_type: bool = False, strict_mode: bool = False, data_prop: bool = False
) -> onnx.ModelProto:
    """A copy of a model with the types of all values, in bodies and functions too; see `onnx.shape_inference`.

    Args:
        model: a model, or a model in binary form.
        check_type: raise for operands whose element type their operator does not allow.
        strict_mode: raise for a node that cannot run, and for a declared shape that the graph does not compute.
        data_prop: has no effect: contents are always propagated.

    Raises:
        TypeError: another kind of argument.
        ValueError: bytes that are no model.
        InferenceError: a malformed model; with `check_type` and `strict_mode` the errors that these are for.
    """
    if isinstance(model, (str, os.PathLike)):
        raise TypeError(
            "infer_shapes only accepts ModelProto or bytes,"
            " For Model paths (str or os.PathLike), use infer_shapes_path()."
        )
    if not isinstance(model, (onnx.ModelProto, bytes)):
        raise TypeError(f"infer_shapes only accepts ModelProto or bytes, incorrect type: {type(model)}")
    copy = copy_message(model) if isinstance(model, onnx.ModelProto) else _parse(model)
    if copy.HasField("graph"):
        with _raise_inference_errors():
            _check(infer_message(copy), check_type, strict_mode)
    return copy


def infer_shapes_path(
    model_path: str | os.PathLike[str],
    output_path: str | os.PathLike[str] = "",
    check_type: bool = False,
    strict_mode: bool = False,
    data_prop: bool = False,
) -> None:
    """Write a file of a model with the types of all values; the model itself by default. See `infer_shapes`.

    The file is replaced when it is complete. Weights in other files stay there: they are neither read nor moved.

    Raises:
        TypeError: a path that is no path.
        onnx.checker.ValidationError: a file that cannot be read or written, or is no model.
        InferenceError: as in `infer_shapes`.
    """
    if isinstance(model_path, onnx.ModelProto):
        raise TypeError(
            "infer_shapes_path only accepts model Path (String),you can use infer_shapes for the ModelProto."
        )
    source, target = _as_path(model_path, "model"), _as_path(output_path, "output")
    target = target or source
    with _raise_inference_errors(onnx.checker.ValidationError):
        result = infer_model(source)
        if result.graph.format != "onnx":
            raise ShapeInferenceError(f"{source!r} is not an ONNX model")
    with _raise_inference_errors():
        _check(result, check_type, strict_mode)
    with _raise_inference_errors(onnx.checker.ValidationError):
        _save(result, target)


def infer_node_outputs(
    schema: onnx.defs.OpSchema,
    node: onnx.NodeProto,
    input_types: dict[str, onnx.TypeProto],
    input_data: dict[str, onnx.TensorProto] | None = None,
    input_sparse_data: dict[str, onnx.SparseTensorProto] | None = None,
    opset_imports: list[onnx.OperatorSetIdProto] | None = None,
    ir_version: int = onnx.IR_VERSION,
) -> dict[str, onnx.TypeProto]:
    """The types of the outputs of a node, by name, for these types of its inputs and these contents.

    An operator that no dialect has, such as one with a schema of your own, is inferred by its schema.

    Raises:
        KeyError: an input of the node has no type.
        onnx.checker.ValidationError: the node does not fit its schema.
        InferenceError: the node cannot run on these types.
    """
    for name in filter(None, node.input):
        input_types[name]
    graph = onnx.GraphProto(name="node", node=[node])
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in node.output if name)
    graph.input.extend(onnx.ValueInfoProto(name=name, type=type_) for name, type_ in input_types.items())
    for name, tensor in (input_data or {}).items():
        _named(graph.initializer.add(), tensor, name)
    for name, sparse in (input_sparse_data or {}).items():
        entry = graph.sparse_initializer.add()
        entry.CopyFrom(sparse)
        entry.values.name = name
    imports = {entry.domain: entry.version for entry in opset_imports or ()}
    if not _is_defined_by(schema, imports.get(schema.domain)):
        imports[schema.domain] = schema.since_version
    model = onnx.ModelProto(ir_version=ir_version, graph=graph)
    model.opset_import.extend(onnx.helper.make_opsetid(domain, version) for domain, version in imports.items())
    with _raise_inference_errors():
        result = infer_model(model)
    if any(diagnostic.code == "S201" for diagnostic in result.diagnostics):
        arguments = (input_data, input_sparse_data, opset_imports, ir_version)
        return dict(_ONNX_NODE_OUTPUTS(schema, node, input_types, *arguments))
    mismatch = next(_errors(result.diagnostics, {"S103", "S106", "S107", "S109"}), None)
    if mismatch is not None:
        raise onnx.checker.ValidationError(str(mismatch))
    _check(result, check_type=True, strict_mode=True)
    types = _output_types(result)
    return {name: types[name] for name in node.output if name in types}


def infer_function_output_types(
    function: onnx.FunctionProto, input_types: Sequence[onnx.TypeProto], attributes: Sequence[onnx.AttributeProto]
) -> list[onnx.TypeProto]:
    """The types of the outputs of a function for these types of its inputs and these attributes.

    An input with an empty type is absent. Raises InferenceError where the function cannot run on these types.
    """
    names = [f"input_{index}" if type_.WhichOneof("value") else "" for index, type_ in enumerate(input_types)]
    outputs = [f"output_{index}" for index in range(len(function.output))]
    call = onnx.NodeProto(op_type=function.name, domain=function.domain, overload=function.overload)
    call.input.extend(names)
    call.output.extend(outputs)
    call.attribute.extend(attributes)
    graph = onnx.GraphProto(name="call", node=[call])
    graph.input.extend(
        onnx.ValueInfoProto(name=name, type=type_) for name, type_ in zip(names, input_types, strict=True) if name
    )
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in outputs)
    model = onnx.ModelProto(ir_version=onnx.IR_VERSION, graph=graph, functions=[function])
    model.opset_import.extend(function.opset_import)
    if function.domain not in {entry.domain for entry in function.opset_import}:
        model.opset_import.append(onnx.helper.make_opsetid(function.domain, 1))
    with _raise_inference_errors():
        result = infer_model(model)
        _check(result, check_type=True, strict_mode=True)
    types = _output_types(result)
    return [types.get(name, onnx.TypeProto()) for name in outputs]


# -- errors ------------------------------------------------------------------------------------------------------------


@contextmanager
def _raise_inference_errors(error_type: type[Exception] = InferenceError) -> Iterator[None]:
    """Turn an error of shapeinf into one of onnx."""
    try:
        yield
    except ShapeInferenceError as error:
        raise error_type(str(error)) from error


def _check(result: Result, check_type: bool, strict_mode: bool) -> None:
    """Raise InferenceError for the diagnostics that these modes are for."""
    codes = {*(_SHAPE_ERRORS if strict_mode else ()), *(_TYPE_ERRORS if check_type else ())}
    if not codes:
        return
    errors = [*map(str, _errors(result.diagnostics, codes))]
    if strict_mode:
        untyped = (name for name, info in result.inputs.items() if info.kind == "tensor" and info.dtype is None)
        errors += [f"the element type of the input {name!r} is unknown" for name in untyped]
    if errors:
        raise InferenceError("\n".join(["Inference error(s):", *errors]))


def _errors(diagnostics: Iterable[Diagnostic], codes: Iterable[str]) -> Iterator[Diagnostic]:
    wanted = frozenset(codes)
    return (d for d in diagnostics if d.code in wanted and (d.severity == "error" or d.code == "S120"))


# -- models ------------------------------------------------------------------------------------------------------------


def _parse(data: bytes) -> onnx.ModelProto:
    try:
        return onnx.load_model_from_string(data)
    except Exception as error:  # protobuf's parsers have no common base
        raise ValueError(f"Unable to parse proto from the given bytes: {error}") from error


def _as_path(path: str | os.PathLike[str], name: str) -> str:
    try:
        text = os.fspath(path)
    except TypeError as error:
        kind = "path as a string or PathLike" if name == "model" else "output path as a string or PathLike"
        message = f"infer_shapes_path only accepts {kind}, incorrect {name} path type: {type(path)}"
        raise TypeError(message) from error
    return os.fsdecode(text)


def _save(result: Result, target: str) -> None:
    """Write a model as onnx does: references to weights in other files stay as they are."""
    source = result.source or target
    folders = [os.path.dirname(os.path.abspath(path)) for path in (source, target)]
    if not result.graph.external or is_same_file(*folders):
        result.save(target, annotate="all")
        return
    data = annotated_bytes(result.graph, annotation(result.engine.inference), WriteOptions(annotate="all"))
    try:
        with replace_file(target) as file:
            file.write(data)
    except OSError as error:
        raise ShapeInferenceError(f"{target}: cannot be written: {error.strerror or error}") from error


def _named(copy: onnx.TensorProto, tensor: onnx.TensorProto, name: str) -> None:
    copy.CopyFrom(tensor)
    copy.name = name


def _is_defined_by(schema: onnx.defs.OpSchema, version: int | None) -> bool:
    """Whether a schema is the one of its operator in this version of its domain."""
    if version is None or not onnx.defs.has(schema.name, schema.domain):
        return False
    try:
        defined = onnx.defs.get_schema(schema.name, version, schema.domain)
    except onnx.defs.SchemaError:
        return False
    return bool(defined.since_version == schema.since_version)


def _output_types(result: Result) -> Mapping[str, onnx.TypeProto]:
    """The types of the outputs of a graph whose element types are known.

    Unknowns have no names: calls for two nodes would return equal names for different sizes.
    """
    known = {name: info for name, info in result.outputs.items() if info.dtype is not None}
    return {name: onnx.TypeProto.FromString(encode_type(info)) for name, info in known.items()}


_ONNX_NODE_OUTPUTS: Any = onnx.shape_inference.infer_node_outputs
"""The function of onnx, also where `patched` has replaced it."""
