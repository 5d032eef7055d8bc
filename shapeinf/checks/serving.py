"""A serving config of Triton against the model that it serves."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from shapeinf.checks.checked_model import CheckedModel
from shapeinf.checks.numeric_runs import run_at_shapes
from shapeinf.diagnostics import Diagnostic, register_code
from shapeinf.errors import ModelError
from shapeinf.expr import Dimension, DimSize
from shapeinf.formats.files import read_regular
from shapeinf.formats.protobuf.text import Message, parse_text

C160 = register_code("C160", "error", "an unknown input or output in a serving config, or a missing input")
C161 = register_code("C161", "error", "a data type of a serving config differs from the model's")
C162 = register_code("C162", "error", "dims of a serving config differ from the model's")
C163 = register_code("C163", "error", "a batch size of a serving config with which the graph cannot run")

TRITON_DTYPES = {
    "TYPE_BOOL": "bool",
    "TYPE_STRING": "string",
    "TYPE_BF16": "bfloat16",
    **{f"TYPE_FP{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"TYPE_{sign}INT{bits}": f"{sign.lower()}int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)},
}
"""Our element types by Triton's names."""


@attrs.frozen
class Port:
    """An input or output of a config; its dims include the batch axis, None is a dynamic axis."""

    name: str
    dtype: str
    dims: tuple[int | None, ...]


@attrs.frozen
class ServingConfig:
    """The inputs and outputs of a `config.pbtxt`; a `max_batch_size` of 0 means that no batch axis is added."""

    max_batch_size: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]


def read_serving_config(path: str) -> ServingConfig:
    """Read a `config.pbtxt`. Raises OSError, and ModelError for a malformed one."""
    message = parse_text(read_regular(path).decode("utf-8", "replace"), path)
    batch = message.get("max_batch_size", [0])[-1]
    if not isinstance(batch, int) or batch < 0:
        raise ModelError("max_batch_size must be an integer of at least 0", node=path)
    ports = [tuple(_port(entry, batch, path) for entry in message.get(key, ())) for key in ("input", "output")]
    return ServingConfig(batch, *ports)


def _port(entry: Any, batch: int, path: str) -> Port:
    if not isinstance(entry, dict) or not isinstance(entry.get("name", [None])[-1], str):
        raise ModelError("an input or output has no name", node=path)
    message: Message = entry
    name = message["name"][-1]
    reshape = next((field for field in message.get("reshape", ()) if isinstance(field, dict)), None)
    dims = message.get("dims", []) if reshape is None else reshape.get("shape", [])
    if any(not isinstance(dim, int) or dim < -1 for dim in dims):
        raise ModelError(f"{name}: dims must be sizes or -1", node=path)
    sizes = tuple(None if dim == -1 else dim for dim in dims)
    return Port(name, str(message.get("data_type", [""])[-1]), (None, *sizes) if batch else sizes)


def check_serving(model: CheckedModel, config: ServingConfig) -> list[Diagnostic]:
    """All mismatches between a serving config and the model."""
    inputs, outputs = list(model.input_dims), model.graph.outputs
    config = _with_own_names(config, model.graph.aliases)
    diagnostics = [*_unknown_ports("input", config.inputs, inputs), *_unknown_ports("output", config.outputs, outputs)]
    served = {port.name for port in config.inputs}
    for name in inputs:
        if name not in served and name not in model.graph.constants:
            diagnostics.append(
                Diagnostic("error", C160, f"the config lacks the input {name} of the model", tensor=name)
            )
    for port in config.inputs:
        if port.name in inputs:
            diagnostics += _check_port(model, config, port, model.input_dims[port.name])
    if not diagnostics:  # the graph takes these inputs; a failure is reported before the wrong output that it causes
        diagnostics += _check_batches(model, config)
    for port in config.outputs:
        if port.name in outputs:
            diagnostics += _check_port(model, config, port, model.result.tensors[port.name].shape.dims)
    return diagnostics


def _with_own_names(config: ServingConfig, aliases: Mapping[str, str]) -> ServingConfig:
    """The config with the names of values in place of aliases, such as the arguments of a signature."""
    inputs, outputs = (
        tuple(attrs.evolve(port, name=aliases.get(port.name, port.name)) for port in ports)
        for ports in (config.inputs, config.outputs)
    )
    return attrs.evolve(config, inputs=inputs, outputs=outputs)


def _unknown_ports(kind: str, ports: tuple[Port, ...], names: list[str]) -> Iterator[Diagnostic]:
    for port in ports:
        if port.name not in names:
            near = ", ".join(difflib.get_close_matches(port.name, names, n=3, cutoff=0.5) or names)
            message = f"the config has an {kind} {port.name} that the model does not have"
            yield Diagnostic("error", C160, message, tensor=port.name, help=f"the model has: {near}")


def _check_port(
    model: CheckedModel, config: ServingConfig, port: Port, dims: Sequence[DimSize] | None
) -> Iterator[Diagnostic]:
    """The mismatches of one input or output with its type and dims in the model."""
    dtype = model.result.tensors[port.name].dtype
    if dtype is not None and TRITON_DTYPES.get(port.dtype) != dtype:
        message = f"{port.name} is {port.dtype or 'without a data type'} in the config, but {dtype} in the model"
        yield Diagnostic("error", C161, message, tensor=port.name)
    if dims is None:
        return
    if len(dims) != len(port.dims):
        batch = " (with the batch axis that max_batch_size adds)" if config.max_batch_size else ""
        message = f"{port.name} has {len(port.dims)} axes in the config{batch}, but {len(dims)} in the model"
        yield Diagnostic("error", C162, message, tensor=port.name)
        return
    for axis, (served, dim) in enumerate(zip(port.dims, dims, strict=True)):
        reason = _explain_axis(model, config, axis, served, dim)
        if reason:
            yield Diagnostic("error", C162, f"axis {axis} of {port.name} {reason}", tensor=port.name, axis=axis)


def _explain_axis(model: CheckedModel, config: ServingConfig, axis: int, served: int | None, dim: DimSize) -> str:
    """How an axis of the config differs from that of the model; empty where it does not."""
    if axis == 0 and config.max_batch_size and isinstance(dim, int):
        return f"is the batch of up to {config.max_batch_size} in the config, but always {dim} in the model"
    if served is None:
        return f"is dynamic in the config, but always {dim} in the model" if isinstance(dim, int) else ""
    if model.store.prove_eq(dim, served) is False:
        return f"is {served} in the config, but {dim} in the model"
    return ""


def _check_batches(model: CheckedModel, config: ServingConfig) -> Iterator[Diagnostic]:
    """The first failure of what-if runs at the smallest and the largest batch."""
    for batch in dict.fromkeys((1, config.max_batch_size)) if config.max_batch_size else ():
        shapes = {port.name: _shape_at_batch(model, port, batch) for port in config.inputs}
        for violation in run_at_shapes(model, shapes):
            yield attrs.evolve(violation, code=C163, message=f"at a batch of {batch}: {violation.message}")
            return


def _shape_at_batch(model: CheckedModel, port: Port, batch: int) -> list[Any]:
    """The spec of the shape of an input at a batch; a dynamic axis has its name in the model, or None."""
    dims = model.input_dims[port.name]
    named = [str(d) if isinstance(d, Dimension) and not d.is_anonymous else None for d in dims]
    return [batch if i == 0 else named[i] if size is None else size for i, size in enumerate(port.dims)]
